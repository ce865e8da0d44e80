"""Ways to break a cell's machine, each of which its explorer has to find; as in `mutations.py`."""

from __future__ import annotations

from tests.core.mutations import Mutation


def frontier(name: str, old: str, new: str, found: str = "things go wrong") -> Mutation:
    return Mutation(name, old, new, "frontier", found)


def pending(name: str, old: str, new: str, found: str = "things go wrong") -> Mutation:
    return Mutation(name, old, new, "pending", found)


def outlet(name: str, old: str, new: str) -> Mutation:
    return Mutation(name, old, new, "outlet", "looked at twice")


BACK = "self.phase = Phase.PAUSED\n        return [NotResumed(self.generation)]"

RESUMES = (
    frontier(
        "a frontier is shown before it is stored",
        "return self._store_for(Phase.ARRIVING)",
        "return [*self._store(), *self._stand(arriving)]",
    ),
    frontier(
        "a frontier that was not stored is shown",
        "case Phase.ARRIVING if durable and self.arriving:",
        "case Phase.ARRIVING if self.arriving:",
    ),
    frontier(
        "a resume is delivered before it is stored",
        "return self._store_for(Phase.BEGINNING)",
        "return [*self._store(), *self._deliver()]",
    ),
    frontier(
        "a resume that was not stored is delivered",
        "case Phase.BEGINNING if durable:",
        "case Phase.BEGINNING if True:",
    ),
    frontier(
        "a resume that may have been stored is not taken back",
        "return self._give_back()  # the store may have it all the same that one began",
        "self.phase = Phase.PAUSED\n                return [NotResumed(self.generation)]",
        "two deaths",
    ),
    frontier(
        "a frontier is back before the store has it",
        "return self._store_for(Phase.RETURNING)",
        BACK,
    ),
    frontier(
        "a resume that did not arrive consumes its frontier",
        "return [*kill, *self._give_back()]",
        'return [*kill, *self._lost("it did not arrive")]',
    ),
    frontier(
        "a resume that did not arrive is delivered again, unasked",
        'if self.kind == "continuing":\n            return [*kill',
        "if True:\n            return [*kill",
    ),
    frontier(
        "a resume is called one before it is delivered",
        "return [Deliver(self.generation",
        "return [Resumed(self.generation), Deliver(self.generation",
    ),
    frontier(
        "nobody is told that a resume was delivered and nothing runs",
        "self.phase, self.live, self.results = Phase.RUNNING, True, ()",
        "self.phase, self.live, self.results = Phase.PAUSED, True, ()",
    ),
    frontier(
        "an interpreter that is gone is given the results",
        "reload=not self.live)",
        "reload=False)",
    ),
    frontier(
        "the loss of an interpreter is forgotten",
        "self.live = False\n        if self.phase in",
        "if self.phase in",
    ),
    frontier(
        "a loss during a delivery is no loss",
        "if self.phase in {Phase.RUNNING, Phase.DELIVERING}:",
        "if self.phase in {Phase.RUNNING}:",
    ),
    frontier(
        "a loss at a frontier loses the cell",
        "if self.phase in {Phase.RUNNING, Phase.DELIVERING}:",
        "if self.phase in {Phase.RUNNING, Phase.DELIVERING, Phase.PAUSED}:",
    ),
    frontier(
        "a loss names nothing",
        'doubtful = self.resolved if self.kind == "pausable" else self.going\n        return',
        "doubtful = ()\n        return",
    ),
    frontier(
        "a cell is started that is not stored",
        'return self._started() if durable else self._failed("it could not be stored")',
        "return self._started()",
    ),
    frontier(
        "the frontier of a running cell can be read",
        'if self.phase.standing in {"running", "ended"}',
        'if self.phase.standing in {"ended"}',
    ),
    pending("a stale resume is taken", "if asked < current:", "if asked < current - 1:"),
    pending("a future resume is taken", "if asked > current:", "if asked > current + 1:"),
    pending("two resumes of one frontier are taken", "if phase is not Phase.PAUSED:", "if False:"),
    pending("a result is taken twice", " or ids.count(one) > 1", ""),
    pending("a result for an unknown call is taken", "one not in pending or ", ""),
    pending("a resume with nothing in it is taken", "if wrong or not ids:", "if wrong:"),
    pending(
        "an answered call is asked for again",
        " if call not in resolved)",
        ")",
        "answered in parts",
    ),
    pending(
        "a call that nobody waits for is listed",
        " if call.id in reached.waits)",
        ")",
        "answered in parts",
    ),
    pending("a wait that nobody can settle is a frontier", " if pending else None", ""),
    pending("a number is left out", "number_of(before) + 1)", "number_of(before) + 2)"),
    pending("a number comes twice", "number_of(before) + 1)", "max(number_of(before), 1))"),
    pending("two calls have one id", "if len({call.id for call in known}) < len(known):", "if 0:"),
)

