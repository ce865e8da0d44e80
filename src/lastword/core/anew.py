"""A turn that is asked anew: a message takes its place, and the model is shown the new one alone.

Only the last turn is, by a person who may stop it. It is named together with the generation at
which it was seen to be the last. Nothing begins, ends or is stopped in a session without moving
that, so one comparison, in the step that accepts the message, says whether it still is.
"""

from __future__ import annotations

from typing import TypeAlias

from lastword.core.events import Instead
from lastword.core.model import Generation, Turn
from lastword.core.rights import Rights
from lastword.errors import Named, NotAllowed, StaleTurn

Now: TypeAlias = tuple[Turn | None, Generation, bool]  # what is active, the generation, busy


def must_be_replaceable(instead: Instead, by: Turn, rights: Rights, now: Now) -> None:
    """Raise `StaleTurn` unless that is the last turn and nothing waits to follow it, `NotAllowed`
    unless a person asks who may stop it."""
    turn, (active, generation, busy) = instead.turn, now
    run, touched = Named(turn.run), ", so nothing was touched"
    if active is None or not active.named(turn.run):
        if busy or generation != instead.generation:
            raise StaleTurn("the turn of run ", run, " is not the last any more", touched)
        active = turn
    if by.leading.origin != "person" or not rights.overtaken(by, (active,)):
        raise NotAllowed(f"{by.by!r} has no right to take back the turn of run ", run, touched)
