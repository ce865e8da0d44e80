"""What waits for a person is answered once, by the first, to what was seen, or withdrawn."""

import pytest

from lastword.core.asks import Answer, AnswerGiven, Ask, AskEnd, AskMachine, Opened, RunOver
from lastword.core.model import CallId, RunId, SessionId
from lastword.errors import AlreadyAnswered, QuestionWithdrawn, StaleAnswer, UnknownQuestion
from tests.core.asks_alphabet import BOUNDS, explore_asks

YES = Answer(allowed=True, by="ann")


def ask(id_: str = "q") -> Ask:
    return Ask(id_, SessionId("s"), 3, CallId("s#1.1"), "shell", "make", run=RunId("s#1"))


@pytest.mark.scenario("W19", part="agent")
@pytest.mark.parametrize("bounds", BOUNDS)
def test_whatever_waits_has_one_end_whatever_happens_in_whatever_order(bounds: str) -> None:
    explored = explore_asks(bounds)

    assert explored.states > 50
    assert explored.refused > 50


@pytest.mark.scenario("W19", part="agent")
def test_an_answer_that_is_not_taken_says_why() -> None:
    machine = AskMachine()
    with pytest.raises(UnknownQuestion, match="no question q"):
        machine.apply(AnswerGiven("q", 3, YES))
    machine.apply(Opened(ask()))
    with pytest.raises(StaleAnswer, match="asked at generation 3"):
        machine.apply(AnswerGiven("q", 4, YES))
    with pytest.raises(QuestionWithdrawn, match="came too late"):
        machine.apply(AnswerGiven("q", 3, YES, current=False))
    assert machine.apply(AnswerGiven("q", 3, YES)) == [AskEnd(ask(), YES)]
    with pytest.raises(AlreadyAnswered, match="that answer holds"):
        machine.apply(AnswerGiven("q", 3, YES))
    machine.apply(Opened(ask("r")))
    assert machine.apply(RunOver(RunId("s#1"))) == [AskEnd(ask("r"))]
    with pytest.raises(QuestionWithdrawn, match="came too late"):
        machine.apply(AnswerGiven("r", 3, YES))


def test_only_so_many_that_are_over_are_remembered() -> None:
    machine = AskMachine()
    for number in range(500):
        machine.apply(Opened(ask(f"q{number}")))
        machine.apply(AnswerGiven(f"q{number}", 3, YES))

    assert len(machine.closed) == 200
    with pytest.raises(UnknownQuestion):
        machine.apply(AnswerGiven("q0", 3, YES))
