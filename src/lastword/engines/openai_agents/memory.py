"""The SDK's `Session` over a run, for who calls the runner in a function of their own.

The log is the memory. What the model is shown comes from there, and what the runner would add is in
it already, as it happened. A run that has lost its session is given nothing and adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from agents.items import TResponseInputItem
from agents.memory import SessionSettings

from lastword.core.shown import Shown
from lastword.engines.kit.responses import responses
from lastword.engines.openai_agents.driving import Driven
from lastword.runtime.run import Run


class RunSession:
    """`Runner.run(agent, run.message.text, session=RunSession(run))` in an engine of one's own.

    The calls of that run of the runner are the session's own. Its text is for the engine to emit.
    """

    session_settings: SessionSettings | None = None

    def __init__(self, run: Run) -> None:
        self.run = run
        self.session_id = str(run.session)
        self._driven: list[Driven] = []

    def driven(self) -> Driven:
        """A run of the runner begins that speaks for the session."""
        self._driven.append(Driven(self.run))
        return self._driven[-1]

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """What the session's model is shown, without what this run is to answer."""
        self.run.must_hold("this memory")
        items = responses(_earlier(self.run.history, self.run))
        if limit is not None:
            items = items[max(len(items) - limit, 0) :]
            while items and items[0].get("role") != "user":  # no result without its call
                items = items[1:]
        return cast("list[TResponseInputItem]", items)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Nothing is added: what was said and done is in the log."""
        self.run.must_hold("this memory")
        for own in self._driven:
            own.settle(items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Nothing is taken back: what was said was said."""
        self.run.must_hold("this memory")
        return None

    async def clear_session(self) -> None:
        """A session is forgotten as a whole, by its runtime."""
        raise NotImplementedError("runtime.delete(session) forgets a session; a run cannot")


def _earlier(history: Sequence[Shown], run: Run) -> list[Shown]:
    answered = {message.id for message in run.messages}
    return [item for item in history if not (item.message and item.message.id in answered)]
