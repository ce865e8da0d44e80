"""What the model is shown, in the framework's words.

They are those of responses, whichever model is asked. A model that speaks chat completions has them
converted by the framework, item by item; what stands on the person's side is one message for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any, cast

from agents import OpenAIResponsesModel
from agents.items import TResponseInputItem

from lastword.core.shown import Shown
from lastword.engines.kit.history import Item
from lastword.engines.kit.responses import responses
from lastword.engines.openai_agents.models import whose_of


def as_input(history: Iterable[Shown], model: object) -> list[TResponseInputItem]:
    """The whole of it, for this model."""
    items = responses(history, whose=whose_of(model))
    if not isinstance(model, OpenAIResponsesModel):
        items = _joined(items)
    return cast("list[TResponseInputItem]", items)


def _joined(items: Iterable[Item]) -> list[Item]:
    """Messages of the person's side that stand in a row are one."""
    joined: list[Item] = []
    for of_a_person, several in groupby(items, lambda item: item.get("role") == "user"):
        row = list(several)
        if not of_a_person or len(row) == 1:
            joined += row
        elif all(isinstance(item["content"], str) for item in row):
            joined.append({**row[0], "content": "\n\n".join(item["content"] for item in row)})
        else:
            parts = [part for item in row for part in _parts(item["content"])]
            joined.append({**row[0], "content": parts})
    return joined


def _parts(content: Any) -> list[Item]:  # noqa: ANN401 - a text, or parts
    return [{"type": "input_text", "text": content}] if isinstance(content, str) else content
