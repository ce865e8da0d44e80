"""The last turn, found to be asked anew, and sent: whether it still is the last is the machine's
to say, in the step that accepts what takes its place.

What is found is what the model is shown last, so a turn that is going is one as well, and one that
a summary covers is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lastword.core.events import Instead
from lastword.core.model import Attachment, RunId, Turn
from lastword.core.shown import Shown
from lastword.errors import Named, StaleTurn
from lastword.runtime.protocol import Counterpart, Sent
from lastword.runtime.ticket import Ticket

_TRIES = 3  # a turn may end, or begin, while it is looked at


async def ask_anew(
    of: Counterpart,
    said: Sent,
    run: RunId | None,
    *,
    same: bool,
    attachments: Sequence[Attachment] | None,
) -> Ticket:
    """Send it in the place of the last turn; the `same` words if none are said."""
    tries = 0
    with of.held():
        await of.have()
        while said.id is None or not await of.record.said([said.id]):
            instead = await _last(of, run)
            before = instead.turn.message
            came = before.attachments if attachments is None else tuple(attachments)
            anew = replace(said, text=before.text if same else said.text, attachments=came)
            try:
                return (await of.send((anew,), "rollback", instead))[0]
            except StaleTurn:
                tries += 1
                if tries == _TRIES:
                    raise
        return (await of.send((said,), None))[0]  # it was accepted before


async def _last(of: Counterpart, run: RunId | None) -> Instead:
    """The last turn, as it was said, and the generation at which that was so."""
    generation = of.now().generation
    shown = await of.record.history()
    last = next((item.run for item in reversed(shown) if _is_said(item)), None)
    if last is None:
        raise StaleTurn("session ", Named(of.id), " has no turn that could be asked anew")
    if run not in (None, last):
        now = "; the last is that of run ", Named(last), ", so nothing was touched"
        raise StaleTurn("the turn of run ", Named(run or ""), " is not the last any more", *now)
    ids = [one.message.id for one in shown if one.message and one.run == last]
    found = {one.id: one for one in await of.record.said(ids)}
    return Instead(Turn(last, tuple(found[id_] for id_ in dict.fromkeys(ids))), generation)


def _is_said(item: Shown) -> bool:
    return item.role == "user" and item.run is not None
