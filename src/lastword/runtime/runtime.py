"""The object a program opens: one engine, many sessions, one store.

What is wrong with a setting is said when it is made, and not when it is first used. What it opened
it closes: every run is ended, and waited for, before `async with` returns.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Collection
from contextlib import nullcontext, suppress
from typing import Literal, Self

from lastword.core.cell import StoredCell
from lastword.core.events import StopAsked
from lastword.core.model import DEFAULTS, Policy, QueueOnStop, Reason, SessionId
from lastword.core.receipt import Receipt
from lastword.core.shown import Partial
from lastword.errors import Named, RuntimeClosed, StoreError, Superseded, UnknownSession
from lastword.processes import Level, Processes
from lastword.processes.levels import AUTO
from lastword.runtime.active_run import Hears
from lastword.runtime.asking import Asker, act, may_act, running
from lastword.runtime.checks import (
    must_be_callables,
    must_be_here,
    must_be_name,
)
from lastword.runtime.clock import Clock, time_of_day
from lastword.runtime.conversation import Conversation
from lastword.runtime.counters import Counters
from lastword.runtime.family import Family
from lastword.runtime.journal import ask
from lastword.runtime.ledger import BeforeTool
from lastword.runtime.opening import close_engine, open_engine
from lastword.runtime.owned import end_all
from lastword.runtime.reopening import Reopening
from lastword.runtime.run import Engine, Sink
from lastword.runtime.session import Session
from lastword.runtime.sessions import Sessions
from lastword.runtime.settings import (
    USUAL,
    OnRestart,
    listener_of,
    must_not_be_loading,
    processes_of,
    runtime_settings_of,
    settings_of,
    store_of,
)
from lastword.runtime.shared import Shared
from lastword.runtime.stop import of_all
from lastword.runtime.tasks import Tasks, unless_closed
from lastword.runtime.tenure import opened
from lastword.runtime.threads import DaemonThreads
from lastword.runtime.tracing import Tracer, Tracing, must_be_tracer
from lastword.runtime.watchdog import Watchdog
from lastword.stores.contract import EVERY, Overview, Place, SessionFilter, Store, StoreSize

log = logging.getLogger("lastword")
_DELETION = "this deletion"
_WATCH = 2.0  # seconds between looks at what is still ours


class Runtime:
    """Runs one engine for many sessions. Open it with `async with`."""

    _opened_in: Asker | None = None  # a run, which may close what it opened

    def __init__(  # noqa: PLR0913 - each is a setting of its own, with a default
        self,
        engine: Engine,
        *,
        store: Store | str = "memory:",
        lease: float | None = None,
        sink: Sink | None = None,
        pace: float = 0.0,
        hears: Hears = "words",
        on_message: Policy = DEFAULTS.on_message,
        queue_on_stop: QueueOnStop = DEFAULTS.queue_on_stop,
        queue_limit: int = DEFAULTS.queue_limit,
        stoppers: Collection[str] | None = None,
        partial: Partial = USUAL.partial,
        before_tool: BeforeTool | None = None,
        on_restart: OnRestart = USUAL.on_restart,
        grace: float | None = None,
        deadline: float | None = None,
        level: Level | Literal["auto"] = AUTO,
        processes: Processes | None = None,
        stall_after: float | None = USUAL.stall_after,
        feed_limit: int = USUAL.feed_limit,
        rest: float = USUAL.rest,
        clock: Clock = time_of_day,
        tracer: Tracer | None = None,
    ) -> None:
        if engine is None:  # callers may be untyped
            raise TypeError("a runtime needs an engine: an async function that takes a Run")
        must_be_callables(engine=engine, sink=sink, before_tool=before_tool, clock=clock)
        must_be_tracer(tracer)
        self.settings = settings_of(on_message, queue_on_stop, queue_limit, stoppers)
        self._told = runtime_settings_of(
            partial=partial,
            on_restart=on_restart,
            grace=grace,
            deadline=deadline,
            stall_after=stall_after,
            feed_limit=feed_limit,
            rest=rest,
        )
        self.processes = processes_of(level, processes)
        self._engine = engine
        self._sink = listener_of(sink, pace, hears)
        self._store = store_of(store, lease)
        self._before_tool = before_tool
        self._clock = clock
        self._shared: Shared | None = None
        self.counters = Counters(clock())  # what happened in it, counted
        self.tracing = None if tracer is None else Tracing(tracer)  # and told to it
        self._closed = False
        self._sessions: Sessions | None = None
        self._family = Family(self._open)
        self._tasks = Tasks()  # what the runtime does for whoever asked, and goes on if they leave
        self._watching = Tasks()
        self._reopening = Reopening(self._recover_one)
        self._closing: asyncio.Task[None] | None = None
        self._deleting: dict[SessionId, asyncio.Task[Receipt]] = {}

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open" if self._shared else "not open yet"
        return f"<Runtime {state} sessions={len(self._at_work)}>"

    async def __aenter__(self) -> Self:
        if self._shared or self._closed:
            raise RuntimeClosed("a runtime is opened once; make another one")
        self._opened_in = may_act("opening of this runtime")
        must_not_be_loading()
        loop = asyncio.get_running_loop()
        self.processes.belong_here()
        stall = self._told.stall_after
        self._shared = shared = Shared(
            engine=self._engine,
            sink=self._sink,
            store=self._store,
            loop=loop,
            thread=threading.get_ident(),
            settings=self.settings,
            clock=self._clock,
            counters=self.counters,
            tracing=self.tracing,
            threads=DaemonThreads(),
            processes=self.processes,
            watchdog=None if stall is None else Watchdog(loop, stall_after=stall),
            before_tool=self._before_tool,
            start_child=self._family.start,
            told=self._told,
        )
        self._sessions = Sessions(shared, self._told.rest, self._open)
        self._family.live_among(self._sessions)
        try:
            await opened(self._store, self.processes, shared, self._sessions)
            open_engine(self._engine, self.processes)
            self._reopening.found(await ask(self._store.unfinished()))
            await self._reopening.some()
        except BaseException:
            await self._let_go(self._shared)
            raise
        self._watching.start(self._keep_watch(), name="watch")
        return self

    async def _keep_watch(self) -> None:
        """Settle what is left; notice what another process has taken though nothing is written."""
        await self._reopening.all()
        while self._store.shared or not self._reopening.over:
            await asyncio.sleep(_WATCH)
            ours = {s.id: s for s in self._at_work if not s.idle or s.seat.kept}
            with suppress(StoreError):
                for id_ in await ask(self._store.lost(ours)) if ours else ():
                    ours[id_].lose()
                # who only reads a session here, or watches it, keeps nobody from settling it
                here = {session.id for session in self._at_work if session.seat.inbox.known}
                self._reopening.found(set(await ask(self._store.unfinished())) - here)
            self._reopening.try_again()
            await self._reopening.all()

    async def _recover_one(self, id: SessionId) -> None:
        session = self._conversation(id)
        await session.loaded()
        if session.over:  # a child's run went with its parent's
            self._known().forget(session)

    async def _let_go(self, shared: Shared) -> None:
        """It could not be opened: nothing is to be ended, and what was found still waits."""
        self._closed = True
        for session in self._at_work:
            session.close()
            session.work.abandon()
        self._end_sessions()
        if shared.watchdog:
            shared.watchdog.close()
        await self.processes.close(self._told.grace)
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(self._told.deadline):
                await ask(self._store.close())

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def session(self, id: str) -> Session:
        """The session of that name; it begins with its first message."""
        return Session(self._conversation(id))

    def _conversation(self, id: str) -> Conversation:
        if not isinstance(id, str) or not id:  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            raise ValueError(f"a session's id must be a str that is not empty; it is {id!r}")
        must_be_name(id, "a session's id")
        return self._known().of(SessionId(id))

    def _known(self) -> Sessions:
        self._open()
        if self._sessions is None:
            raise RuntimeClosed("this runtime is not open yet: use it inside `async with`")
        return self._sessions

    @property
    def _at_work(self) -> tuple[Conversation, ...]:
        return self._sessions.at_work if self._sessions else ()

    async def stop_all(self) -> dict[str, Receipt]:
        """Stop every session at once; the receipts of those in which something was stopped."""
        self._must_be_here()
        return await self._stop_all(Reason.STOPPED)

    async def _stop_all(self, reason: Reason) -> dict[str, Receipt]:
        unread = self._unread() if reason is Reason.STOPPED else ()
        every = (*self._at_work, *unread)
        fenced = [session.fence(StopAsked(reason), only_here=True) for session in every]
        answers = [answer() for answer in fenced]  # all are fenced before anything is carried out
        receipts = [await answer for answer in answers]
        return {receipt.session: receipt for receipt in receipts if receipt or not receipt.quiet}

    def _unread(self) -> list[Conversation]:
        """Those in which something may go on that an earlier process left."""
        left = [self._conversation(id_) for id_ in self._reopening.left]
        every = dict.fromkeys((*left, *self._known().unread))
        return [session for session in every if not session.closed and not session.at_work]

    async def hand_over(self) -> None:
        """Let others have what nothing goes on in, without waiting until it has rested."""
        await self._known().hand_over_all()

    @property
    def at_hand(self) -> tuple[Session, ...]:
        """The sessions in memory."""
        return tuple(map(Session, self._at_work))

    async def sessions(self) -> tuple[str, ...]:
        """The sessions that the store knows."""
        return await ask(self._store.sessions())

    async def store_size(self) -> StoreSize:
        """How much the store holds."""
        self._open()
        return await ask(self._store.size())

    @property
    def store_trouble(self) -> StoreError | None:
        """Why the store takes no writes, if it takes none."""
        return self._store.trouble

    async def recent(
        self,
        space: str = "",
        limit: int = 100,
        before: Place | None = None,
        wanted: SessionFilter = EVERY,
    ) -> tuple[Overview, ...]:
        """The sessions whose name is `space` and then no slash, newest first, from a place on; of
        them, those whose title has certain words in it, or that are pinned."""
        self._open()
        return await ask(self._store.recent(space, limit, before, wanted))

    async def overview(self, id: str) -> Overview | None:
        """A session as a list shows it; None if nothing was ever said in it."""
        must_be_name(id, "a session's id")
        return await ask(self._store.overview(SessionId(id)))

    async def cells(self) -> tuple[StoredCell, ...]:
        """The cells of all sessions that have not ended, as they are stored."""
        return await ask(self._store.cells())

    @act
    async def delete(self, id: str) -> Receipt:
        """Stop a session and forget what was said in it and by its children.

        Its generations are never used again, also if a session is made under the same name. If
        it fails, nothing was forgotten, and the session goes on.
        """
        session = self._conversation(id)
        if not session.at_work and await ask(self._store.overview(session.id)) is None:
            raise UnknownSession("there is no session '", Named(id), "', so nothing was deleted")
        while deleting := self._deleting.get(session.id):
            with suppress(Superseded):  # that was another's, which did not come to it
                return await unless_closed(deleting)
        # the runtime's own task: the stop may well cancel whoever asked for this
        deleting = self._tasks.start(self._delete(session, may_act(_DELETION)), name=f"delete {id}")
        self._deleting[session.id] = deleting
        deleting.add_done_callback(lambda _: self._deleting.pop(session.id))
        return await unless_closed(deleting)

    async def _delete(self, session: Conversation, asker: Asker | None) -> Receipt:
        running.set(None)  # a run that asked for this is waited for like any other
        with session.held():
            return await self._delete_held(session, asker)

    async def _delete_held(self, session: Conversation, asker: Asker | None) -> Receipt:
        await session.loaded()
        if session.over:
            raise UnknownSession(
                "'", Named(session.id), "' is a child run's; delete the one above it"
            )
        family = [session]
        try:
            family += [s for s in self._at_work if s.is_below(session.id)]
            with asker.hold.acting(_DELETION) if asker else nullcontext():
                for one in family:
                    one.closed = True
                answers = [one.fence(StopAsked(Reason.SHUTDOWN))() for one in family]
            receipts = [await answer for answer in answers]
            kept = tuple(session.seat.kept)
            await end_all(kept, self._told.deadline)
            await session.work.journal.committed()
            await ask(self._store.delete(session.id))
        except BaseException:
            for one in family:
                one.closed = False
            raise
        for one in family:
            one.deleted = True
            one.close()
            self._known().forget(one)
        return of_all(receipts, kept)

    @act
    async def close(self) -> None:
        """Stop everything, in bounded time, and let go of the store. Closing twice is fine."""
        self._must_be_here()
        may_act("closing of this runtime", but=self._opened_in)
        self._closed = True
        if self._shared is None:
            return
        if self._closing is None:
            self._closing = self._tasks.start(self._close(self._shared), name="close")
        await asyncio.shield(self._closing)

    async def _close(self, shared: Shared) -> None:
        running.set(None)
        for receipt in (await self._stop_all(Reason.SHUTDOWN)).values():
            if not receipt.quiet:
                left = ", ".join(map(str, receipt.unconfirmed))
                log.warning("closed with something left session=%s left=%s", receipt.session, left)
        sessions = self._at_work
        await asyncio.gather(*(session.work.flushed(self._told.deadline) for session in sessions))
        for session in sessions:
            session.close()
            session.work.abandon()
        self._end_sessions()
        for deleting in self._deleting.values():
            deleting.cancel()
        self._watching.cancel()
        self._family.leave()
        close_engine(self._engine)
        if left := await self.processes.close(self._told.grace):
            log.warning("closed with processes left processes=%s", ", ".join(left))
        if shared.watchdog:
            shared.watchdog.close()
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(self._told.deadline):
                await ask(self._store.close())
        if self.tracing:  # so that whoever shuts down what it tells next has all of it
            await shared.loop.run_in_executor(
                shared.threads, self.tracing.flush, self._told.deadline
            )

    def _must_be_here(self) -> None:
        if self._shared:
            must_be_here(self._shared.loop, "this runtime")

    def _end_sessions(self) -> None:
        if self._sessions:
            self._sessions.close()

    def _open(self) -> Shared:
        if self._closed:
            raise RuntimeClosed("this runtime is closed; it takes no messages and starts nothing")
        if self._shared is None:
            raise RuntimeClosed("this runtime is not open yet: use it inside `async with`")
        self._must_be_here()
        return self._shared
