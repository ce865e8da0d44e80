"""More ways to break a cell: mistakes about what observers are given, and a restart finds."""

from __future__ import annotations

from tests.core.cell_mutations import frontier
from tests.mutations.changes import Change, forgotten, instead, never, without
from tests.mutations.mutation import Mutation


def outlet(name: str, function: str, change: Change) -> Mutation:
    return Mutation(name, f"core.outlet:Outlet.{function}", change, "looked at twice")


OBSERVERS = (
    outlet("a second observer displaces the first", "begun", never("observer")),
    outlet("a stranger ends an observation", "over", never("observer")),
    outlet(
        "what did not arrive is gone",
        "over",
        instead("self.shown if delivered else 0", "self.shown"),
    ),
    outlet("what arrived is given again", "over", instead("self.shown if delivered else 0", "0")),
    outlet(
        "what was printed meanwhile is gone",
        "over",
        instead("self.pieces[self.shown if delivered else 0:]", "() if delivered else self.pieces"),
    ),
    outlet(
        "output comes backwards", "printed", instead("(*self.pieces, text)", "(text, *self.pieces)")
    ),
    frontier(
        "looking at a frontier takes it away",
        "_observe",
        instead(
            "self.outlet = self.outlet.begun(self.cell, observer)",
            "self.outlet, self.resolved = self.outlet.begun(self.cell, observer), self.pending",
        ),
        "looked at twice",
    ),
    frontier(
        "an end can be seen before it is stored",
        "_observe",
        instead("None if self.awaited else self.ending", "self.ending"),
        "looked at twice",
    ),
    frontier("what was given is not stored", "_observed", forgotten("unsaved"), "looked at twice"),
    frontier(
        "what was given is stored with what may fail",
        "_observed",
        without("awaited"),
        "looked at as it fails",
    ),
    frontier(
        "what was given meanwhile is never stored",
        "_stored",
        instead(
            "[*orders, *(self._store() if self.unsaved and (not self.awaited) else [])]", "orders"
        ),
        "looked at twice",
    ),
)

RESTARTS = (
    frontier(
        "that a resume was begun is not in the record",
        "record",
        instead(
            "self.phase.at_a_frontier",
            "(self.phase.at_a_frontier or self.phase is CellPhase.BEGINNING)",
        ),
        "two deaths",
    ),
    frontier(
        "that a resume did not arrive is not in the record",
        "record",
        instead(
            "self.phase.at_a_frontier",
            "(self.phase.at_a_frontier and self.phase is not CellPhase.RETURNING)",
        ),
        "two deaths",
    ),
    frontier(
        "a record has the frontier before",
        "record",
        instead("self.arriving or self.frontier", "self.frontier"),
        "two deaths",
    ),
    frontier(
        "a restart finds what was consumed",
        "restore",
        instead("record.paused", "record.paused or record.frontier"),
        "two deaths",
    ),
    frontier("a restart loses what was paused", "restore", never("paused"), "two deaths"),
    frontier("a restart wakes the dead", "restore", never("ending"), "two deaths"),
    frontier(
        "a restart names nothing",
        "restore",
        instead(
            "machine._end(CellOutcome.LOST, error=why, doubtful=record.doubtful)",
            "machine._end(CellOutcome.LOST, error=why)",
        ),
        "two deaths",
    ),
    frontier(
        "a record names the calls that ended, not those that go",
        "record",
        instead("self.resolved if pausable else handed", "self.resolved"),
        "a death among calls",
    ),
    frontier(
        "a restart gives output again that was given, or none",
        "restore",
        instead("Outlet(record.output)", "Outlet()"),
        "two deaths",
    ),
    frontier(
        "a restart forgets what was remembered",
        "restore",
        instead("record.values", "()"),
        "two deaths",
    ),
    frontier(
        "a restart counts its records from the beginning",
        "restore",
        instead(
            "machine.version, machine.frontier = record.version, record.frontier",
            "machine.frontier = record.frontier",
        ),
        "two deaths",
    ),
)
