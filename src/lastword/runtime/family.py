"""Child runs' sessions: made under a run that is going, forgotten when they have ended."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from lastword.core.model import Outcome, SessionId
from lastword.errors import LastwordError, TooDeep
from lastword.runtime.active_run import ActiveRun
from lastword.runtime.asking import running
from lastword.runtime.children import Child, ChildRun
from lastword.runtime.conversation import Conversation
from lastword.runtime.journal import ask
from lastword.runtime.offspring import Descendant
from lastword.runtime.protocol import Sent
from lastword.runtime.run import Engine
from lastword.runtime.runs import Kin
from lastword.runtime.seat import Seat
from lastword.runtime.session import Session
from lastword.runtime.sessions import Sessions
from lastword.runtime.shared import Shared
from lastword.runtime.tasks import Tasks, unless_closed

log = logging.getLogger("lastword")
_DEEPEST = 16  # levels of child runs


class Family:
    """The children of a runtime's runs."""

    _sessions: Sessions

    def __init__(self, shared: Callable[[], Shared]) -> None:
        self._shared = shared
        self._tasks = Tasks()  # each sees one of them off

    def live_among(self, sessions: Sessions) -> None:
        """Where they are found, and their parents."""
        self._sessions = sessions

    def leave(self) -> None:
        """The runtime ends: what they said is told nobody any more."""
        self._tasks.cancel()

    async def start(
        self, parent: SessionId, going: ActiveRun, text: str, engine: Engine | None, keep: bool
    ) -> Child:
        """A run under the one that is going in that session."""
        name = await self._new_name(going)
        session = self._born(name, parent, going, engine, keep=keep)
        work, ancestors = session.work, session.kin.ancestors
        [ticket] = work.messages.accept((Sent(text, None, parent, "person", ()),), None)
        self._sessions.put(session)
        descendant = Descendant(session.id, work, session.tell, self._shared().store)
        child = ChildRun(descendant, ticket, kept=keep)
        going.children.append(child)  # in the same step: a stop from here on finds it
        for one in (above := self._above(ancestors)):
            one.below += 1
        root = self._sessions.find(ancestors[0])
        self._tasks.start(self._see_off(session, child, root, above), name=f"child {session.id}")
        if not going.hold.current:  # a stop from another thread was quicker
            descendant.end_with_parent()
            going.hold.must_hold("start of a child run")
        if storing := work.messages.storing(ticket):
            await unless_closed(storing)
        return Child(child)

    async def _new_name(self, going: ActiveRun) -> SessionId:
        """A name for a child's session that nobody's has, here or in the store."""
        store = self._shared().store
        while True:
            name = going.next_child()
            if not await ask(store.overview(name)) and not self._sessions.find(name):
                return name

    def _born(
        self,
        name: SessionId,
        parent: SessionId,
        going: ActiveRun,
        engine: Engine | None,
        *,
        keep: bool,
    ) -> Conversation:
        sessions, shared = self._sessions, self._shared()
        ancestors = (*sessions.of(parent).kin.ancestors, parent)
        if len(ancestors) > _DEEPEST:  # a stop goes down level by level
            raise TooDeep(f"{parent} is {_DEEPEST} levels deep, so it can have no child of its own")
        root = sessions.find(ancestors[0])
        asks = root.seat.asks if root else None
        seat = Seat(name, shared, above=None if keep else going.hold, asks=asks)
        above = Kin(ancestors, None if keep else going, root.seat if root else None, engine)
        return Conversation(seat, shared, self._shared, begins=lambda _: True, kin=above, new=True)

    def _above(self, ancestors: Iterable[SessionId]) -> list[Conversation]:
        found = map(self._sessions.find, ancestors)
        return [session for session in found if session]

    async def _see_off(
        self,
        session: Conversation,
        child: ChildRun,
        root: Conversation | None,
        above: Iterable[Conversation],
    ) -> None:
        """When a child has ended, forget it; bring a kept one's result to the person's session."""
        running.set(None)  # whatever became of the run that started it
        try:
            with session.held():  # it has no other work than what it began with
                outcome = await child.outcome()
                await child.gone()
                text = await child.text()
                if root and child.kept and outcome in {Outcome.COMPLETED, Outcome.FAILED}:
                    told = text if outcome is Outcome.COMPLETED else f"{session.id} failed. {text}"
                    home = Session(root)  # that one: not another made under its name since
                    await home.send(told, by=session.id, origin="child", on_message="queue")
        except LastwordError as error:
            if not self._sessions.closed and not session.closed:
                why = type(error).__name__  # its text may quote what was said
                log.warning("a child's result was not told session=%s error=%s", session.id, why)
        finally:
            for one in above:
                one.below -= 1
            if session.idle and self._sessions.find(session.id) is session:
                self._sessions.forget(session)
                session.closed = True
                session.close()
