"""Ways to break a cell's machine, each of which its explorer has to find; as in `mutations.py`."""

from __future__ import annotations

from tests.mutations.changes import Change, always, dropped, forgotten, instead, never, without
from tests.mutations.mutation import Mutation


def frontier(name: str, function: str, change: Change, found: str = "things go wrong") -> Mutation:
    """A mistake, and the bounds in which it has to be found."""
    return Mutation(name, f"core.frontier:CellMachine.{function}", change, found)


def pending(name: str, function: str, change: Change, found: str = "things go wrong") -> Mutation:
    return Mutation(name, f"core.pending:{function}", change, found)


RESUMES = (
    frontier(
        "a frontier is shown before it is stored",
        "_reached",
        instead("self._store_for(CellPhase.ARRIVING)", "[*self._store(), *self._stand(arriving)]"),
    ),
    frontier("a frontier that was not stored is shown", "_stored_or_not", without("durable")),
    frontier(
        "a resume is delivered before it is stored",
        "_resume",
        instead("self._store_for(CellPhase.BEGINNING)", "[*self._store(), *self._deliver()]"),
    ),
    frontier(
        "a resume that was not stored is delivered", "_stored_or_not", always("durable", nth=2)
    ),
    frontier(
        "a resume that may have been stored is not taken back",
        "_stored_or_not",
        instead(
            "return self._give_back()",
            "self.phase = CellPhase.PAUSED\nreturn [NotResumed(self.generation)]",
        ),
        "two deaths",
    ),
    frontier(
        "a frontier is back before the store has it",
        "_give_back",
        instead(
            "return self._store_for(CellPhase.RETURNING)",
            "self.phase = CellPhase.PAUSED\nreturn [NotResumed(self.generation)]",
        ),
    ),
    frontier(
        "a resume that did not arrive consumes its frontier",
        "_delivery_failed",
        instead("self._give_back()", 'self._lost("it did not arrive")'),
    ),
    frontier(
        "a resume that did not arrive is delivered again, unasked",
        "_delivery_failed",
        always("kind", nth=1),
    ),
    frontier(
        "a resume is called one before it is delivered",
        "_deliver",
        instead(
            "[Deliver(self.generation, self.results, reload=not self.live)]",
            "[Resumed(self.generation), "
            "Deliver(self.generation, self.results, reload=not self.live)]",
        ),
    ),
    frontier(
        "nobody is told that a resume was delivered and nothing runs",
        "_delivered",
        instead("CellPhase.RUNNING", "CellPhase.PAUSED"),
    ),
    frontier(
        "an interpreter that is gone is given the results",
        "_deliver",
        instead("not self.live", "False"),
    ),
    frontier("the loss of an interpreter is forgotten", "_runtime_lost", forgotten("live")),
    frontier(
        "a loss during a delivery is no loss",
        "_runtime_lost",
        instead("{CellPhase.RUNNING, CellPhase.DELIVERING}", "{CellPhase.RUNNING}"),
    ),
    frontier(
        "a loss at a frontier loses the cell",
        "_runtime_lost",
        instead(
            "{CellPhase.RUNNING, CellPhase.DELIVERING}",
            "{CellPhase.RUNNING, CellPhase.DELIVERING, CellPhase.PAUSED}",
        ),
    ),
    frontier(
        "a loss names nothing",
        "_lost",
        instead('self.resolved if self.kind == "pausable" else self.going', "()"),
    ),
    frontier(
        "a cell is started that is not stored",
        "_stored_or_not",
        instead(
            'self._started() if durable else self._failed("it could not be stored")',
            "self._started()",
        ),
    ),
    frontier(
        "the frontier of a running cell can be read",
        "pending",
        instead('{"running", "ended"}', '{"ended"}'),
    ),
    pending(
        "a stale resume is taken",
        "must_be_current",
        instead("asked < current", "asked < current - 1"),
    ),
    pending(
        "a future resume is taken",
        "must_be_current",
        instead("asked > current", "asked > current + 1"),
    ),
    pending("two resumes of one frontier are taken", "must_be_current", never("stands")),
    pending("a result is taken twice", "must_fit", without("count")),
    pending("a result for an unknown call is taken", "must_fit", without("pending")),
    pending(
        "a resume with nothing in it is taken", "must_fit", instead("wrong or not ids", "wrong")
    ),
    pending(
        "an answered call is asked for again",
        "following",
        instead("(call for call in known if call not in resolved)", "(call for call in known)"),
        "answered in parts",
    ),
    pending(
        "a call that nobody waits for is listed",
        "following",
        instead(
            "(call for call in unresolved if call.id in reached.waits)",
            "(call for call in unresolved)",
        ),
        "answered in parts",
    ),
    pending(
        "a wait that nobody can settle is a frontier",
        "following",
        instead(
            "Frontier(number, pending, reached.output, reached.dump) if pending else None",
            "Frontier(number, pending, reached.output, reached.dump)",
        ),
    ),
    pending(
        "a number is left out",
        "following",
        instead("number_of(before) + 1", "number_of(before) + 2"),
    ),
    pending(
        "a number comes twice",
        "following",
        instead("number_of(before) + 1", "max(number_of(before), 1)"),
    ),
    pending("two calls have one id", "following", never("known")),
)

