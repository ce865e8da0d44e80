"""A scripted language model over real HTTP, in the formats that providers speak."""

from lastword.testing.provider.request import Request
from lastword.testing.provider.script import Answer, Call, Failure, Say, Silence, Think
from lastword.testing.provider.scripted import Conversation
from lastword.testing.provider.server import Provider
from lastword.testing.provider.strict import (
    RULES,
    Format,
    Offence,
    Refused,
    Rule,
    check,
    judge,
    refusal,
)

__all__ = [
    "RULES",
    "Answer",
    "Call",
    "Conversation",
    "Failure",
    "Format",
    "Offence",
    "Provider",
    "Refused",
    "Request",
    "Rule",
    "Say",
    "Silence",
    "Think",
    "check",
    "judge",
    "refusal",
]
