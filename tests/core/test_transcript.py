"""What the model is shown is what the person saw of what happened, and how it ended."""

from __future__ import annotations

import json

import pytest

from lastword.core.entries import (
    Called,
    Entry,
    Finished,
    Note,
    Result,
    Said,
    Summary,
    Text,
    Thinking,
)
from lastword.core.model import (
    Attachment,
    CallId,
    Message,
    MessageId,
    Outcome,
    RunId,
    Status,
)
from lastword.core.shown import Shown
from lastword.core.transcript import build
from tests.core.stories import began, called, finished, result, said, stopped

R1, R2 = RunId("r1"), RunId("r2")
STOPPED = "The person stopped this answer here. Do not resume it unless they ask."
OVERTAKEN = "The person's next message took over here. The rest was left undone."


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
    stopped(R1),
    began(R2, "two"),
    result(R1, "c2", Status.COMPLETED, "too late"),
    Text(R2, "Good."),
    finished(R2, Outcome.COMPLETED, "two"),
)
OPENING: tuple[Entry, ...] = (said("one", R1), began(R1, "one"))
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


@pytest.mark.scenario("X3")
def test_an_interrupted_turn_is_shown_as_far_as_it_was_seen_and_marked() -> None:
    shown = build(STORY)

    assert plain(shown) == [
        ("user", "text of one"),
        ("assistant", "I will look"),
        ("call", "{}"),
        ("call", "{}"),
        ("result", "found"),
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
        (finished(R1, Outcome.FAILED, "one", error="no net"), "This answer failed here."),
        (
            finished(R1, Outcome.FAILED, "one", error="no net at 8.8.8.8", kind="no net"),
            "This answer failed here: no net.",
        ),
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


@pytest.mark.scenario("X4")
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


@pytest.mark.scenario("X5")
def test_a_second_result_that_comes_late_is_ignored() -> None:
    log = [
        said("one", R1),
        began(R1, "one"),
        called(R1, "c1"),
        result(R1, "c1", Status.MAY_HAVE_EXECUTED),
        result(R1, "c1", Status.COMPLETED, "done after all"),
    ]

    assert [item.text for item in build(log) if item.role == "result"] == ["[may have executed]"]


def test_calls_that_were_intended_together_are_shown_together_and_others_are_not() -> None:
    done = Status.COMPLETED
    together = [called(R1, "c1"), called(R1, "c2"), result(R1, "c2", done), result(R1, "c1", done)]
    alone = [called(R1, "c3"), result(R1, "c3", done), called(R1, "c4"), Text(R1, "and")]
    shown = build([*OPENING, *together, *alone, called(R1, "c5")])

    assert [f"{item.role} {item.call or ''}" for item in shown[1:]] == [
        *("call c1", "call c2", "result c1", "result c2"),
        *("call c3", "result c3", "call c4", "result c4"),
        *("assistant ", "call c5", "result c5"),
    ]


def test_a_call_that_could_not_be_made_says_why() -> None:
    refused = result(R1, "c1", Status.NOT_STARTED, "PermissionError('no')")
    shown = build([*OPENING, called(R1, "c1"), refused])

    assert plain(shown)[-1] == ("result", "[not started] PermissionError('no')")
    assert (shown[-1].status, shown[-1].error) == (Status.NOT_STARTED, True)


def test_a_tool_that_raised_completed_with_an_error() -> None:
    raised = Result(R1, CallId("c1"), Status.COMPLETED, "ValueError('no')", error=True)
    shown = build([*OPENING, called(R1, "c1"), raised])

    assert plain(shown)[-1] == ("result", "ValueError('no')")
    assert (shown[-1].status, shown[-1].error) == (Status.COMPLETED, True)


def test_a_result_without_content_says_that_the_call_completed() -> None:
    shown = build([*OPENING, called(R1, "c1"), result(R1, "c1", Status.COMPLETED, " ")])

    assert plain(shown)[-1] == ("result", "[completed]")
    assert not shown[-1].error


def test_after_a_crash_the_model_is_told_what_may_have_executed_and_what_can_be_repeated() -> None:
    calls = [
        Called(R1, CallId("c1"), "pay", "{}"),
        Called(R1, CallId("c2"), "put", "{}", "idempotent"),
        Called(R1, CallId("c3"), "look", "{}", "read_only"),
        Called(R1, CallId("c4"), "rest", "{}"),
    ]
    never = result(R1, "c4", Status.NOT_STARTED)
    shown = build([*OPENING, *calls, never, finished(R1, Outcome.LOST, "one")])

    assert [item.text for item in shown if item.role == "result"] == [
        "[may have executed]",
        "[may have executed] It is idempotent, and can safely be called again.",
        "[may have executed] It only reads, and can safely be called again.",
        "[not started]",
    ]
    assert plain(shown)[-1] == (
        "note",
        "This answer was cut off here (lost); it is not known to be complete. These calls may have "
        "executed: pay, put (can safely be called again), look (can safely be called again).",
    )


def test_a_run_that_never_said_how_it_ended_was_lost_if_another_began() -> None:
    shown = build([*OPENING, Text(R1, "half an"), said("two", R2), began(R2, "two")])

    assert plain(shown)[1:] == [
        ("assistant", "half an"),
        ("note", "This answer was cut off here (lost); it is not known to be complete."),
        ("user", "text of two"),
    ]


def test_text_that_came_in_pieces_is_one() -> None:
    pieces = [Text(R1, "It is "), Text(R1, " "), Text(R1, "so. ")]

    assert plain(build([*OPENING, *pieces]))[1:] == [("assistant", "It is  so. ")]


@pytest.mark.parametrize("blank", ["", " ", "\n\n"])
def test_nothing_empty_is_shown(blank: str) -> None:
    log = [
        *OPENING,
        Text(R1, blank),
        Thinking(R1, blank),
        Note(R1, blank),
        Note(None, blank),
        finished(R1, Outcome.COMPLETED, "one"),
        Summary(blank, RunId("forgotten")),
    ]

    assert plain(build(log)) == [("user", "text of one")]


def test_a_message_without_words_is_still_a_message() -> None:
    photo = Message(MessageId("two"), "", attachments=(Attachment("image/png"),))
    empty = Message(MessageId("three"), " ")
    shown = build([Said(photo, R1), Said(empty, R1), began(R1, "two", "three")])

    assert plain(shown) == [("user", ""), ("user", "[empty message]")]
    assert [item.message for item in shown] == [photo, empty]


@pytest.mark.parametrize(
    "arguments", ["", "no json", "[1]", '{"x": 1', '{"x": NaN}', "[" * 20_000, '"text"']
)
def test_arguments_that_are_no_object_do_not_spoil_the_history(arguments: str) -> None:
    shown = build([*OPENING, Called(R1, CallId("c1"), "tool", arguments)])

    assert json.loads(shown[1].text) == {"arguments": arguments}


def test_a_note_stands_where_it_was_made_within_its_run_or_on_its_own() -> None:
    log = [
        *OPENING,
        Note(R1, "it is late"),
        Text(R1, "So it is."),
        finished(R1, Outcome.COMPLETED, "one"),
        Note(R1, "a process of it has ended"),
        Note(None, "the day has ended"),
    ]

    assert plain(build(log))[1:] == [
        ("note", "it is late"),
        ("assistant", "So it is."),
        ("note", "a process of it has ended"),
        ("note", "the day has ended"),
    ]


TWO_TURNS: tuple[Entry, ...] = (
    said("one", R1),
    began(R1, "one"),
    said("two", R2),
    Text(R1, "First."),
    finished(R1, Outcome.COMPLETED, "one"),
    began(R2, "two"),
    Text(R2, "Second."),
)


def test_a_summary_is_shown_in_place_of_the_turns_up_to_one() -> None:
    shown = build([*TWO_TURNS, Summary("One was answered.", R1), Text(R2, " And on.")])

    assert plain(shown) == [
        ("summary", "One was answered."),
        ("user", "text of two"),
        ("assistant", "Second. And on."),
    ]


def test_a_later_summary_replaces_an_earlier_one() -> None:
    log = [*TWO_TURNS, Summary("One.", R1), finished(R2, Outcome.COMPLETED), Summary("Both.", R2)]

    assert plain(build(log)) == [("summary", "Both.")]


def test_a_run_can_be_summed_up_while_it_goes_and_goes_on_behind_the_summary() -> None:
    summed_up = [*TWO_TURNS, called(R2, "c1"), Summary("Both, so far.", R2)]
    after = [result(R2, "c1", Status.COMPLETED, "x"), called(R2, "c2"), Text(R2, "Third.")]
    shown = build([*summed_up, *after, finished(R2, Outcome.STOPPED)])

    assert [(item.role, item.call or item.text) for item in shown] == [
        ("summary", "Both, so far."),
        ("call", "c2"),
        ("result", "c2"),
        ("assistant", "Third."),
        ("note", STOPPED),
    ]


def test_a_log_that_lost_what_was_summed_up_shows_the_summary_first() -> None:
    assert plain(build([*TWO_TURNS[5:], Summary("One was answered.", R1)])) == [
        ("summary", "One was answered."),
        ("assistant", "Second."),
    ]


def test_a_log_that_lost_its_beginning_says_so() -> None:
    log = [result(R1, "c1", Status.COMPLETED, "x"), Text(R1, "And so"), called(R1, "c2")]

    assert plain(build(log)) == [
        ("note", "The beginning of this conversation is not shown."),
        ("assistant", "And so"),
        ("call", "{}"),
        ("result", "[may have executed]"),
    ]


def test_a_run_that_ended_says_nothing_more() -> None:
    log = [*OPENING, finished(R1, Outcome.STOPPED, "one")]
    late = [Text(R1, "one more thing"), called(R1, "c9"), began(R1, "one"), *log]

    assert build([*log, *late]) == build(log)
