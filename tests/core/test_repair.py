"""E9. What is left out of a history that a provider refused: the least first, and by name."""

from collections.abc import Iterator, Sequence
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastword.core.entries import (
    Began,
    Called,
    Entry,
    Finished,
    LeftOut,
    Native,
    Note,
    Part,
    Result,
    Said,
    Summary,
    Text,
)
from lastword.core.model import (
    Attachment,
    CallId,
    Generation,
    Message,
    MessageId,
    Outcome,
    RunId,
    Status,
)
from lastword.core.repair import ALONE, less, without
from lastword.core.shown import Shown
from lastword.core.transcript import Transcript
from tests.core.providers import check_all

pytestmark = pytest.mark.scenario("E9", part="agent")
NATIVE = Native("e", "{}")
FILE = Attachment("image/png", "x", name="a.png")


def user(run: str, *files: Attachment, text: str = "hello") -> Shown:
    message = Message(MessageId(run), text, attachments=files)
    return Shown("user", text, message=message, run=RunId(run))


def call(run: str, name: str = "act", status: Status = Status.COMPLETED) -> list[Shown]:
    id_ = CallId(f"{run}.{name}")
    return [
        Shown("call", "{}", id_, name, native=NATIVE, run=RunId(run)),
        Shown("result", "done", id_, name, status=status, run=RunId(run)),
    ]


def thought(run: str) -> Shown:
    return Shown("thinking", "hm", native=NATIVE, run=RunId(run))


def said(run: str) -> Shown:
    return Shown("assistant", "well", native=NATIVE, run=RunId(run))


HISTORY = (
    user("r1", FILE),
    thought("r1"),
    *call("r1"),
    said("r1"),
    user("r2", FILE),
    *call("r2", "send", Status.MAY_HAVE_EXECUTED),
    user("r3", FILE),
)


def test_the_least_is_left_out_first_and_of_what_no_provider_has_taken_yet() -> None:
    steps = list(repaired(HISTORY, {RunId("r2"), RunId("r3")}))

    assert [{(one.of, one.part) for one in left} for left, _ in steps] == [
        {("r2", "attachments"), ("r3", "attachments")},
        {("r2", "natives")},
        {("r2", "calls")},
        {("r2", "turn")},
        {("r2", "notes")},
        {("r1", "attachments")},
        {("r1", "natives")},
        {("r1", "calls")},
        {("r1", "turn")},
        {("r1", "notes")},
    ]


def test_what_is_left_out_is_named_and_what_tools_did_is_told() -> None:
    steps = [shown for _, shown in repaired(HISTORY, {RunId("r1"), RunId("r2"), RunId("r3")})]

    told = [item.text for item in steps[3]]
    assert told[0].startswith("A turn is not shown here")
    assert any("act was called" in text for text in told)
    assert any("send may have executed" in text for text in told)
    assert told[-1] == "hello\n[a.png is not shown: the provider did not take it]"


def test_where_no_name_is_taken_what_became_of_calls_is_still_told() -> None:
    *_, (_, shown) = repaired(HISTORY, {RunId("r2"), RunId("r3")})

    told = [item.text for item in shown]
    assert not any("act" in text or "send" in text for text in told)
    assert "a tool was called here; it is not shown: the provider did not take it." in told
    assert "a tool may have executed here; it is not shown: the provider did not take it." in told


def test_what_was_left_out_is_told_to_people_by_name() -> None:
    [(one, two), *_] = [left for left, _ in repaired(HISTORY, {RunId("r2"), RunId("r3")})]

    words = "The model is no longer shown a.png: the provider did not take it."
    assert (one.text, two.text) == (words, words)


items = st.lists(
    st.tuples(
        st.sampled_from(["file", "thinking", "call", "text", "note"]),
        st.sampled_from(["r1", "r2", "r3"]),
    ),
    max_size=12,
)


@given(items, st.sets(st.sampled_from(["r1", "r2", "r3"])))
def test_every_step_shows_less_and_the_last_words_are_always_shown(
    given: list[tuple[str, str]], suspects: set[str]
) -> None:
    history = [*made(given), user("r9", FILE, text="my last words")]

    steps = [shown for _, shown in repaired(history, {RunId(run) for run in suspects})]

    assert 1 <= len(steps) <= 10
    for shown in steps:
        assert shown[-1].text.startswith("my last words")
        check_all(shown, request=True)
    last = steps[-1]
    assert not any(item.message and item.message.attachments for item in last)
    assert {item.role for item in last[:-1]} <= {"note"}
    assert not any("so it is" in item.text or "act" in item.text for item in last[:-1])


def made(given: list[tuple[str, str]]) -> list[Shown]:
    history: list[Shown] = []
    for run in ("r1", "r2", "r3"):
        kinds = [kind for kind, of in given if of == run]
        if kinds:
            history.append(user(run, *([FILE] if "file" in kinds else [])))
        for number, kind in enumerate(kinds):
            if kind == "call":
                history += call(run, f"act{number}")
            elif kind == "thinking":
                history += [thought(run), said(run)]
            elif kind == "text":
                history.append(said(run))
            elif kind == "note":
                history.append(Shown("note", "so it is", run=RunId(run)))
    return history


