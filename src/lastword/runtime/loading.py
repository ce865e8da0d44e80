"""Learn from the store where a session stands; settle first what an earlier process left.

Nothing of a session acts before that is known, and a stop that came meanwhile is made first.
"""

from __future__ import annotations

import logging

from lastword.core.events import Found
from lastword.core.model import Generation, Outcome, SessionId
from lastword.core.queue import Standing, Waiting
from lastword.core.recovery import Recovery, recover
from lastword.runtime.journal import ask, stamped
from lastword.runtime.seat import Seat
from lastword.runtime.shared import Shared
from lastword.runtime.work import Work
from lastword.stores.contract import StoredSession, Write

log = logging.getLogger("lastword")


async def load(seat: Seat, shared: Shared, work: Work, *, child: bool) -> SessionId | None:
    """Put it where the store has it; the session above it, if it is a child run's.

    What is to be done about what was found is ordered when this returns.
    """
    try:
        stored = await ask(shared.store.load(seat.id))
        above = stored.parent if stored else None
        claim = shared.store.claim(seat.id)
        seat.feed.claim = work.journal.claim = claim
        recovered = None
        if stored and stored.unfinished:
            recovered = await _recovered(seat, shared, work, stored, child=child or bool(above))
    except BaseException:
        seat.inbox.not_known()
        raise
    found = None
    if stored:
        if stored.generation > seat.machine.generation:
            seat.feed.begin_anew()  # another process had it in between
        seat.inbox.loaded(stored.generation)
        work.journal.serial = stored.serial
        work.cells.found(stored.cells)
        found = _found(seat, shared, work, stored.standing, recovered)
        work.announcer.lost(stored.standing.going)
    seat.inbox.now_known(found)
    if recovered:
        seat.publish(recovered)
    return above


def _found(
    seat: Seat, shared: Shared, work: Work, standing: Standing, recovered: Recovery | None
) -> Found | None:
    waits = recovered is not None and shared.told.on_restart == "wait"
    work.journal.found(standing, waits=waits)
    if recovered is None:
        return Found((), hushed=True) if standing.hushed else None
    work.messages.found(recovered.waiting)
    seat.inbox.lost = recovered
    # what the standing does not know of was being stopped when the process died
    free = set(standing.order) - set(standing.held)
    queue = [
        Waiting(turn, held=waits or not all(message.id in free for message in turn.messages))
        for turn in recovered.waiting
    ]
    return Found(tuple(queue), standing.hushed or (waits and bool(queue)))


async def _recovered(
    seat: Seat, shared: Shared, work: Work, stored: StoredSession, *, child: bool
) -> Recovery:
    """Settle what an earlier process left, in one transaction, before anything else is done."""
    entries = await ask(shared.store.entries(seat.id, stored.since))
    found, settled = recover(entries, stored.standing.order, child=child)
    now = shared.clock()
    write = Write(
        session=seat.id,
        generation=Generation(stored.generation + 1),
        serial=stored.serial,
        entries=tuple(stamped(settled, now)),
        standing=stored.standing,
        at=now,
        state="waiting" if found.waiting else "idle",
        claim=work.journal.claim,
    )
    await ask(shared.store.commit(write))
    lost, waiting = len(found.lost), len(found.waiting)
    shared.counters.runs[Outcome.LOST] += lost
    log.warning("recovered session=%s lost=%d waiting=%d", seat.id, lost, waiting)
    return found
