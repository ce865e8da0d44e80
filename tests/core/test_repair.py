"""E9. What is left out of a history that a provider refused: the least first, and by name."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastword.core.entries import LeftOut, Native
from lastword.core.model import Attachment, CallId, Message, MessageId, RunId, Status
from lastword.core.repair import less, without
from lastword.core.shown import Shown
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
        {("r1", "attachments")},
        {("r1", "natives")},
        {("r1", "calls")},
        {("r1", "turn")},
    ]


def test_what_is_left_out_is_named_and_what_tools_did_is_told() -> None:
    *_, (_, shown) = repaired(HISTORY, {RunId("r2"), RunId("r3")})

    told = [item.text for item in shown]
    assert told[0].startswith("A turn is not shown here")
    assert any("act was called" in text for text in told)
    assert any("send may have executed" in text for text in told)
    assert told[-1] == "hello\n[a.png is not shown: the provider did not take it]"


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

    assert 1 <= len(steps) <= 8
    for shown in steps:
        assert shown[-1].text.startswith("my last words")
        check_all(shown, request=True)
    last = steps[-1]
    assert not any(item.message and item.message.attachments for item in last)
    assert {item.role for item in last[:-1]} <= {"note"}


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