ENDS = (
    frontier(
        "a second terminate is taken",
        "self._must_not_have_ended()\n                return self._end(CellOutcome.TERM",
        "return self._end(CellOutcome.TERM",
    ),
    frontier(
        "a cell that is ending can be ended again",
        'if self.ending:\n            raise CellGone(self.cell, "ending"',
        'if self.ending and not self.awaited:\n            raise CellGone(self.cell, "ending"',
    ),
    frontier(
        "what comes after the end is heard", "case _ if self.phase is Phase.ENDED:", "case 0:"
    ),
    frontier("a freeze is not heard", "return self._end(CellOutcome.FROZEN)", "return []"),
    frontier(
        "a frozen cell is shown",
        "if self.ending and self.ending.outcome is CellOutcome.FROZEN:",
        "if False:",
        "looked at twice",
    ),
    frontier(
        "an interpreter outlives its cell",
        "orders = self._kill()\n        if",
        "orders: Orders = []\n        if",
    ),
    frontier(
        "an interpreter that is being loaded outlives its cell",
        "alive = self.live or self.phase is Phase.DELIVERING",
        "alive = self.live",
        "two deaths",
    ),
    frontier(
        "what was remembered before a frontier is forgotten",
        "self.values = merged(self.values, event.remembered)",
        "pass",
    ),
    frontier(
        "what was remembered last is forgotten",
        "self.values = merged(self.values, remembered)",
        "pass",
    ),
    frontier(
        "a cell that fails commits",
        "return [*orders, *self._store_for(Phase.ENDED)]",
        "*_, store = self._store_for(Phase.ENDED)\n"
        "        return [*orders, Commit(self.record, self.values)]",
    ),
    frontier(
        "a cell that completes commits nothing",
        "return [*orders, Commit(self.record, self.values)]",
        "return [*orders, _]",
    ),
    frontier(
        "what could not be committed completes",
        "CellOutcome.COMPLETED and not durable:",
        "CellOutcome.COMPLETED and False:",
    ),
    frontier(
        "an end is told before it is stored",
        "return [*orders, *self._store_for(Phase.ENDED)]",
        "return [*orders, *self._store_for(Phase.ENDED), End(self.ending, durable=True)]",
    ),
    frontier(
        "an end that was not stored is called durable",
        "return [End(ending, durable=durable)]",
        "return [End(ending, durable=True)]",
    ),
)

CONTINUING = (
    frontier(
        "a call is handed out before it is stored",
        'if self.kind == "continuing" and not event.made:',
        'if self.kind == "continuing":',
        "calls go wrong",
    ),
    frontier(
        "a call is handed out twice",
        "new = new_in(arrived, self.frontier)",
        "new = arrived.pending",
        "ended in any order",
    ),
    frontier(
        "a pausable cell makes its calls by itself",
        'if self.kind == "pausable":\n            return [Stand(arrived)]',
        "",
    ),
    frontier(
        "a continuing cell can be resumed",
        'if self.kind == "continuing":\n            raise',
        "if False:\n            raise",
        "calls go wrong",
    ),
    frontier(
        "a result that came while the program ran is forgotten",
        "self.ready += results",
        "self.ready = results",
        "ended in any order",
    ),
    frontier(
        "a result that came while the program ran is not delivered",
        "*hand_out, *self._answer_what_ended()]",
        "*hand_out]",
        "a muddle",
    ),
    frontier(
        "a result that nobody waits for is delivered",
        "for result in self.ready if result.call in waits)",
        "for result in self.ready)",
        "a muddle",
    ),
    frontier(
        "a result that never was is taken",
        "if len(ended) < len(results):",
        "if 0:",
        "calls go wrong",
    ),
    frontier(
        "a delivery is tried for ever",
        'if self.kind == "continuing" and not self.live:',
        "if False:",
        "calls go wrong",
    ),
    frontier(
        "calls outlive their cell",
        "if self.going:\n            orders",
        "if False:\n            orders",
        "calls go wrong",
    ),
    frontier(
        "calls that may have executed are not named",
        "doubtful or self.going or making)",
        "doubtful or making)",
        "calls go wrong",
    ),
    frontier(
        "what could not be committed forgets its calls",
        "error=why, doubtful=ending.may_have_executed)",
        "error=why)",
        "calls go wrong",
    ),
)

