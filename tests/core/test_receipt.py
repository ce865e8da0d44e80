"""A receipt can be read by a person and by a program, and claims quiet only when it is so."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastword.core.model import (
    Attachment,
    CallId,
    Generation,
    Message,
    MessageId,
    Reason,
    RunId,
    SessionId,
    Status,
)
from lastword.core.receipt import ChildReport, MessageReport, Receipt, ToolReport, Unconfirmed

UNSEEN = (
    "cannot be seen: threads, tasks and processes that the engine started by itself, past the run"
)
IDLE = Receipt(SessionId("s"), Generation(4), Reason.STOPPED, fenced_at=1000.0)
PICTURE = Attachment("image/png", data="iVBOR=", name="cat.png")
FULL = Receipt(
    SessionId("s"),
    Generation(7),
    Reason.STOPPED,
    fenced_at=1000.5,
    took=0.25,
    runs=(RunId("r1"),),
    dropped=2,
    calls=(
        ToolReport(CallId("c1"), "search", Status.COMPLETED),
        ToolReport(CallId("c2"), "deploy", Status.MAY_HAVE_EXECUTED),
        ToolReport(CallId("c3"), "mail", Status.NOT_STARTED),
        ToolReport(CallId("c4"), "read", Status.COMPLETED),
    ),
    children=(ChildReport(SessionId("s/child"), RunId("r2"), "kept"),),
    messages=(
        MessageReport(
            Message(MessageId("m1"), "and\n a cat", "ann", "person", (PICTURE,)), "dropped"
        ),
        MessageReport(Message(MessageId("m2"), "later", origin="timer"), "paused"),
    ),
    unconfirmed=(Unconfirmed("tool", "deploy"), Unconfirmed("delivery", "telegram")),
    durable=False,
)


def test_a_receipt_of_an_idle_stop_is_falsy_and_says_so() -> None:
    assert not IDLE
    assert IDLE.quiet
    assert str(IDLE) == "Nothing was running in s."


@pytest.mark.parametrize("part", ["runs", "messages"])
def test_a_receipt_that_ended_something_is_true(part: str) -> None:
    assert replace(IDLE, **{part: getattr(FULL, part)})


def test_quiet_is_not_said_while_something_is_unconfirmed() -> None:
    assert not FULL.quiet
    assert replace(FULL, unconfirmed=()).quiet
    assert json.loads(FULL.to_json())["quiet"] is False


def test_the_tools_are_listed_by_what_became_of_them() -> None:
    names = {status: [call.name for call in calls] for status, calls in FULL.tools.items()}

    assert names == {
        Status.COMPLETED: ["search", "read"],
        Status.NOT_STARTED: ["mail"],
        Status.MAY_HAVE_EXECUTED: ["deploy"],
    }


def test_a_receipt_reads_as_one_line_when_there_is_little_to_say() -> None:
    receipt = replace(IDLE, runs=(RunId("r1"), RunId("r2")), reason=Reason.SUPERSEDED, took=0.0125)

    assert str(receipt) == (
        f"Replaced by a new message in s: 2 answers cut off, quiet after 12 ms.\n  {UNSEEN}"
    )


def test_a_receipt_names_everything_that_a_person_has_to_know() -> None:
    assert str(FULL) == (
        "Stopped s: 1 answer cut off, not all quiet yet.\n"
        "  still ending: tool deploy, delivery telegram\n"
        "  tools may have executed: deploy\n"
        "  tools not started: mail\n"
        "  tools completed: search, read\n"
        "  children: s/child kept\n"
        "  messages dropped: “and a cat”\n"
        "  messages waiting: “later”\n"
        "  refused after the stop: 2 effects\n"
        "  not stored yet: no new message is taken until it is\n"
        f"  {UNSEEN}"
    )


@pytest.mark.scenario("R25")
def test_what_a_person_is_told_in_a_chat_has_no_id_in_it() -> None:
    below = ChildReport(SessionId("s#1/1"), RunId("s#1/1#1"), "unconfirmed")
    dying = (
        Unconfirmed("run", "s#1"),
        Unconfirmed("child", "s#1/1"),
        Unconfirmed("tool", "deploy"),
    )
    receipt = replace(FULL, children=(below, *FULL.children), unconfirmed=dying)

    assert receipt.words.splitlines()[:2] == [
        "Stopped: 1 answer cut off, not all quiet yet.",
        "  still ending: run of this conversation, child run, tool deploy",
    ]
    assert "children: 1 unconfirmed, 1 kept" in receipt.words
    assert "s#1" not in receipt.words
    assert IDLE.words == "Nothing was running."
    for reason in Reason:
        assert str(receipt.session) in str(replace(receipt, reason=reason)).splitlines()[0]
        assert ", :" not in replace(receipt, reason=reason).words


@pytest.mark.scenario("R25")
def test_a_receipt_says_what_it_cannot_see_wherever_a_run_was_ended() -> None:
    assert UNSEEN in FULL.words
    assert UNSEEN in str(replace(FULL, unconfirmed=()))
    assert UNSEEN not in str(IDLE)


def test_a_long_message_is_quoted_in_short_and_kept_in_full() -> None:
    long = MessageReport(Message(MessageId("m"), "word " * 40), "dropped")
    receipt = replace(IDLE, messages=(long,))

    assert str(receipt) == (
        "Stopped s: 1 message that had not started, quiet after 0 ms.\n"
        f"  messages dropped: “{'word ' * 11}word…”"
    )
    assert Receipt.from_json(receipt.to_json()).messages[0].message.text == "word " * 40


async def test_a_receipt_that_is_quiet_has_nothing_to_wait_for() -> None:
    async def later() -> Receipt:
        return IDLE

    assert await FULL.settled() is FULL
    assert await replace(FULL, later=later).settled() is IDLE


words = st.text(max_size=8)
messages = st.builds(
    Message,
    st.builds(MessageId, words),
    words,
    by=words,
    origin=st.sampled_from(("person", "timer", "child")),
    attachments=st.builds(lambda *many: many, st.builds(Attachment, words, words, words, words)),
)
receipts = st.builds(
    Receipt,
    st.builds(SessionId, words),
    st.builds(Generation, st.integers(0)),
    st.sampled_from(Reason),
    st.floats(0, 1e10),
    took=st.floats(0, 1e3),
    runs=st.lists(st.builds(RunId, words), max_size=2).map(tuple),
    dropped=st.integers(0, 9),
    calls=st.lists(
        st.builds(ToolReport, st.builds(CallId, words), words, st.sampled_from(Status)), max_size=2
    ).map(tuple),
    children=st.lists(
        st.builds(
            ChildReport,
            st.builds(SessionId, words),
            st.builds(RunId, words),
            st.sampled_from(("ended", "kept", "unconfirmed")),
        ),
        max_size=2,
    ).map(tuple),
    messages=st.lists(
        st.builds(MessageReport, messages, st.sampled_from(("dropped", "paused"))), max_size=2
    ).map(tuple),
    unconfirmed=st.lists(
        st.builds(Unconfirmed, st.sampled_from(("run", "task", "delivery")), words), max_size=2
    ).map(tuple),
    durable=st.booleans(),
    later=st.none(),
)


def test_a_full_receipt_survives_json() -> None:
    back = Receipt.from_json(FULL.to_json())
    assert FULL.to_dict() == json.loads(FULL.to_json())

    assert back == FULL
    assert isinstance(back.reason, Reason)
    assert all(isinstance(call.status, Status) for call in back.calls)


@settings(deadline=None)
@given(receipts)
def test_every_receipt_survives_json(receipt: Receipt) -> None:
    assert Receipt.from_json(receipt.to_json()) == receipt
    assert "\n" not in receipt.to_json()
