"""More ways to break the machine: mistakes about what an earlier process left."""

from __future__ import annotations

from tests.core.mutations import session
from tests.mutations.changes import dropped, instead, never

RESTART = (
    session(
        "what an earlier process left does not move the generation",
        "_found",
        dropped("_advance"),
        "after a restart",
    ),
    session(
        "what was found is not held back",
        "_found",
        instead(
            "self.waiting, self.hushed = event.waiting, event.hushed",
            "self.waiting = tuple(Waiting(w.turn) for w in event.waiting)\n"
            "self.hushed = event.hushed",
        ),
        "after a restart",
    ),
    session(
        "a stop before the restart is forgotten",
        "_found",
        instead("event.hushed", "False"),
        "after a restart",
    ),
    session(
        "what was found does not go on by itself",
        "_found",
        instead("[] if event.stopping else self._handoff()", "[]"),
        "after a restart",
    ),
    session(
        "something is found in the middle of things", "_found", never("busy"), "after a restart"
    ),
)