def repaired(
    history: Sequence[Shown], suspects: set[RunId]
) -> Iterator[tuple[tuple[LeftOut, ...], tuple[Shown, ...]]]:
    """Every step of leaving out, until nothing is left to leave out."""
    answering = history[-1].run
    assert answering
    while new := less(history, suspects, answering):
        history = without(history, new)
        yield new, history


WORD = "poison"
R1, R2, R9 = RunId("s#1"), RunId("s#2"), RunId("s#9")


def turn(run: RunId, *entries: Entry, text: str = "go") -> list[Entry]:
    message = Message(MessageId(run), text)
    return [Said(message, run), Began(run, Generation(1), (message.id,)), *entries]


def end(run: RunId, outcome: Outcome, **kept: object) -> Finished:
    return Finished(run, outcome, (MessageId(run),), True, **kept)  # type: ignore[arg-type]


def called(run: RunId, status: Status) -> list[Entry]:
    call = CallId(f"{run}.1")
    return [Called(run, call, WORD, "{}"), Result(run, call, status)]


NOTED: dict[str, list[Entry]] = {
    "the kind of an error": turn(R1, end(R1, Outcome.FAILED, error=WORD, kind=WORD)),
    "why it was stopped": turn(
        R1, Note(R1, f"The person said why: {WORD}"), end(R1, Outcome.STOPPED)
    ),
    "what did not arrive": [*turn(R1, end(R1, Outcome.STOPPED)), Note(None, WORD)],
    "a tool's name, taken over": turn(
        R1, *called(R1, Status.NOT_STARTED), end(R1, Outcome.SUPERSEDED)
    ),
    "a tool's name, taken back": turn(
        R1, *called(R1, Status.COMPLETED), end(R1, Outcome.SUPERSEDED, rollback=True)
    ),
    "a tool's name, lost": turn(R1, *called(R1, Status.MAY_HAVE_EXECUTED), end(R1, Outcome.LOST)),
    "a summary": [*turn(R1, Text(R1, "x"), end(R1, Outcome.COMPLETED)), Summary(WORD, R1)],
}


@pytest.mark.scenario("E17", part="agent")
@pytest.mark.parametrize("log", NOTED.values(), ids=NOTED.keys())
@pytest.mark.parametrize("before", [False, True], ids=["first", "behind another turn"])
def test_whatever_a_note_or_a_summary_quotes_can_be_left_out(
    log: list[Entry], before: bool
) -> None:
    other = turn(R2, Text(R2, "well"), end(R2, Outcome.COMPLETED)) if before else []
    live = Transcript()
    live.add(*other, *log, *turn(R9, text="my last words"))
    assert any(WORD in str(item) for item in live.shown())

    left: list[LeftOut] = []
    history = tuple(live.shown())
    while any(WORD in str(item) for item in history):
        new = less(history, live.suspects(), R9)
        assert new
        history = without(history, new)
        left += new

    assert history[-1].text == "my last words"
    live.add(*left)
    again = Transcript()
    again.add(*other, *log, *turn(R9, text="my last words"), *left)
    assert tuple(live.shown()) == tuple(again.shown()) == history
    check_all(history, request=True)


@pytest.mark.scenario("E17", part="agent")
def test_what_is_noted_or_summed_up_later_is_shown_again() -> None:
    live = Transcript()
    live.add(*turn(R1, end(R1, Outcome.STOPPED)), Note(None, WORD))
    live.add(*turn(R2), LeftOut(R2, ALONE, "notes", ""), LeftOut(R2, ALONE, "summary", ""))
    live.add(end(R2, Outcome.COMPLETED), Note(None, "a later one"))
    assert "a later one" in [item.text for item in live.shown()]
    assert WORD not in str(tuple(live.shown()))

    live.add(Summary("all of it", R2))
    assert next(iter(live.shown())).text == "all of it"


@pytest.mark.scenario("E17", part="agent")
def test_no_note_is_endless() -> None:
    endless = "n" * 1_000_000
    call = CallId("c")
    for log in (
        turn(R1, Note(R1, endless), end(R1, Outcome.STOPPED)),
        [*turn(R1, end(R1, Outcome.STOPPED)), Note(None, endless)],
        turn(R1, end(R1, Outcome.FAILED, error=endless, kind=endless)),
        turn(
            R1,
            Called(R1, call, endless, "{}"),
            Result(R1, call, Status.COMPLETED),
            end(R1, Outcome.SUPERSEDED, rollback=True),
        ),
    ):
        live = Transcript()
        live.add(*log, *turn(R9))
        assert sum(len(item.text) for item in live.shown()) < 10_000


@pytest.mark.scenario("E17", part="agent")
@pytest.mark.parametrize("part", get_args(Part))
def test_of_nothing_nothing_is_left_out(part: Part) -> None:
    run = RunId("s#1")
    assert without((), [LeftOut(run, ALONE, part, "so it is")]) == ()
    empty = Said(Message(MessageId("m1"), ""), run)
    live = Transcript()
    live.add(empty, LeftOut(run, ALONE, part, "so it is"))
    assert list(live.shown()) == []
