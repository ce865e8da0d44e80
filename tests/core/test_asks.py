"""What waits for a person is answered once, by the first, to what was seen, or withdrawn."""

import itertools

import pytest

from lastword.core.asks import Ask, Asks
from lastword.core.model import Generation, RunId
from lastword.errors import (
    AlreadyAnswered,
    AnswerRefused,
    QuestionWithdrawn,
    StaleAnswer,
    UnknownQuestion,
)

ASK = Ask("q", RunId("s#1"), Generation(3))
STEPS = ("open", "answer", "stale", "late", "withdraw")


def step(asks: Asks, what: str) -> str:
    """One thing that happens, and what came of it."""
    try:
        match what:
            case "open":
                asks.open(ASK)
            case "withdraw":
                return "withdrawn" if asks.withdraw("q") else "nothing"
            case _:
                asks.answer("q", 2 if what == "stale" else 3, current=what != "late")
                return "answered"
    except AnswerRefused as error:
        return type(error).__name__
    return "opened"


@pytest.mark.scenario("W19", part="agent")
@pytest.mark.parametrize("steps", list(itertools.product(STEPS[1:], repeat=4)))
def test_an_ask_has_one_end_whatever_happens_in_whatever_order(steps: tuple[str, ...]) -> None:
    asks = Asks()
    asks.open(ASK)
    came = [step(asks, what) for what in steps]

    ends = [one for one in came if one in ("answered", "withdrawn")]
    # an answer of a run that may not act ends it too, as withdrawn, and is refused
    at = next((n for n, what in enumerate(steps) if what != "stale"), None)
    assert len(ends) <= 1
    assert ("q" in asks) == (at is None)
    if at is not None:
        first = {"answer": "answered", "late": "QuestionWithdrawn", "withdraw": "withdrawn"}
        assert came[at] == first[steps[at]]
        why = "AlreadyAnswered" if steps[at] == "answer" else "QuestionWithdrawn"
        later = zip(steps[at + 1 :], came[at + 1 :], strict=True)
        assert all(told == ("nothing" if what == "withdraw" else why) for what, told in later)


@pytest.mark.scenario("W19", part="agent")
def test_an_answer_that_is_not_taken_says_why() -> None:
    asks = Asks()
    with pytest.raises(UnknownQuestion, match="no question q"):
        asks.answer("q", 3, current=True)
    asks.open(ASK)
    with pytest.raises(StaleAnswer, match="asked at generation 3"):
        asks.answer("q", 4, current=True)
    assert asks.answer("q", 3, current=True) == ASK
    with pytest.raises(AlreadyAnswered, match="that answer holds"):
        asks.answer("q", 3, current=True)
    asks.open(ASK)
    with pytest.raises(QuestionWithdrawn, match="came too late"):
        asks.answer("q", 3, current=False)
