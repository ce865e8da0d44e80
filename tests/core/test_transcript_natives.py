"""What only an engine reads is given back to it whole, or not at all."""

from __future__ import annotations

import pytest

from lastword.core.entries import Called, Entry, Native, Note, Result, Text, Thinking
from lastword.core.model import CallId, Outcome, RunId, Status
from lastword.core.transcript import build
from tests.core.stories import began, finished, said

R1 = RunId("r1")
SIGNED = Native("mine", "signature")
WHOLE: tuple[Entry, ...] = (
    said("one", R1),
    began(R1, "one"),
    Thinking(R1, "well"),
    Thinking(R1, ", well", SIGNED),
    Text(R1, "I will "),
    Text(R1, "look", Native("mine", "text")),
    Called(R1, CallId("c1"), "tool", "{}", native=Native("mine", "call")),
    Result(R1, CallId("c1"), Status.COMPLETED, "found", native=Native("mine", "result")),
    Thinking(R1, "", SIGNED),
    Text(R1, "Found."),
)


def test_a_turn_that_completed_is_given_back_as_it_was_with_its_natives() -> None:
    shown = build([*WHOLE, finished(R1, Outcome.COMPLETED, "one")])

    assert [(item.role, item.text, item.native and item.native.data) for item in shown[1:]] == [
        ("thinking", "well, well", "signature"),
        ("assistant", "I will look", "text"),
        ("call", "{}", "call"),
        ("result", "found", "result"),
        ("thinking", "", "signature"),
        ("assistant", "Found.", None),
    ]


@pytest.mark.parametrize("outcome", [*(o for o in Outcome if o is not Outcome.COMPLETED), None])
def test_of_a_turn_that_did_not_complete_nothing_native_is_given_back(
    outcome: Outcome | None,
) -> None:
    ends = [finished(R1, outcome, "one")] if outcome else []
    shown = build([*WHOLE, *ends])

    assert [item.native for item in shown if item.native] == []
    assert [(item.role, item.text) for item in shown[1:5]] == [
        ("assistant", "I will look"),
        ("call", "{}"),
        ("result", "found"),
        ("assistant", "Found."),
    ]


@pytest.mark.parametrize(
    "broken",
    [
        (Thinking(R1, "cut"),),
        (Thinking(R1, "led to nothing", SIGNED),),
        (Thinking(R1, "led to a blank", SIGNED), Text(R1, " ", SIGNED)),
        (Thinking(R1, "was broken"), Note(R1, "by the way"), Thinking(R1, " off", SIGNED)),
    ],
)
def test_thinking_that_is_not_whole_takes_the_natives_of_its_turn_with_it(
    broken: tuple[Entry, ...],
) -> None:
    shown = build([*WHOLE, *broken, finished(R1, Outcome.COMPLETED, "one")])

    assert [item.native for item in shown if item.native or item.role == "thinking"] == []


def test_a_blank_that_is_nobodys_does_not_part_a_thinking_from_what_came_of_it() -> None:
    rest = [Thinking(R1, "so", SIGNED), Text(R1, "\n"), Called(R1, CallId("c2"), "tool", "{}")]
    shown = build([*WHOLE, *rest, finished(R1, Outcome.COMPLETED, "one")])

    assert [item.role for item in shown[-3:]] == ["thinking", "call", "result"]


@pytest.mark.parametrize("start", range(2, len(WHOLE)))
@pytest.mark.parametrize("steers", [[], [said("two", RunId("r2")), began(R1, "two")]])
def test_of_a_turn_whose_beginning_is_gone_nothing_native_is_given_back(
    start: int, steers: list[Entry]
) -> None:
    left = [*WHOLE[start:], *steers, finished(R1, Outcome.COMPLETED, "one")]

    assert [item.native for item in build(left) if item.native] == []
