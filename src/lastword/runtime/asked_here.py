"""What other processes ask of this one, in whose sessions it is: a stop, or to let go of one.

A stop is made in the store's own thread, in the step in which it is heard of, before the lease is
renewed: so no lease is renewed past one, and a stalled event loop does not keep one out.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

from lastword.core.events import StopAsked
from lastword.core.model import Reason, RunId, SessionId
from lastword.core.receipt import Receipt
from lastword.errors import LastwordError, NotAllowed, StaleRun
from lastword.runtime.conversation import Conversation
from lastword.runtime.sessions import Sessions
from lastword.runtime.shared import Shared
from lastword.runtime.tasks import Tasks
from lastword.stores.reach import Answer

_Told: TypeAlias = dict[str, Any]
_PAUSE = 0.02  # seconds until it is tried again to let go of a session


class AskedHere:
    """What others ask of this process, in whose sessions it is."""

    def __init__(self, shared: Shared, sessions: Sessions) -> None:
        self._shared = shared
        self._sessions = sessions
        self._tasks = Tasks()

    def asked(self, session: SessionId, text: str, answer: Answer) -> None:
        """In the store's thread, before its lease is renewed: a stop is made at once."""
        asked = _read(text)
        if asked is None:  # of a lastword that knows more than this one
            answer(json.dumps({"failed": "what was asked is not known there"}))
            return
        if self._sessions.closed:
            return  # it is about to own nothing any more
        found = self._sessions.find(session)
        if found is None or found.lost or not found.at_work:
            work = partial(self._let_go_of_rest, self._sessions.of(session))
        elif "stop" in asked:
            self._stop(found, _stop(asked["stop"]), answer)
            return
        elif "settled" in asked:
            work = partial(self._settled, found, asked["settled"])
        else:
            work = partial(self._let_go, found, tuple(asked["let go"]))
        self._shared.loop.call_soon_threadsafe(self._do, work, answer)

    def _stop(self, found: Conversation, stop: StopAsked, answer: Answer) -> None:
        try:
            stopping = found.stop_soon(stop)
        except LastwordError as error:
            answer(_refused(error))
        else:
            stopping.add_done_callback(lambda done: answer(_told(done)))

    def _do(self, work: Callable[[], Coroutine[Any, Any, _Told]], answer: Answer) -> None:
        async def done() -> None:
            try:
                told = await work()
            except LastwordError as error:
                told = {"failed": str(error)}
            answer(json.dumps(told))

        self._tasks.start(done(), name="asked")

    async def _settled(self, found: Conversation, generation: int) -> _Told:
        for settlement in found.work.stops.pending:
            receipt = settlement.receipt()
            if receipt.generation == generation:
                return {"receipt": (await asyncio.shield(settlement.done)).to_dict()}
        return {}

    async def _let_go(self, found: Conversation, people: tuple[str, ...]) -> _Told:
        machine, seat = found.seat.machine, found.seat
        if seat.kept or found.below or machine.waiting or machine.steering or machine.storing:
            return {}
        theirs = (*((machine.active,) if machine.active else ()), *machine.programs)
        may = machine.rights.may_stop
        person = next((by for by in people if all(may(by, one.by) for one in theirs)), None)
        receipt: Receipt | None = None
        if machine.active:
            if person is None:
                return {}
            receipt = await found.stop(StopAsked(Reason.SUPERSEDED, by=person))
            if not receipt.quiet or not receipt.durable:
                return {}
        with suppress(TimeoutError):
            async with asyncio.timeout(self._shared.told.deadline):
                while not await self._sessions.hand_over(found):
                    if machine.busy:
                        return {}
                    await asyncio.sleep(_PAUSE)
            return {"receipt": receipt.to_dict()} if receipt else {"gone": True}
        return {}

    async def _let_go_of_rest(self, found: Conversation) -> _Told:
        """Nothing of it is here, so nothing is to be stopped here."""
        if not found.at_work:
            await self._sessions.hand_over(found)
        return {"gone": True}


def _read(text: str) -> _Told | None:
    """What is asked, if it is any of what can be."""
    try:
        match json.loads(text):
            case {"stop": {"run": _, "by": _, "said": _}} as asked:
                return asked
            case {"settled": int()} | {"let go": list()} as asked:
                return asked
            case _:
                return None
    except ValueError:
        return None


def _stop(said: _Told) -> StopAsked:
    run = RunId(said["run"]) if said["run"] else None
    return StopAsked(Reason.STOPPED, run, said["by"], said["said"])


def _told(done: concurrent.futures.Future[Receipt]) -> str:
    error = asyncio.CancelledError() if done.cancelled() else done.exception()
    if error:
        return _refused(error)
    return json.dumps({"receipt": done.result().to_dict()})


def _refused(error: BaseException | None) -> str:
    match error:
        case StaleRun():
            return json.dumps({"stale": [error.run, error.active]})
        case NotAllowed():
            return json.dumps({"not allowed": str(error)})
        case _:
            return json.dumps({"failed": f"{type(error).__name__}: {error}"})
