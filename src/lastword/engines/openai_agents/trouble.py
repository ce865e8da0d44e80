"""What went wrong with a model, its provider or the framework, in one line that a person reads."""

from __future__ import annotations

from agents import exceptions
from openai import APIError

from lastword.engines.kit.loop import Declining
from lastword.engines.kit.sdk import broken, declining
from lastword.engines.kit.trouble import (
    BROKE_OFF,
    NO_ANSWER,
    ModelFailed,
    no_answer,
    quoted,
    unreached,
)
from lastword.engines.openai_agents.driving import Driven

_GARBLED = (AttributeError, TypeError, LookupError, ValueError)  # what reading a non-answer raises
_UNFINISHED = (
    "finish_reason",
    "final response",
)  # what the framework says of an answer without an end
_TRIPPED = "the guardrail {} stopped the answer"
_GUARDED = "a guardrail stopped the answer"
_CUT = {
    "max_output_tokens": "the answer was cut off at the model's limit of tokens",
    "content_filter": "its provider's filter stopped the answer",
}


def in_words(error: Exception, driven: Driven, model: str) -> Declining | ModelFailed | None:
    """The same, said so that somebody can do something about it; None if it says so itself."""
    said = driven.heard is not None and driven.heard.said
    if driven.heard is not None and driven.heard.failure is not None:
        code, message = driven.heard.failure
        cut = _CUT.get(code)
        return ModelFailed(cut, cut) if cut else broken(code, message, model=model, said=said)
    if isinstance(error, APIError):
        return declining(error, model=model, said=said)
    if error is driven.trouble and (told := _unread(error, model, said=said)):
        return told
    return _of_agents(error, said=said)


def _unread(error: Exception, model: str, *, said: bool) -> ModelFailed | None:
    """What went wrong while the answer was read, if the framework has no word for it."""
    if type(error).__module__.startswith("httpx"):
        return unreached(str(error), model=model, begun=said, failed=said)
    if isinstance(error, _GARBLED):
        return no_answer(type(error).__name__, model=model, begun=said)
    return None


def _of_agents(error: Exception, *, said: bool) -> ModelFailed | None:
    line, kind = None, ""
    match error:
        case exceptions.MaxTurnsExceeded():
            line, kind = f"the agent did not come to an end: {error}", "too many turns"
        case exceptions.ModelBehaviorError() if any(one in str(error) for one in _UNFINISHED):
            line = kind = BROKE_OFF if said else NO_ANSWER
        case exceptions.ModelBehaviorError():
            line = f"the model's answer cannot be used: {quoted(str(error))}"
            kind = "the model's answer could not be used"
        case exceptions.ModelRefusalError():
            line, kind = f"the model declined: {quoted(error.refusal)}", "the model declined"
        case exceptions.ModelTimeoutError():
            line, kind = f"{NO_ANSWER} (none in {error.timeout_seconds:g} s)", NO_ANSWER
        case exceptions.InputGuardrailTripwireTriggered() | (
            exceptions.OutputGuardrailTripwireTriggered()
        ):
            line, kind = _TRIPPED.format(error.guardrail_result.guardrail.get_name()), _GUARDED
        case exceptions.ToolInputGuardrailTripwireTriggered() | (
            exceptions.ToolOutputGuardrailTripwireTriggered()
        ):
            line, kind = _TRIPPED.format(error.guardrail.get_name()), _GUARDED
        case _:
            pass
    return ModelFailed(line, kind) if line else None
