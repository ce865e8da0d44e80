"""More ways to break the machine: mistakes about whose turn it is, what it goes by, and
what of it may still leave."""

from __future__ import annotations

from tests.core.mutations import queue, session
from tests.mutations.changes import forgotten, instead, without
from tests.mutations.mutation import Mutation

WHOSE = (
    session(
        "what a run was never given ends with it",
        "_ended",
        instead("parted(self.active, left)", "parted(self.active, 0)"),
    ),
    session("what a run was never given is forgotten", "_ended", forgotten("steering")),
    session(
        "what a run was never given is not written down as waiting again",
        "_ended",
        instead(
            "[*again, End(ended, outcome, started=True), *self._handoff()]",
            "[End(ended, outcome, started=True), *self._handoff()]",
        ),
    ),
    session(
        "what a run was never given comes after what came later",
        "_ended",
        instead("(*back, *self.steering)", "(*self.steering, *back)"),
    ),
    Mutation(
        "what came with a message is not accepted",
        "core.queue:placed",
        instead("turn.messages", "turn.messages[:1]"),
        "together",
    ),
    session(
        "what came with a message acts before it is stored",
        "_accept",
        instead("self.storing |= ids(turn)", "self.storing |= {event.message.id}"),
        "together",
    ),
    session(
        "what comes as one is as strong as what is first in it",
        "_policy",
        instead("turn.leading", "turn.messages[0]"),
        "together",
    ),
    queue(
        "a merged turn forgets the names it goes by",
        "merged",
        instead("first.also + joined", "first.also"),
    ),
    queue(
        "a message that was taken back goes on naming what it waited with",
        "_less",
        instead(
            "(Turn(names[0], messages, names[began:]),)", "(replace(turn, messages=messages),)"
        ),
        "the queue",
    ),
    queue(
        "a turn goes by the name of who began it and was taken back",
        "_less",
        instead(
            "Turn(names[0], messages, names[began:])", "Turn(turn.run, messages, names[began:])"
        ),
        "the queue",
    ),
    queue(
        "what was collected goes by a name that nobody was told",
        "collected",
        instead(
            "replace(window, turn=replace(window.turn, messages=together))",
            "replace(window, turn=merged((window.turn, turn)))",
        ),
        "the clock",
    ),
    session("a stop pauses what others queued", "_stop", without("turn"), "rights"),
    session(
        "a takeover drops what a stop left waiting", "_supersede", without("held"), "four messages"
    ),
    session(
        "a run takes back a person's stop",
        "_resume",
        instead(
            "self.hushed or any(w.held for w in self.waiting)", "any(w.held for w in self.waiting)"
        ),
    ),
    session(
        "a run lets go on what a person left waiting",
        "_resume",
        instead("self.hushed or any(w.held for w in self.waiting)", "self.hushed"),
        "rights",
    ),
    session("what a stopped run had let out may still leave", "_cancel", forgotten("fenced")),
    session(
        "what a run had let out may not leave once it has ended by itself",
        "_ended",
        instead(
            "self._steering_is_next()", "self.fenced = self.generation\nself._steering_is_next()"
        ),
    ),
)
