"""More ways to break the machine: mistakes about who may stop, take over and edit."""

from __future__ import annotations

from tests.core.mutations import session
from tests.mutations.changes import dropped, instead, without

RIGHTS = (
    session(
        "a stop needs no right",
        "_stop",
        instead("self._must_be_allowed", "self._stoppable"),
        "rights",
    ),
    session(
        "a stop without rights ends what others began",
        "_stop",
        instead(
            "self._must_be_allowed(by, (*self._active(), *self.steering, *turns(self.waiting)))",
            "self._must_be_allowed(None, (*self._active(), *self.steering, *turns(self.waiting)))",
        ),
        "rights",
    ),
    session("nobody owns a turn", "may_stop", without("whose"), "rights"),
    session("everybody owns a turn", "may_stop", instead("whose == by", "True"), "rights"),
    session(
        "the stoppers have no right",
        "may_stop",
        instead(
            "by is None or allowed is None or by in allowed or (whose == by)",
            "by is None or allowed is None or whose == by",
        ),
        "rights",
    ),
    session(
        "a stop by run id needs no right", "_stop_run", dropped("_must_be_allowed", nth=0), "rights"
    ),
    session(
        "a stop by run id ends others' steering",
        "_stop_run",
        instead("self._stoppable(by, self.steering)", "self.steering"),
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
            "self._must_be_allowed(by, (turn,))\n"
            "self.steering = tuple(t for t in self.steering if t is not turn)",
            "self.steering = tuple(t for t in self.steering if t is not turn)\n"
            "self._must_be_allowed(by, (turn,))",
        ),
        "rights",
    ),
    session("a takeover needs no right", "_policy", without("theirs"), "rights"),
    session(
        "a takeover drops what others queued",
        "_supersede",
        instead(
            "(*self._active(), *self._stoppable(by, (*self.steering, *queue)))",
            "(*self._active(), *self._stoppable(by, self.steering), *queue)",
        ),
        "rights",
    ),
    session("anyone may edit", "_find", dropped("_must_be_allowed"), "rights"),
)
