"""More ways to break the machine: mistakes about who may stop, take over and edit."""

from __future__ import annotations

from tests.core.mutations import rights, session
from tests.mutations.changes import dropped, instead, without

RIGHTS = (
    session(
        "a stop needs no right",
        "_stop",
        instead("self.rights.must_be_allowed", "self.rights.stoppable"),
        "rights",
    ),
    session(
        "a stop without rights ends what others began",
        "_stop",
        instead("self.rights.stoppable(by, here)", "here"),
        "rights",
    ),
    rights("nobody owns a turn", "may_stop", without("whose")),
    rights("everybody owns a turn", "may_stop", instead("whose == by", "True")),
    rights(
        "the stoppers have no right",
        "may_stop",
        instead(
            "by is None or self.stoppers is None or by in self.stoppers or (whose == by)",
            "by is None or self.stoppers is None or whose == by",
        ),
    ),
    session(
        "a stop by run id needs no right", "_stop_run", dropped("must_be_allowed", nth=0), "rights"
    ),
    session(
        "a stop by run id ends others' steering",
        "_stop_run",
        instead("self.rights.stoppable(by, self.steering)", "self.steering"),
        "rights",
    ),
    session(
        "others' steering is lost with its run",
        "_cancel",
        instead("tuple(turn for turn in self.steering if turn not in ended)", "()"),
        "rights",
    ),
    session(
        "a stop moves the generation under somebody else's run",
        "_cancel",
        instead("return orders", "if self.active:\n    self._advance()\nreturn orders"),
        "rights",
    ),
    session(
        "a stop beside somebody else's run hushes",
        "_cancel",
        instead(
            "return orders",
            "if reason is Reason.STOPPED:\n"
            "    self.hushed, self.speaking = True, frozenset()\n"
            "return orders",
        ),
        "rights",
    ),
    session(
        "a stop holds what others queued", "_stop", instead("w.turn in kept", "keep"), "rights"
    ),
    session(
        "what a stop left of others is followed by nothing",
        "_stop",
        instead(
            "[*orders, *(Pause(turn) for turn in kept), *self._handoff()]",
            "[*orders, *(Pause(turn) for turn in kept)]",
        ),
        "rights",
    ),
    session(
        "rights are asked for after the deed",
        "_stop_run",
        instead(
            "self.rights.must_be_allowed(by, (turn,))\n"
            "self.steering = tuple(t for t in self.steering if t is not turn)",
            "self.steering = tuple(t for t in self.steering if t is not turn)\n"
            "self.rights.must_be_allowed(by, (turn,))",
        ),
        "rights",
    ),
    session("a takeover needs no right", "_policy", without("theirs"), "rights"),
    session(
        "a takeover drops what others queued",
        "_supersede",
        instead(
            "(*self._active(), *self.rights.overtaken(by, (*self.steering, *queue)))",
            "(*self._active(), *self.rights.overtaken(by, self.steering), *queue)",
        ),
        "rights",
    ),
    session("anyone may edit", "_find", dropped("must_be_allowed"), "rights"),
    rights(
        "only the first person of a backlog takes over",
        "overtaken",
        instead(
            "{one.by for one in by.messages if one.origin == 'person'}",
            "{by.leading.by} if by.leading.origin == 'person' else set()",
        ),
        "a backlog of several",
    ),
    rights(
        "a timer in a backlog takes over",
        "overtaken",
        instead(
            "{one.by for one in by.messages if one.origin == 'person'}",
            "{one.by for one in by.messages}",
        ),
        "a backlog of several",
    ),
    rights(
        "a backlog that a timer leads is nobody's",
        "stoppable",
        instead("one.by", "one.messages[0].by"),
        "a backlog of several",
    ),
)
