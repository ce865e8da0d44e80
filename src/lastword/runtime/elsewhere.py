"""A stop, or a takeover, of what another process has: asked there, and answered from there.

A stop is the owner's: its fence is made where the run is, and its receipt comes from there. Only
when no owner lives any more is it made here, and is then the commit of the claim. Whoever asked is
answered at the deadline in any case; the stop goes on, for what was asked is read by its owner
before that may act any longer than its lease lasts.

A message that takes over asks the owner to stop and to let go of the session, and is then accepted
here. The owner refuses if something would be left there: then nothing was stopped, and the message
belongs there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from lastword.core.events import StopAsked
from lastword.core.model import Policy, SessionId
from lastword.core.receipt import Receipt, Unconfirmed
from lastword.errors import NotAllowed, OwnedElsewhere, StaleRun, StoreError
from lastword.runtime.journal import ask
from lastword.runtime.protocol import Sent
from lastword.runtime.shared import Shared
from lastword.stores.reach import Reach

_PAUSE = 0.02  # seconds until a session that is between two owners is looked at again
_SILENT = "it was asked to stop, and has not answered; nothing of it acts once its lease has ended"


async def stopped(
    reach: Reach, asked: StopAsked, session: SessionId, here: Callable[[], Awaitable[Receipt]]
) -> Receipt:
    """The receipt of whoever has the session; of a stop here, once nobody has who lives."""
    body = {"run": asked.run, "by": asked.by, "said": asked.said}
    answer = await _answered(reach, session, {"stop": body})
    if answer is None or "gone" in answer:
        await asyncio.sleep(_PAUSE)
        return await here()
    receipt = _receipt(answer)
    if receipt.ending:
        receipt = replace(receipt, later=partial(_settled, reach, receipt))
    return receipt


async def _settled(reach: Reach, receipt: Receipt) -> Receipt:
    """The same, when what was still ending there has ended; with the owner, if with nothing else"""
    answer = await _answered(reach, receipt.session, {"settled": receipt.generation})
    if answer and "receipt" in answer:
        return _receipt(answer)
    left = tuple(one for one in receipt.unconfirmed if one.given_up)
    return replace(receipt, unconfirmed=left, later=None)


def silent(
    receipt: Receipt, error: OwnedElsewhere, later: Callable[[], Awaitable[Receipt]]
) -> Receipt:
    """What is said at the deadline, if the owner has said nothing."""
    return replace(
        receipt,
        unconfirmed=(Unconfirmed("session", f"{error}; {_SILENT}"),),
        durable=False,
        later=later,
    )


async def had(
    load: Callable[[], Awaitable[None]],
    shared: Shared,
    sent: tuple[Sent, ...],
    on_message: Policy | None,
) -> Receipt | None:
    """Have a session, to send these to it; taken over from whoever has it, if that is to be: the
    receipt of what was stopped there."""
    try:
        await load()
    except OwnedElsewhere as error:
        took = await _taken_over(shared, error, sent, on_message)
        await load()
        return took
    return None


async def _taken_over(
    shared: Shared, error: OwnedElsewhere, sent: tuple[Sent, ...], on_message: Policy | None
) -> Receipt | None:
    """Have the owner stop, and let go; or raise the error that says whose it is."""
    reach, session = shared.store.reach, SessionId(error.session)
    people = [one.by for one in sent if one.origin == "person"]
    policy = on_message or shared.settings.on_message
    if reach is None or policy != "takeover" or not people or error.ending:
        raise error
    for id_ in (one.id for one in sent if one.id is not None):
        if await ask(shared.store.message(session, id_)):
            raise error  # it was accepted there
    answer = await _answered(reach, session, {"let go": people}, 2 * shared.told.deadline)
    if answer and "receipt" in answer:
        return _receipt(answer)
    if answer is None or "gone" in answer:
        return None
    raise error


async def _answered(
    reach: Reach, session: SessionId, asked: dict[str, Any], within: float | None = None
) -> dict[str, Any] | None:
    said = await ask(reach.ask(session, json.dumps(asked), within))
    return None if said is None else json.loads(said)


def _receipt(answer: dict[str, Any]) -> Receipt:
    match answer:
        case {"receipt": plain}:
            return Receipt.from_json(json.dumps(plain))
        case {"stale": [str(run), active]}:
            raise StaleRun(run, active)
        case {"not allowed": str(why)}:
            raise NotAllowed(why)
        case _:
            raise StoreError(
                f"the owner could not do it: {answer.get('failed', 'it does not say')}"
            )
