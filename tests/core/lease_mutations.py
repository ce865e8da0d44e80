"""Ways to break a lease, each of which its explorer has to find; as in `mutations.py`."""

from __future__ import annotations

import ast

from tests.mutations.changes import Change, compared, instead
from tests.mutations.mutation import Mutation


def lease(name: str, function: str, change: Change) -> Mutation:
    """A mistake, found where the clocks go apart."""
    return Mutation(name, f"core.lease:{function}", change, "apart")


LEASE_MUTATIONS = (
    lease(
        "the holder counts from the answer",
        "Lease.answered",
        instead("asked + self.terms.length", "0.0 + self.terms.length"),
    ),
    lease(
        "the holder's margin is on the wrong side",
        "Lease.answered",
        instead(
            "asked + self.terms.length - self.terms.margin",
            "asked + self.terms.length + self.terms.margin",
        ),
    ),
    lease(
        "the watcher has no margin",
        "Watch.answered",
        instead("terms.length + terms.margin", "terms.length - terms.margin"),
    ),
    lease(
        "who renews late does not look", "Lease.must_look", instead("now >= self.until", "False")
    ),
    lease("a count that moved is not looked at", "Watch.answered", compared("count", ast.LtE)),
    lease(
        "a lease is good for ever", "Lease.good", instead("now < self.until", "self.until > NEVER")
    ),
)
