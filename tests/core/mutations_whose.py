"""More ways to break the machine: mistakes about whose turn it is, what it goes by, and
what of it may still leave."""

from __future__ import annotations

from tests.core.mutations import Mutation

WHOSE = (
    Mutation(
        "what a run was never given ends with it",
        "parted(self.active, left)",
        "parted(self.active, 0)",
    ),
    Mutation(
        "what a run was never given is forgotten",
        "self.steering = (*back, *self.steering)",
        "pass",
    ),
    Mutation(
        "what a run was never given is not written down as waiting again",
        "return [*again, End(ended",
        "return [End(ended",
    ),
    Mutation(
        "what a run was never given comes after what came later",
        "self.steering = (*back, *self.steering)",
        "self.steering = (*self.steering, *back)",
    ),
    Mutation(
        "a merged turn forgets the names it goes by",
        "first.also + joined)",
        "first.also)",
        module="queue",
    ),
    Mutation(
        "a stop pauses what others queued",
        "if keep and w.turn in theirs)",
        "if keep)",
        found="rights",
    ),
    Mutation(
        "a takeover drops what waits for the person",
        "if not (w.held or follow))",
        "if not follow)",
        found="four messages",
    ),
    Mutation(
        "a run takes back a person's stop",
        "if not person and (self.hushed or",
        "if not person and (",
    ),
    Mutation(
        "a run lets go on what a person left waiting",
        "if not person and (self.hushed or any(w.held for w in self.waiting)):",
        "if not person and self.hushed:",
        found="rights",
    ),
    Mutation(
        "what a stopped run had let out may still leave",
        "            self.fenced = self.generation\n",
        "",
    ),
    Mutation(
        "what a run had let out may not leave once it has ended by itself",
        "        self.steering = (*back, *self.steering)\n",
        "        self.steering = (*back, *self.steering)\n        self.fenced = self.generation\n",
    ),
)
