"""Wherever a stop or a crash cuts the log, what is shown of it is true, and providers take it.

Every prefix of every log is put to the rules of three providers: as it is, and as the request that
a new message makes of it, whether the crash was tidied up after or not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastword.core.entries import Began, Called, Entry, Finished, Result, Summary, Text
from lastword.core.model import CallId, Outcome, RunId, Status
from lastword.core.shown import Partial, Shown
from lastword.core.transcript import Transcript, build
from tests.core.providers import check_all
from tests.core.stories import MOVES, began, recovery, said, story

PARTIALS: tuple[Partial, ...] = get_args(Partial)
ENGINES = ("", "anthropic", "responses")
NEW = RunId("new")
ASKS: tuple[Entry, ...] = (said("new", NEW), began(NEW, "new"))

HAND_MADE = {
    "thought between a call and its result": "say, call, think, return, speak, complete, say",
    "stopped": "say, think, speak, calls, return, raise, stop, say, speak",
    "steered": "say, think, call, steer, return, think, speak, steer, speak, complete, say",
    "taken over": "say, think, calls, refuse, say, speak, queue, queue, say, complete, late",
    "taken back": "say, speak, calls, return, say instead, speak, complete, say",
    "a child's message": "say, call, child, return, complete, speak, complete",
    "crashed twice": "say, think, calls, return, vanish, say, look, mumble, crash, say, speak",
    "failed": "say, think, speak, look, fail, say, muse, fail, queue, speak, complete",
    "shut down": "say, queue, calls, shut down, say, call, parent, late, say",
    "blank": "say, breathe, think, breathe, call, breathe, return, breathe, complete, say",
    "blank, by id": "say, think, call, breathe, return, answer, say",
    "redacted": "say, redact, think, call, return, redact, speak, complete, say, complete",
    "summed up": "say, speak, complete, say, think, call, compact, return, speak, compact all, "
    "speak, complete, announce, say, stop, remark",
    "well done": "say, work, answer, queue, work, steer, work, answer, say, answer, say, stop",
    "musings": "say, muse, think, speak, muse, steer, think, speak, complete, say, muse, stop",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", HAND_MADE)
def test_a_story_is_true_and_valid_wherever_it_is_cut(name: str, engine: str) -> None:
    log = story(engine, HAND_MADE[name].split(", "))

    for end in range(len(log) + 1):
        check(log[:end])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "well", [["work", "work", "answer"], ["redact", "call", "return", "answer"]]
)
def test_thinking_is_given_back_to_the_engine_that_wrote_it(engine: str, well: list[str]) -> None:
    shown = build(story(engine, ["say", *well, "say"]))

    given_back = {item.native.engine for item in shown if item.native}
    assert given_back == ({engine} if engine else set())
    assert any(item.role == "thinking" for item in shown) == bool(engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_any_three_moves_are_true_and_valid_wherever_they_are_cut(engine: str) -> None:
    moves = itertools.product(["say"], MOVES, MOVES, ["complete", "say instead"])
    logs = {log[:end] for log in (story(engine, m) for m in moves) for end in range(len(log) + 1)}

    for log in logs:
        check(log)


stories = st.builds(
    story,
    st.sampled_from(ENGINES),
    st.lists(st.sampled_from(list(MOVES)), min_size=5, max_size=40).map(lambda m: ["say", *m]),
)


@settings(deadline=None)
@given(stories)
def test_any_story_is_true_and_valid_wherever_it_is_cut(log: tuple[Entry, ...]) -> None:
    for end in range(len(log) + 1):
        check(log[:end])


@settings(deadline=None)
@given(stories, st.integers(1, 20))
def test_a_log_that_lost_its_beginning_is_valid_wherever_it_is_cut(
    log: tuple[Entry, ...], start: int
) -> None:
    for end in range(start, len(log) + 1):
        check_valid(log[start:end])


@settings(deadline=None)
@given(stories, st.sampled_from(PARTIALS))
def test_a_transcript_that_grew_with_its_log_shows_what_is_built_of_all_of_it(
    log: tuple[Entry, ...], partial: Partial
) -> None:
    growing = Transcript(partial)

    for end, entry in enumerate(log, 1):
        growing.add(entry)
        assert growing.shown() == build(log[:end], partial)


def check(log: Sequence[Entry]) -> None:
    check_valid(log)
    for partial in PARTIALS:
        shown = build(log, partial)
        check_calls(shown, log)
        check_words(shown, log, partial)
        check_reasons(shown, log)


def check_valid(log: Sequence[Entry]) -> None:
    for partial in PARTIALS:
        check_all(build(log, partial))
        for asked in ([*log, *ASKS], [*log, *recovery(log), *ASKS]):
            request = build(asked, partial)
            check_all(request, request=True)
            assert request[-1].text == "text of new"


def check_calls(shown: Iterable[Shown], log: Sequence[Entry]) -> None:
    """Each call that is shown has one result, which says what the log knew first."""
    became: dict[CallId | None, Status] = {}
    ended: set[RunId] = set()
    for entry in log:
        match entry:
            case Called(_, call):
                became[call] = Status.MAY_HAVE_EXECUTED
            case Result(run, call, status) if run not in ended:
                became[call] = status if became[call] == Status.MAY_HAVE_EXECUTED else became[call]
            case Finished(run):
                ended.add(run)
            case _:
                pass
    calls = [item.call for item in shown if item.role == "call"]
    results = {item.call: item.status for item in shown if item.role == "result"}
    assert sorted(map(str, calls)) == sorted(map(str, results))
    assert results == {call: became[call] for call in calls}


def check_words(shown: Iterable[Shown], log: Sequence[Entry], partial: Partial) -> None:
    """What is shown is what the person saw, less what was taken back, summed up or left out."""
    seen: dict[RunId, list[str]] = {}
    heard: dict[RunId, set[str]] = {}
    gone: set[RunId] = set()
    for entry in log:
        match entry:
            case Began(run, _, messages):
                if partial == "omitted":
                    gone |= {other for other in seen if other != run and not completed(other, log)}
                seen.setdefault(run, [])
                heard.setdefault(run, set()).update(messages)
            case Text(run, text):
                seen.setdefault(run, []).append(text)
            case Summary(_, upto):
                covered = list(seen)[: list(seen).index(upto) + 1] if upto in seen else []
                for run in covered:
                    del seen[run]
                    heard.pop(run, None)
            case Finished(run, outcome, rollback=rollback):
                cut = outcome is not Outcome.COMPLETED
                gone |= {run} if rollback or (cut and partial == "omitted") else set()
            case _:
                pass
    taken_back = {e.run for e in log if isinstance(e, Finished) and e.rollback}
    words = "".join(text for run, texts in seen.items() if run not in gone for text in texts)
    shown = list(shown)
    assert "".join(i.text for i in shown if i.role == "assistant").split() == words.split()
    whole = ["".join(texts) for texts in seen.values()]
    assert all(any(i.text in one for one in whole) for i in shown if i.role == "assistant")
    messages = {item.message.id for item in shown if item.message}
    assert messages >= {m for run in heard if run not in taken_back for m in heard[run]}
    assert not messages & {m for run in heard if run in taken_back for m in heard[run]}


def check_reasons(shown: Iterable[Shown], log: Sequence[Entry]) -> None:
    """Each turn that was cut says why, once, and no other does."""
    begun = [entry.run for entry in log if isinstance(entry, Began)]
    ends = {entry.run: entry for entry in log if isinstance(entry, Finished)}
    cut = [
        run
        for run in dict.fromkeys(begun)
        if (run in ends and ends[run].outcome is not Outcome.COMPLETED and not ends[run].rollback)
        or (run not in ends and run != begun[-1])
    ]
    reasons = [item for item in shown if item.role == "note" and " here" in item.text]
    if not any(isinstance(entry, Summary) for entry in log):
        assert len(reasons) == len(cut)


def completed(run: RunId, log: Iterable[Entry]) -> bool:
    ends = [entry for entry in log if isinstance(entry, Finished) and entry.run == run]
    return any(end.outcome is Outcome.COMPLETED for end in ends)
