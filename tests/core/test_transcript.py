"""What the model is shown is what the person saw of what happened, and valid at any instant."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastword.core.model import (
    CallId,
    Generation,
    Message,
    MessageId,
    Outcome,
    Reason,
    RunId,
    SessionId,
    Status,
)
from lastword.core.receipt import Receipt
from lastword.core.transcript import (
    Began,
    Called,
    Entry,
    Finished,
    Result,
    Said,
    Shown,
    Text,
    build,
)

R1, R2 = RunId("r1"), RunId("r2")
STOPPED = "The person stopped this answer here. Do not resume it unless they ask."
OVERTAKEN = "The person's next message took over here. The rest was left undone."


def said(name: str, run: RunId, text: str = "") -> Said:
    return Said(Message(MessageId(name), text or f"text of {name}"), run)


def began(run: RunId, *names: str) -> Began:
    return Began(run, Generation(1), tuple(map(MessageId, names)))


def called(run: RunId, call: str) -> Called:
    return Called(run, CallId(call), "tool", "{}")


def result(run: RunId, call: str, status: Status, content: str = "") -> Result:
    return Result(run, CallId(call), status, content)


def finished(
    run: RunId,
    outcome: Outcome,
    *names: str,
    started: bool = True,
    rollback: bool = False,
    error: str = "",
) -> Finished:
    return Finished(run, outcome, tuple(map(MessageId, names)), started, rollback, error)


def plain(shown: tuple[Shown, ...]) -> list[tuple[str, str]]:
    return [(item.role, item.text) for item in shown]


STORY: tuple[Entry, ...] = (
    said("one", R1),
    began(R1, "one"),
    Text(R1, "I will look"),
    called(R1, "c1"),
    called(R1, "c2"),
    result(R1, "c1", Status.COMPLETED, "found"),
    said("steer", RunId("r-steer")),
    began(R1, "steer"),
    called(R1, "c3"),
    said("two", R2),
    result(R1, "c2", Status.MAY_HAVE_EXECUTED),
    result(R1, "c3", Status.NOT_STARTED),
    finished(R1, Outcome.STOPPED, "one", "steer"),
    Receipt(SessionId("s"), Generation(2), Reason.STOPPED, 0.0, runs=(R1,)),
    began(R2, "two"),
    result(R1, "c2", Status.COMPLETED, "too late"),
    Text(R2, "Good."),
    finished(R2, Outcome.COMPLETED, "two"),
)
TAKEN_BACK: tuple[Entry, ...] = (
    said("one", R1),
    began(R1, "one"),
    Text(R1, "Sending"),
    called(R1, "c1"),
    called(R1, "c2"),
    called(R1, "c3"),
    result(R1, "c1", Status.COMPLETED, "sent"),
    result(R1, "c3", Status.NOT_STARTED),
    finished(R1, Outcome.SUPERSEDED, "one", rollback=True),
    said("two", R2),
    began(R2, "two"),
)


def test_an_interrupted_turn_is_shown_as_far_as_it_was_seen_and_marked() -> None:
    shown = build(STORY)

    assert plain(shown) == [
        ("user", "text of one"),
        ("assistant", "I will look"),
        ("call", "{}"),
        ("result", "found"),
        ("call", "{}"),
        ("result", "[may have executed]"),
        ("user", "text of steer"),
        ("call", "{}"),
        ("result", "[not started]"),
        ("note", STOPPED),
        ("user", "text of two"),
        ("assistant", "Good."),
    ]


@pytest.mark.parametrize(
    ("end", "note"),
    [
        (finished(R1, Outcome.STOPPED, "one"), STOPPED),
        (finished(R1, Outcome.SUPERSEDED, "one"), OVERTAKEN),
        (finished(R1, Outcome.FAILED, "one", error="no net"), "This answer failed here: no net"),
        (
            finished(R1, Outcome.LOST, "one"),
            "This answer was cut off here (lost); it is not known to be complete.",
        ),
    ],
)
def test_an_interrupted_turn_says_why(end: Finished, note: str) -> None:
    shown = build([said("one", R1), began(R1, "one"), Text(R1, "half an"), end])

    assert plain(shown) == [("user", "text of one"), ("assistant", "half an"), ("note", note)]


def test_a_turn_that_completed_is_not_marked() -> None:
    log = [said("one", R1), began(R1, "one"), finished(R1, Outcome.COMPLETED, "one")]

    assert plain(build(log)) == [("user", "text of one")]


def test_the_text_of_an_interrupted_turn_can_be_left_out_but_not_its_calls() -> None:
    roles = [item.role for item in build(STORY, partial="omitted")]

    assert plain(build(STORY, partial="omitted"))[-1] == ("assistant", "Good.")
    assert roles.count("assistant") == 1
    assert roles.count("call") == roles.count("result") == 3
    assert ("note", STOPPED) in plain(build(STORY, partial="omitted"))


def test_a_turn_that_was_rolled_back_leaves_only_a_note_of_what_it_did() -> None:
    note = (
        "An answer was taken back, but it had called: tool (completed), tool (may have executed)."
    )

    assert plain(build(TAKEN_BACK)) == [("note", note), ("user", "text of two")]


def test_a_turn_that_was_rolled_back_and_did_nothing_leaves_nothing() -> None:
    log = [
        said("one", R1),
        began(R1, "one"),
        Text(R1, "Well"),
        called(R1, "c1"),
        result(R1, "c1", Status.NOT_STARTED),
        finished(R1, Outcome.SUPERSEDED, "one", rollback=True),
    ]

    assert build(log) == ()


def test_a_turn_that_was_rolled_back_before_it_started_is_not_shown_either() -> None:
    log = [
        said("one", R1),
        finished(R1, Outcome.SUPERSEDED, "one", started=False, rollback=True),
        said("two", R2),
        began(R2, "two"),
    ]

    assert plain(build(log)) == [("user", "text of two")]


@pytest.mark.parametrize("outcome", [Outcome.STOPPED, Outcome.WITHDRAWN, Outcome.SHUTDOWN])
def test_a_message_that_was_stopped_before_its_turn_is_not_shown(outcome: Outcome) -> None:
    log = [said("one", R1), finished(R1, outcome, "one", started=False)]

    assert build(log) == ()


def test_a_message_that_was_overtaken_before_its_turn_is_context_for_what_overtook_it() -> None:
    log = [
        said("one", R1),
        finished(R1, Outcome.SUPERSEDED, "one", started=False),
        said("two", R2),
        began(R2, "two"),
    ]

    assert plain(build(log)) == [("user", "text of one"), ("user", "text of two")]


def test_a_message_that_was_edited_while_it_waited_reads_anew() -> None:
    log = [said("one", R1), said("one", R1, "better words"), began(R1, "one")]

    assert plain(build(log)) == [("user", "better words")]


def test_what_is_still_waiting_is_not_shown() -> None:
    assert build([said("one", R1)]) == ()


def test_a_second_result_that_comes_late_is_ignored() -> None:
    log = [
        said("one", R1),
        began(R1, "one"),
        called(R1, "c1"),
        result(R1, "c1", Status.MAY_HAVE_EXECUTED),
        result(R1, "c1", Status.COMPLETED, "done after all"),
    ]

    assert [item.text for item in build(log) if item.role == "result"] == ["[may have executed]"]


@pytest.mark.parametrize("log", [STORY, TAKEN_BACK], ids=["stopped", "rolled back"])
@pytest.mark.parametrize("partial", ["shown", "omitted"])
def test_every_call_has_one_result_behind_it_wherever_the_log_is_cut(
    log: tuple[Entry, ...], partial: str
) -> None:
    for end in range(len(log) + 1):
        shown = build(log[:end], "omitted" if partial == "omitted" else "shown")

        assert is_valid(shown), end


RUNS = [R1, R2]
entries = st.one_of(
    st.builds(Text, st.sampled_from(RUNS), st.sampled_from(["", "words"])),
    st.builds(called, st.sampled_from(RUNS), st.sampled_from(["c1", "c2", "c3"])),
    st.builds(
        result,
        st.sampled_from(RUNS),
        st.sampled_from(["c1", "c2", "c3"]),
        st.sampled_from([Status.COMPLETED, Status.NOT_STARTED, Status.MAY_HAVE_EXECUTED]),
        st.just("content"),
    ),
    st.builds(
        finished,
        st.sampled_from(RUNS),
        st.sampled_from(Outcome),
        st.sampled_from(["one", "two"]),
        started=st.booleans(),
        rollback=st.booleans(),
    ),
)


@settings(deadline=None)
@given(st.lists(entries, max_size=20))
def test_every_call_has_one_result_behind_it_whatever_was_logged(rest: list[Entry]) -> None:
    opening = [said("one", R1), began(R1, "one"), said("two", R2), began(R2, "two")]
    log = opening + [e for i, e in enumerate(rest) if not (isinstance(e, Called) and e in rest[:i])]

    assert all(is_valid(build(log[:end])) for end in range(len(log) + 1))


def is_valid(shown: tuple[Shown, ...]) -> bool:
    """Whether a strict provider takes it: one result for each call, and directly behind it."""
    followed = all(
        (before.role == "call") == (after.role == "result")
        and (before.role != "call" or before.call == after.call)
        for before, after in pairwise(shown)
    )
    calls = [item.role for item in shown]
    return followed and calls.count("call") == calls.count("result") and calls[:1] != ["result"]
