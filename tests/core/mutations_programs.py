"""More ways to break the machine: mistakes about which programs a stop and a takeover freeze."""

from __future__ import annotations

from tests.core.mutations import rights, session
from tests.mutations.changes import forgotten, instead, never

FOUND = "programs"

PROGRAMS = (
    session(
        "a stop freezes what others began",
        "_stop",
        instead("self.rights.stoppable(by, programs)", "programs"),
        FOUND,
    ),
    session(
        "a stop of an idle session freezes nothing",
        "_stop",
        instead("self.programs if reason.freezes else ()", "self.programs if self.busy else ()"),
        FOUND,
    ),
    session(
        "a stop of everything freezes nothing that stands",
        "_stop",
        instead("self._freeze(self.rights.stoppable(by, programs))", "list[Order]()"),
        FOUND,
    ),
    session(
        "who may freeze nothing is told that nothing stands",
        "_stop",
        instead("(*here, *programs)", "here"),
        FOUND,
    ),
    session(
        "a stop of nothing but programs has the last word in the session",
        "_stop",
        never("theirs"),
        FOUND,
    ),
    session(
        "the end of the process freezes what stands",
        "_stop",
        instead("self.programs if reason.freezes else ()", "self.programs"),
        FOUND,
    ),
    session(
        "the end of the process freezes what works for the run that is going",
        "_cancel",
        instead("reason.freezes and p.run == self.active.run", "p.run == self.active.run"),
        FOUND,
    ),
    session(
        "a takeover freezes what others began",
        "_supersede",
        instead("self.rights.overtaken(by, self.programs)", "self.programs"),
        FOUND,
    ),
    session(
        "a takeover freezes only what its own run began",
        "_supersede",
        instead("self._freeze(self.rights.overtaken(by, self.programs))", "list[Order]()"),
        FOUND,
    ),
    session(
        "a stop by run id leaves what works for it",
        "_cancel",
        instead(
            "[*self._freeze(works), Cancel(self.active.run, reason)]",
            "[Cancel(self.active.run, reason)]",
        ),
        FOUND,
    ),
    session(
        "a stop by run id freezes what other runs began",
        "_cancel",
        instead("reason.freezes and p.run == self.active.run", "reason.freezes"),
        FOUND,
    ),
    session(
        "a program is frozen after the run for which it works has ended",
        "_cancel",
        instead(
            "[*self._freeze(works), Cancel(self.active.run, reason)]",
            "[Cancel(self.active.run, reason), *self._freeze(works)]",
        ),
        FOUND,
    ),
    session("what was frozen still stands", "_freeze", forgotten("programs"), FOUND),
    session(
        "an order names programs where there is none",
        "_freeze",
        instead(
            "[Freeze(tuple(one.cell for one in programs))] if programs else []",
            "[Freeze(tuple(one.cell for one in programs))]",
        ),
        FOUND,
    ),
    session(
        "programs stand in a session that was let go",
        "_stands_as_stored",
        instead("self.hushed, self.programs = False, ()", "self.hushed = False"),
        FOUND,
    ),
    rights(
        "what is nobody's is everybody's to stop",
        "may_stop",
        instead("whose == by", "whose in {by, None}"),
        FOUND,
    ),
)
