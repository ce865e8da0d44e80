"""A scripted language model over real HTTP, in the three formats that providers speak."""

from lastword.testing.provider.request import Request
from lastword.testing.provider.script import Answer, Call, Failure, Say, Silence, Think
from lastword.testing.provider.server import Provider
from lastword.testing.provider.strict import Format, Refused, check, refusal

__all__ = [
    "Answer",
    "Call",
    "Failure",
    "Format",
    "Provider",
    "Refused",
    "Request",
    "Say",
    "Silence",
    "Think",
    "check",
    "refusal",
]
