"""More ways to break the machine: mistakes about whose turn it is, and what it goes by."""

from __future__ import annotations

from tests.core.mutations import Mutation

WHOSE = (
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
)
