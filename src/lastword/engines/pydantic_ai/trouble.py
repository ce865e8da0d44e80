"""What went wrong with a model or its provider, in one line that a person understands."""

from __future__ import annotations

import json
import re

from pydantic_ai import exceptions
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    IncompleteToolCall,
    ModelAPIError,
    ModelHTTPError,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import ModelResponse

from lastword.engines.kit.trouble import (
    NO_ANSWER,
    ModelFailed,
    error_in,
    no_answer,
    of_http,
    quoted,
    unreached,
)

GARBLED = (AttributeError, TypeError, LookupError, ValueError)  # what reading a non-answer raises
_NOTHING = "the model answered nothing"
_TELL = ("openai", "anthropic")  # of whom it is known that they say when an answer is all
_ASKED_BADLY = re.compile(r"Tool '(?P<tool>.*)' exceeded max retries count of (?P<times>\d+)")
_UNREACHABLE = getattr(exceptions, "ModelConnectionError", ModelAPIError)  # older ones have no such


def in_words(error: AgentRunError, *, said: bool = False) -> ModelFailed:
    """The same error, said so that somebody can do something about it.

    `said` is whether the person was told a part of this answer already.
    """
    match error:
        case ContentFilterError():
            line = f"the model declined: {_refusal(error)}"
            return ModelFailed(line, "the model or its provider declined")
        case UnexpectedModelBehavior():
            line = _misbehaved(error, said=said)
            return ModelFailed(line, "the model's answer could not be used")
        case ModelAPIError():
            return _failed(error, said=said)
        case _:
            return ModelFailed(error.message, type(error).__name__)


def broke_off(response: ModelResponse) -> bool:
    """Whether a streamed answer ended without its provider saying that it does.

    The framework takes a missing reason to finish for a plain stop, where OpenAI's chat is spoken;
    what the provider itself said is in the details. Others may say nothing of the kind.
    """
    details = response.provider_details or {}
    if response.provider_name not in _TELL or "finish_reason" in details:
        return False
    return response.state == "incomplete" or response.finish_reason in (None, "stop")


def _misbehaved(error: UnexpectedModelBehavior, *, said: bool) -> str:
    if asked := _ASKED_BADLY.search(error.message):
        times = int(asked["times"]) + 1
        return (
            f"the model asked {times} times in a row for the tool {asked['tool']} in a way that "
            "cannot be read"
        )
    if isinstance(error, IncompleteToolCall):
        return "the model reached its limit of tokens in the middle of a tool call"
    if "token limit" in error.message:
        return "the model reached its limit of tokens before it said anything"
    if "output retries" in error.message:
        return "the model's answers were not of the form asked for" if said else _NOTHING
    if "ended without content" in error.message or "Invalid response" in error.message:
        return NO_ANSWER
    return f"the model's answer cannot be used: {quoted(error.message)}"


def _refusal(error: ContentFilterError) -> str:
    """What the model said, or its provider; it is in the answer that came with the error."""
    try:
        details = json.loads(error.body or "[]")[-1]["provider_details"]
        return quoted(str(details["refusal"]))
    except (LookupError, TypeError, ValueError):
        return "its provider's filter stopped the answer"


def _failed(error: ModelAPIError, *, said: bool) -> ModelFailed:
    model = error.model_name
    if isinstance(error, ModelHTTPError):
        words = error_in(error.body).get("message")
        told = words if isinstance(words, str) else ""
        return of_http(error.status_code, told, model=model, begun=said)
    if "decode" in error.message:
        return no_answer(model=model, begun=said)
    reached = not isinstance(error, _UNREACHABLE)
    return unreached(error.message, model=model, begun=said, failed=reached)
