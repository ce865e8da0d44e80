"""What joins a run goes into its next request, and into all that follow, where it came.

The framework does not keep what its input filter adds, so it is put there again for each request,
behind what it came after. A handoff may have filtered that away: then it is the newest.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData

from lastword.core.shown import Shown, as_object
from lastword.engines.kit.history import Item
from lastword.engines.kit.responses import responses
from lastword.engines.kit.wire import safely, wire_name
from lastword.engines.openai_agents.driving import Driven, driven_here
from lastword.engines.openai_agents.items import field_of


class _Joined(NamedTuple):
    after: Any  # the item behind which it came
    items: list[Item]


class Steering:
    """The input filter of one run; `own` is the team's."""

    def __init__(self, driven: Driven, own: CallModelInputFilter | None) -> None:
        self._driven = driven
        self._own = own
        self._joined: list[_Joined] = []

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        if driven_here() is self._driven:  # a nested agent is given the same settings
            self._driven.agent = data.agent.name
            self._driven.settle(data.model_data.input)
            data.model_data.input = await self._with_all(data.model_data.input)
        if self._own is None:
            return data.model_data
        filtered = self._own(data)
        return await filtered if inspect.isawaitable(filtered) else filtered

    async def _with_all(self, given: Sequence[Any]) -> list[Any]:
        """What the framework has to show, as providers take it, and what has joined it."""
        run = self._driven.run
        told = [Shown("user", one.text, message=one) for one in await run.steering()]
        told += [Shown("note", note) for note in run.notes()]
        if told:
            after = sendable(given[-1]) if given else None
            self._joined.append(_Joined(after, responses(told)))
        items = list(map(sendable, given))
        for joined in reversed(self._joined):
            at = _behind(joined.after, items)
            items[at:at] = joined.items
        return items


def sendable(item: Any) -> Any:  # noqa: ANN401 - the framework's
    """The same, if it can be sent: a call as providers take one, a tool's text as letters."""
    given = safely(item)
    if field_of(given, "type") != "function_call":
        return given
    put = {"name": wire_name(given["name"]), "arguments": as_object(given["arguments"])}
    return given if all(given[name] == value for name, value in put.items()) else {**given, **put}


def _behind(after: object, items: Sequence[Any]) -> int:
    for at in range(len(items), 0, -1):
        if items[at - 1] == after:
            return at
    return len(items)
