"""More ways to break the machine: mistakes about what an earlier process left."""

from __future__ import annotations

from tests.core.mutations import Mutation

RESTART = (
    Mutation(
        "what an earlier process left does not move the generation",
        "self._advance()  # the earlier process",
        "pass  # the earlier process",
        found="after a restart",
    ),
    Mutation(
        "what was found is not held back",
        "self.waiting, self.hushed = event.waiting, event.hushed\n",
        "self.waiting = tuple(Waiting(w.turn) for w in event.waiting)\n"
        "        self.hushed = event.hushed\n",
        found="after a restart",
    ),
    Mutation(
        "a stop before the restart is forgotten",
        "self.waiting, self.hushed = event.waiting, event.hushed\n",
        "self.waiting, self.hushed = event.waiting, False\n",
        found="after a restart",
    ),
    Mutation(
        "what was found does not go on by itself",
        "return [] if event.stopping else self._handoff()",
        "return []",
        found="after a restart",
    ),
    Mutation(
        "something is found in the middle of things",
        "if self.busy or self.waiting or self.steering or self.storing:\n            raise",
        "if False:\n            raise",
        found="after a restart",
    ),
)