OBSERVERS = (
    outlet("a second observer displaces the first", "if self.observer is not None:", "if False:"),
    outlet("a stranger ends an observation", "if observer != self.observer:", "if False:"),
    outlet("what did not arrive is gone", "self.shown if delivered else 0 :", "self.shown :"),
    outlet("what arrived is given again", "self.shown if delivered else 0 :", "0 :"),
    outlet(
        "what was printed meanwhile is gone",
        "return Outlet(self.pieces[self.shown if delivered else 0 :])",
        "return Outlet(() if delivered else self.pieces)",
    ),
    outlet("output comes backwards", "(*self.pieces, text)", "(text, *self.pieces)"),
    frontier(
        "looking at a frontier takes it away",
        "self.outlet = self.outlet.begun(self.cell, observer)",
        "self.outlet, self.resolved = self.outlet.begun(self.cell, observer), self.pending",
        "looked at twice",
    ),
    frontier(
        "an end can be seen before it is stored",
        "ending = None if self.awaited else self.ending",
        "ending = self.ending",
        "looked at twice",
    ),
    frontier(
        "what was given is not stored",
        "self.unsaved = self.unsaved or self.outlet.pieces != before.pieces",
        "pass",
        "looked at twice",
    ),
    frontier(
        "what was given is stored with what may fail",
        "return self._store() if self.unsaved and not self.awaited else []",
        "return self._store() if self.unsaved else []",
        "looked at as it fails",
    ),
    frontier(
        "what was given meanwhile is never stored",
        "[*orders, *(self._store() if self.unsaved and not self.awaited else [])]",
        "orders",
        "looked at twice",
    ),
)

RESTARTS = (
    frontier(
        "that a resume was begun is not in the record",
        "{Phase.ARRIVING, Phase.PAUSED, Phase.RETURNING}",
        "{Phase.ARRIVING, Phase.PAUSED, Phase.RETURNING, Phase.BEGINNING}",
        "two deaths",
    ),
    frontier(
        "that a resume did not arrive is not in the record",
        "{Phase.ARRIVING, Phase.PAUSED, Phase.RETURNING}",
        "{Phase.ARRIVING, Phase.PAUSED}",
        "two deaths",
    ),
    frontier(
        "a record has the frontier before",
        "at, left = self.arriving or self.frontier,",
        "at, left = self.frontier,",
        "two deaths",
    ),
    frontier(
        "a restart finds what was consumed",
        "if record.paused:",
        "if record.paused or record.frontier:",
        "two deaths",
    ),
    frontier("a restart loses what was paused", "if record.paused:", "if False:", "two deaths"),
    frontier(
        "a restart wakes the dead", "if record.ending is not None:", "if False:", "two deaths"
    ),
    frontier(
        "a restart names nothing",
        "error=why, doubtful=record.doubtful)",
        "error=why)",
        "two deaths",
    ),
    frontier(
        "a record names the calls that ended, not those that go",
        "doubtful = self.resolved if pausable else handed",
        "doubtful = self.resolved",
        "a death among calls",
    ),
    frontier(
        "a restart gives output again that was given, or none",
        "Outlet(record.output), record.values",
        "Outlet(), record.values",
        "two deaths",
    ),
    frontier(
        "a restart forgets what was remembered",
        "Outlet(record.output), record.values",
        "Outlet(record.output), ()",
        "two deaths",
    ),
    frontier(
        "a restart counts its records from the beginning",
        "machine.version, machine.frontier = record.version, record.frontier",
        "machine.frontier = record.frontier",
        "two deaths",
    ),
)

ALL = RESUMES + ENDS + CONTINUING + OBSERVERS + RESTARTS
