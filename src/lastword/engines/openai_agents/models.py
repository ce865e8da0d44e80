"""Which model is asked: as it is counted and traced, and whose words are given back to it."""

from __future__ import annotations

from agents import OpenAIChatCompletionsModel, OpenAIResponsesModel

from lastword.engines.kit.chat import CHAT
from lastword.engines.kit.responses import RESPONSES
from lastword.runtime.checks import encodable

_UNNAMED = "unnamed"


def name_of(model: object) -> str:
    """As it calls itself."""
    name = getattr(model, "model", None)
    return encodable(str(name or _UNNAMED))


def provider_of(model: object) -> str:
    """By whose client it is asked."""
    by_openai = isinstance(model, OpenAIResponsesModel | OpenAIChatCompletionsModel)
    return "openai" if by_openai else encodable(type(model).__name__)


def whose_of(model: object) -> str:
    """Whose natives are given back to it: the same provider's, at the same address."""
    client = getattr(model, "_client", None)
    address = getattr(client, "base_url", "")
    match model:
        case OpenAIResponsesModel():
            return f"{RESPONSES} {address}"
        case OpenAIChatCompletionsModel():
            return f"{CHAT} {address}"
        case _:
            return f"{type(model).__module__} {name_of(model)}"
