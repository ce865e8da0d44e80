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

from lastword.errors import EngineFailed

GARBLED = (AttributeError, TypeError, LookupError, ValueError)  # what reading a non-answer raises
_NOTHING = "the model answered nothing"
BROKE_OFF = "the answer broke off: the provider did not say that it was all"
UNSENDABLE = "no request can be made of what there is to show the model"
NO_ANSWER = "the provider sent something that is not an answer"
_WHY = {
    400: "did not take the request",
    401: "refused the key",
    403: "does not allow this key to do that",
    404: "does not know this model, or there is nothing at this address",
    429: "is asked too often, or the account has run out",
}
_TELL = ("openai", "anthropic")  # of whom it is known that they say when an answer is all
_LONGEST = 300  # letters of what a provider says
_ASKED_BADLY = re.compile(r"Tool '(?P<tool>.*)' exceeded max retries count of (?P<times>\d+)")
_UNREACHABLE = getattr(exceptions, "ModelConnectionError", ModelAPIError)  # older ones have no such


class ModelFailed(EngineFailed):
    """The model could not be asked, or did not answer. What was said so far is kept."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


def in_words(error: AgentRunError, *, said: bool = False) -> ModelFailed:
    """The same error, said so that somebody can do something about it.

    `said` is whether the person was told a part of this answer already.
    """
    match error:
        case ContentFilterError():
            line = f"the model declined: {_refusal(error)}"
        case UnexpectedModelBehavior():
            line = _misbehaved(error, said=said)
        case ModelAPIError():
            line = f"the answer broke off: {_failed(error)}" if said else _failed(error)
        case _:
            line = error.message
    return ModelFailed(" ".join(line.split()), _kind(error))


def broke_off(response: ModelResponse) -> bool:
    """Whether a streamed answer ended without its provider saying that it does.

    The framework takes a missing reason to finish for a plain stop, where OpenAI's chat is spoken;
    what the provider itself said is in the details. Others may say nothing of the kind.
    """
    details = response.provider_details or {}
    if response.provider_name not in _TELL or "finish_reason" in details:
        return False
    return response.state == "incomplete" or response.finish_reason in (None, "stop")


def _kind(error: AgentRunError) -> str:
    """What the model of a later turn is told: nothing that a provider or a model said."""
    match error:
        case ContentFilterError():
            return "the model or its provider declined"
        case UnexpectedModelBehavior():
            return "the model's answer could not be used"
        case ModelHTTPError(status_code=status):
            return f"the provider {_why(status)} (HTTP {status})"
        case ModelAPIError():
            return "the provider failed, or could not be reached"
        case _:
            return type(error).__name__


def _why(status: int) -> str:
    return _WHY.get(status, "is in trouble itself" if status >= 500 else "refused")


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
    return f"the model's answer cannot be used: {error.message[:_LONGEST]}"


def _refusal(error: ContentFilterError) -> str:
    """What the model said, or its provider; it is in the answer that came with the error."""
    try:
        details = json.loads(error.body or "[]")[-1]["provider_details"]
        return str(details["refusal"])[:_LONGEST]
    except (LookupError, TypeError, ValueError):
        return "its provider's filter stopped the answer"


def _failed(error: ModelAPIError) -> str:
    if isinstance(error, ModelHTTPError):
        status = error.status_code
        return f"{error.model_name}: the provider {_why(status)} (HTTP {status}){_said(error)}"
    if "decode" in error.message:
        return f"{error.model_name}: {NO_ANSWER}"
    why = "cannot be reached" if isinstance(error, _UNREACHABLE) else "failed"
    return f"{error.model_name}: the provider {why} ({error.message[:_LONGEST]})"


def _said(error: ModelHTTPError) -> str:
    body = error.body
    while isinstance(body, dict) and "error" in body:
        body = body["error"]  # pyright: ignore[reportUnknownVariableType] - as it comes from outside
    text = body.get("message") if isinstance(body, dict) else body  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return f": {text[:_LONGEST]}" if isinstance(text, str) and text else ""