ENDS = (
    frontier("a second terminate is taken", "apply", dropped("_must_not_have_ended")),
    frontier(
        "a cell that is ending can be ended again",
        "_must_not_have_ended",
        instead(
            'raise CellGone(self.cell, "ending" if self.awaited else self.ending.outcome)',
            "if not self.awaited:\n    raise CellGone(self.cell, self.ending.outcome)",
        ),
    ),
    frontier("what comes after the end is heard", "apply", never("phase")),
    frontier("a freeze is not heard", "apply", instead("self._end(CellOutcome.FROZEN)", "[]")),
    frontier("a frozen cell is shown", "_observe", never("ending"), "looked at twice"),
    frontier(
        "an interpreter outlives its cell",
        "_end",
        instead("orders = self._kill()", "orders: Orders = []"),
    ),
    frontier(
        "an interpreter that is being loaded outlives its cell",
        "_kill",
        without("phase"),
        "two deaths",
    ),
    frontier("what was remembered before a frontier is forgotten", "_reached", forgotten("values")),
    frontier("what was remembered last is forgotten", "_completed", forgotten("values")),
    frontier(
        "a cell that fails commits",
        "_end",
        instead(
            "return [*orders, *self._store_for(CellPhase.ENDED)]",
            "*_, store = self._store_for(CellPhase.ENDED)\n"
            "return [*orders, Commit(self.record, self.values)]",
        ),
    ),
    frontier(
        "a cell that completes commits nothing",
        "_completed",
        instead("Commit(self.record, self.values)", "_"),
    ),
    frontier("what could not be committed completes", "_ended", instead("not durable", "False")),
    frontier(
        "an end is told before it is stored",
        "_end",
        instead(
            "[*orders, *self._store_for(CellPhase.ENDED)]",
            "[*orders, *self._store_for(CellPhase.ENDED), EndCell(self.ending, durable=True)]",
        ),
    ),
    frontier(
        "an end that was not stored is called durable",
        "_ended",
        instead("EndCell(ending, durable=durable)", "EndCell(ending, durable=True)"),
    ),
)

CONTINUING = (
    frontier(
        "a call is handed out before it is stored", "_reached", without("made"), "calls go wrong"
    ),
    frontier(
        "a call is handed out twice",
        "_stand",
        instead("new_in(arrived, self.frontier)", "arrived.pending"),
        "ended in any order",
    ),
    frontier("a pausable cell makes its calls by itself", "_stand", never("kind")),
    frontier("a continuing cell can be resumed", "_resume", never("kind"), "calls go wrong"),
    frontier(
        "a result that came while the program ran is forgotten",
        "_calls_ended",
        instead("self.ready += results", "self.ready = results"),
        "ended in any order",
    ),
    frontier(
        "a result that came while the program ran is not delivered",
        "_stand",
        instead(
            "[Stand(arrived), *hand_out, *self._answer_what_ended()]", "[Stand(arrived), *hand_out]"
        ),
        "a muddle",
    ),
    frontier(
        "a result that nobody waits for is delivered",
        "_answer_what_ended",
        instead(
            "(result for result in self.ready if result.call in waits)",
            "(result for result in self.ready)",
        ),
        "a muddle",
    ),
    frontier("a result that never was is taken", "_calls_ended", never("ended"), "calls go wrong"),
    frontier("a delivery is tried for ever", "_delivery_failed", never("live"), "calls go wrong"),
    frontier("calls outlive their cell", "_end", never("going"), "calls go wrong"),
    frontier(
        "calls that may have executed are not named", "_end", without("going"), "calls go wrong"
    ),
    frontier(
        "what could not be committed forgets its calls",
        "_ended",
        instead(
            "self._end(CellOutcome.FAILED, error=why, doubtful=ending.may_have_executed)",
            "self._end(CellOutcome.FAILED, error=why)",
        ),
        "calls go wrong",
    ),
)
