"""More ways to break the machine: mistakes about what an earlier process left."""

from __future__ import annotations

from tests.core.mutations import session
from tests.mutations.changes import dropped, forgotten, instead, without

RESTART = (
    session(
        "what an earlier process left does not move the generation",
        "_stands_as_stored",
        dropped("_advance"),
        "after a restart",
    ),
    session(
        "what was found is not held back",
        "_stands_as_stored",
        instead(
            "self.waiting, self.hushed = waiting, hushed",
            "self.waiting = tuple(Waiting(w.turn) for w in waiting)\nself.hushed = hushed",
        ),
        "after a restart",
    ),
    session(
        "a stop before the restart is forgotten",
        "_stands_as_stored",
        instead("self.waiting, self.hushed = waiting, hushed", "self.waiting = waiting"),
        "after a restart",
    ),
    session(
        "what was found does not go on by itself",
        "_stands_as_stored",
        instead("[] if event.stopping else self._handoff()", "[]"),
        "after a restart",
    ),
    session(
        "something is found in the middle of things",
        "_stands_as_stored",
        instead("self._here()", "self.waiting"),
        "after a restart",
    ),
    session(
        "something is found while a message is being stored",
        "_stands_as_stored",
        without("storing"),
        "after a restart",
    ),
    session(
        "a generation that was given out here is given out again",
        "_stands_as_stored",
        instead("max(self.generation, generation)", "generation"),
        "after a restart",
    ),
    session(
        "a generation that another process gave out is given out again",
        "_stands_as_stored",
        forgotten("generation"),
        "after a restart",
    ),
    session(
        "a session that left memory is hushed before the store was asked",
        "_stands_as_stored",
        instead("self.hushed, self.programs = False, ()", "self.programs = ()"),
        "after a restart",
    ),
)
