"""What a model is asked: what a node hands on, with the session in it as it is to be shown now.

A request in which the session is, up to the person's last words, is one of the talk: it has what
the person said meanwhile, and what the session has to tell, where each came in. Any other is a
node's own affair. In both no call is without its result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage

from lastword.core.shown import Shown
from lastword.engines.kit import Compaction, ShownHistory
from lastword.engines.kit.compaction import Summarise
from lastword.engines.kit.history import told
from lastword.engines.langgraph.history import after, human, is_ours, messages_of, whole
from lastword.runtime.framework import ForFrameworks
from lastword.runtime.run import Run


@dataclass
class _Joined:
    """What came in between, and behind what."""

    behind: str | None  # the id of a message
    place: int  # if it has none
    message: HumanMessage


@dataclass
class PreparedRequests:
    """The requests of one run."""

    run: Run
    compaction: Compaction | None = None
    given: list[AnyMessage] = field(init=False)  # to the graph
    _showing: ShownHistory | None = None
    _joined: list[_Joined] = field(default_factory=list[_Joined])
    _shown: tuple[str, Sequence[Shown], list[AnyMessage]] | None = None  # for whom, of what

    def __post_init__(self) -> None:
        self.given = messages_of(self.run.history)

    def is_talk(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether a request is one of the talk."""
        last = self.given[-1].id if self.given else None
        return any(message.id == last for message in messages)

    async def request(
        self,
        messages: Sequence[BaseMessage],
        whose: str,
        summarise: Callable[[], tuple[Summarise, int]],
    ) -> list[BaseMessage]:
        """One of the talk, for the model that is given `whose` natives back."""
        if self._showing is None:
            self._showing = ShownHistory(self.run, await self._history(summarise))
        mended = whole(messages, lambda: known(self.run))
        asked = self._with_what_joined(self._as_shown(mended, whose, self._showing.history))
        for one in await self._new():
            last = asked[-1] if asked else None
            self._joined.append(_Joined(last.id if last else None, len(asked), one))
            asked = after(asked, one)
        return asked

    def less(self, status: int) -> bool:
        """A request was declined with this; whether there is less to show now."""
        return self._showing is not None and self._showing.less(status)

    async def taken(self) -> None:
        """A request was answered."""
        if self._showing is not None:
            await self._showing.taken()

    async def _history(self, summarise: Callable[[], tuple[Summarise, int]]) -> Sequence[Shown]:
        if self.compaction is None:
            return self.run.history
        ask, beside = summarise()
        return await self.compaction.shortened(self.run, ask, beside=beside)

    def _as_shown(
        self, messages: Sequence[BaseMessage], whose: str, history: Sequence[Shown]
    ) -> list[BaseMessage]:
        if self._shown is None or self._shown[0] != whose or self._shown[1] is not history:
            self._shown = (whose, history, messages_of(history, whose))
        shown = self._shown[2]
        there = [message.id for message in messages if is_ours(message)]
        as_given = [message.id for message in self.given]
        if there != as_given and len(shown) == len(as_given):  # a node has left some out
            own = {message.id: message for message in shown}
            return [own.get(m.id, m) if is_ours(m) else m for m in messages]
        asked, placed = list[BaseMessage](), False
        for message in messages:
            if not is_ours(message):
                asked.append(message)
            elif not placed:
                asked += shown
                placed = True
        return asked

    def _with_what_joined(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        asked = list(messages)
        for one in self._joined:
            ids = [message.id for message in asked]
            there = one.behind is not None and one.behind in ids
            at = ids.index(one.behind) + 1 if there else min(one.place, len(asked))
            asked = [*after(asked[:at], one.message), *asked[at:]]
        return asked

    async def _new(self) -> list[HumanMessage]:
        """What the person said meanwhile, and what the session has to tell."""
        steering = await self.run.steering()
        new = [Shown("user", message.text, message=message) for message in steering]
        new += [Shown("note", note) for note in self.run.notes()]
        first = len(self._joined)
        return [human(told(one), f"joined-{first + n}") for n, one in enumerate(new)]


def known(run: ForFrameworks) -> dict[str, str]:
    """What became of the calls of earlier turns, by the ids that their providers gave."""
    results = {item.call: item.text for item in run.history if item.role == "result"}
    return {
        id_: results[item.call]
        for item in run.history
        if item.role == "call" and item.native and item.call in results
        if (id_ := json.loads(item.native.data).get("call_id"))
    }
