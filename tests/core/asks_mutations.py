"""Ways to break the machine of what waits, each of which its explorer has to find."""

from __future__ import annotations

from tests.mutations.changes import Change, dropped, instead, never, without
from tests.mutations.mutation import Mutation


def asks(name: str, function: str, change: Change, found: str) -> Mutation:
    return Mutation(name, f"core.asks:AskMachine.{function}", change, found)


ASK_MUTATIONS = (
    asks("an answer is taken after the fence", "_answered", never("current"), "runs"),
    asks("a run asks after its fence", "_open", never("current"), "runs"),
    asks("an answer to another generation is taken", "_answered", never("generation"), "runs"),
    asks("an ask is answered twice", "_answered", dropped("_close"), "runs"),
    asks(
        "what was closed is open again",
        "_open",
        instead("ask.id not in self.closed", "True"),
        "runs",
    ),
    asks(
        "a question outlives its run",
        "apply",
        instead("run in (ask.run, *ask.above)", "False"),
        "runs",
    ),
    asks(
        "a question outlives the run above it",
        "apply",
        instead("(ask.run, *ask.above)", "(ask.run,)"),
        "runs",
    ),
    asks(
        "a stop withdraws what others ask",
        "apply",
        instead("run in (ask.run, *ask.above)", "True"),
        "runs",
    ),
    asks("what is given up stays open", "apply", instead("ask.id == id_", "False"), "runs"),
    asks(
        "a late answer is not told what became of it",
        "_close",
        instead("{**self.closed, ask.id: (kind, why)}", "dict(self.closed)"),
        "runs",
    ),
    asks("two messages answer one frontier", "must_take", without("promised"), "programs"),
    asks(
        "a program is answered where it does not stand", "must_take", without("stands"), "programs"
    ),
    asks("a program that has ended is answered", "must_take", without("outcome"), "programs"),
    asks("what came to nothing is not given back", "apply", dropped("_give_back"), "programs"),
    asks(
        "what was heard before is heard again",
        "_stood",
        instead("record.version <= before.version", "False"),
        "programs",
    ),
    asks(
        "a message that was promised is forgotten when its program is told anew",
        "_stood",
        instead("replace(now, promised=before.promised)", "now"),
        "programs",
    ),
    asks(
        "a promise outlives its frontier",
        "_stood",
        instead("number_of(now.frontier) == number_of(before.frontier)", "True"),
        "programs",
    ),
    asks("a promise outlives its delivery", "_stood", without("stands"), "programs"),
    asks(
        "a message that is heard twice is refused",
        "_promised",
        instead("program is None or program.promised != message", "True"),
        "programs",
    ),
    asks(
        "what is being answered is shown as open",
        "open",
        instead("one.stands and not one.promised", "one.stands"),
        "programs",
    ),
    asks(
        "a program that goes on is shown as open",
        "open",
        instead("one.stands and not one.promised", "not one.promised"),
        "programs",
    ),
    asks(
        "what the store has no more is still open",
        "_found",
        instead("cell in there", "True"),
        "programs",
    ),
    asks(
        "the end of a run ends what a program waits on",
        "apply",
        instead("self._give_back(messages)", "self._found(SessionId('s'), ())"),
        "both",
    ),
)
