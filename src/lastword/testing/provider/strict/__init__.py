"""The strict judge: what a provider that holds to every rule would say to a request.

The rules are the published ones, and those that are only met as an error 400. Whoever builds a
history that passes here can give it to the real ones. What is only advice is taken.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from lastword.testing.provider.strict import anthropic, chat, gemini, openai, responses
from lastword.testing.provider.strict.offence import Offence, Refused, Rule, Severity

Format: TypeAlias = Literal["chat", "responses", "anthropic", "gemini"]

MALFORMED = Rule("request.malformed", "API references: what a request must have")
NO_MODEL = Rule("request.no_model", "API references, model")
HALF_CHARACTER = Rule("request.half_character", "met: not valid JSON, no low surrogate in string")

_ANY = (MALFORMED, NO_MODEL, HALF_CHARACTER)
_ALL = _ANY + openai.RULES + chat.RULES + responses.RULES + anthropic.RULES + gemini.RULES
RULES: dict[str, Rule] = {rule.code: rule for rule in _ALL}

_JUDGES: dict[Format, Callable[[Mapping[str, Any]], Iterator[Offence]]] = {
    "chat": chat.judged,
    "responses": responses.judged,
    "anthropic": anthropic.judged,
    "gemini": gemini.judged,
}
_SCHEMA_ERRORS = (AttributeError, IndexError, KeyError, TypeError, ValueError)


def judge(format: Format, body: Mapping[str, Any]) -> list[Offence]:
    """Every rule that this request breaks."""
    offences: list[Offence] = []
    try:
        offences += _whole(format, body)
        named = format == "gemini" or (isinstance(body.get("model"), str) and body["model"])
        if not named:  # Gemini's is in the path
            offences.append(NO_MODEL.broken("model is required", "model"))
        else:
            offences.extend(_JUDGES[format](body))
    except _SCHEMA_ERRORS as error:
        offences.append(MALFORMED.broken(f"the request is malformed: {error!r}"))
    return offences


def refusal(format: Format, body: Mapping[str, Any]) -> str | None:
    """Why a strict provider refuses this request; None if it does not."""
    refused = first_refused(judge(format, body))
    return refused.message if refused else None


def check(format: Format, body: Mapping[str, Any]) -> None:
    """Raise `Refused` if a strict provider would refuse this request."""
    if refused := first_refused(judge(format, body)):
        raise Refused(refused)


def first_refused(offences: Iterable[Offence]) -> Offence | None:
    """A provider names one thing at a time."""
    return next((one for one in offences if one.severity == "refused"), None)


def _whole(format: Format, body: Mapping[str, Any]) -> Iterator[Offence]:
    """What is wrong with the request as a text, whatever it says."""
    try:
        size = len(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode())
    except UnicodeEncodeError as error:
        why = f"The request body is not valid JSON: no low surrogate in string: char {error.start}"
        yield HALF_CHARACTER.broken(why)
        return
    if format == "anthropic":
        yield from anthropic.sized(size)


__all__ = [
    "RULES",
    "Format",
    "Offence",
    "Refused",
    "Rule",
    "Severity",
    "check",
    "first_refused",
    "judge",
    "refusal",
]
