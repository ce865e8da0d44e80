"""Parts of the page by themselves: what they make of what they are told, which needs no screen."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from lastword.core.entries import (
    Answered,
    Asked,
    Began,
    Called,
    Entry,
    Finished,
    Result,
    Said,
    Text,
    Thinking,
)
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
from lastword.core.scene import Change
from lastword.server.change_wire import AnyChange
from tests.server.floods import FLOODS, NODES
from tests.server.page_node import Modules
from tests.server.page_pictures import told
from tests.server.page_scripts import (
    ANSWERED,
    APPLIED,
    CHUNKED,
    COSTS,
    CUT,
    FENCED,
    LONG_EVENT,
    READ_IN_PIECES,
    WAITED,
    WELCOME,
    WIDENED,
)

STEPS = 40  # for a character
WINDOW = 16_000  # characters that are looked at together
TASK = 60_000 + STEPS * WINDOW + 25 * NODES  # steps: what is free, and one window more


def test_a_run_that_is_being_stopped_is_silent_until_that_is_known(modules: Modules) -> None:
    assert modules.evaluate(FENCED) == {
        "silent": True,
        "waits": True,
        "heard": "one held missed completed",
        "asks": 0,
        "stopping": None,
        "order": "message turn receipt note",
        "settled": True,
    }


def test_the_page_applies_every_change_that_there_is(modules: Modules) -> None:
    told = {one.__struct_config__.tag for one in get_args(AnyChange)}
    assert set(modules.evaluate(APPLIED)) == told
    assert told == {one.__name__.lower() for one in get_args(Change)}


def test_a_text_looks_the_same_however_it_was_cut_while_it_came(modules: Modules) -> None:
    assert modules.evaluate(CHUNKED) == []


def log_of_turns() -> list[Entry]:
    """Three turns that are stopped; each calls something that a person allowed."""
    log: list[Entry] = []

    def at() -> float:
        return float(len(log) + 1)

    for number in (1, 2, 3):
        run, call = RunId(f"s#{number}"), CallId(f"c{number}")
        id_ = MessageId(f"m{number}")
        log.append(Said(Message(id_, f"to {run}"), run, at=at()))
        log.append(Began(run, Generation(2 * number - 1), (id_,), at()))
        log.append(Thinking(run, "hm"))
        log += [Text(run, "one "), Text(run, "two")]
        log.append(Called(run, call, "shell", '{"command": "ls"}', at=at()))
        log.append(Asked(run, call, "shell", "ls", at()))
        log.append(Answered(run, call, allowed=True, by="ann", scope="", at=at()))
        log.append(Result(run, call, Status.COMPLETED, "a b", at=at()))
        log.append(Text(run, "three"))
        log.append(Finished(run, Outcome.STOPPED, (id_,), started=True, at=at()))
        receipt = Receipt(
            SessionId("s"),
            Generation(2 * number),
            Reason.STOPPED,
            fenced_at=at(),
            took=0.0,
            runs=(run,),
        )
        log.append(receipt)
    return log


@pytest.mark.scenario("W18", part="server")
def test_a_log_is_whole_wherever_it_was_cut_and_however_the_rest_was_heard(
    modules: Modules,
) -> None:
    log = log_of_turns()
    [whole] = modules.evaluate(CUT, [told(log, 0, len(log))])
    cases = [(cut, heard) for cut in range(len(log)) for heard in range(cut, len(log) + 1)]
    drawn = modules.evaluate(CUT, [told(log, cut, heard) for cut, heard in cases])
    different = [case for case, one in zip(cases, drawn, strict=True) if one != whole]
    assert different == []
    parts = [(a, b) for b in range(len(log)) for a in range(b)]
    drawn = modules.evaluate(CUT, [told(log, b, len(log), [a]) for a, b in parts])
    different = [case for case, one in zip(parts, drawn, strict=True) if one != whole]
    assert different == []


def test_nothing_is_claimed_of_an_agent_that_is_not_known(modules: Modules) -> None:
    assert modules.evaluate(WELCOME) == ["a rehearsal", "tries", "neither", "neither"]


@pytest.mark.scenario("W36", part="server")
def test_json_that_is_read_in_pieces_is_what_it_would_be_at_once(modules: Modules) -> None:
    values: list[Any] = [*FLOODS.values(), 0, -1.5e-7, True, None, "", [], {}, [[]], {"a": {}}]
    values += [{"__proto__": {"a": 1}, "": [1, {"b": '\\"}]['}], "a": "\U0001f468\u2028"}]
    texts = [json.dumps(value[:5000] if isinstance(value, str) else value) for value in values]
    texts += [json.dumps(values[-12:], indent=2), json.dumps(values[-12:], ensure_ascii=False)]
    broken = [
        "",
        " ",
        "[",
        "]",
        "{",
        "[1,]",
        "[,1]",
        "[1 2]",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        "{1:2}",
    ]
    broken += ['"', '"a\\"', "nul", "01", "[1]]", "1 2", "'a'", "[1}", '{"a":1]', "\u00a01", '"\n"']
    different, *harmless = modules.evaluate(READ_IN_PIECES, [*texts, *broken])
    assert different == []
    assert harmless == [True, True]


@pytest.mark.scenario("W36", part="server")
def test_no_event_is_so_long_that_the_page_reads_it_all_at_once(modules: Modules) -> None:
    is_long, is_whole, most = modules.evaluate(LONG_EVENT)
    assert is_long
    assert is_whole
    assert most <= 200_000


@pytest.mark.scenario("W7", part="server")
def test_a_text_costs_what_it_is_long_and_a_word_does_not_cost_more_the_later_it_comes(
    modules: Modules,
) -> None:
    floods = {name: text[:60_000] for name, text in FLOODS.items()}
    found = modules.evaluate(COSTS, floods)
    told = found["told"]
    assert len(told) >= 60
    assert {name: one for name, one in told.items() if one["steps"] > STEPS} == {}
    assert {name: one for name, one in told.items() if one["piece"] > STEPS * WINDOW} == {}
    assert {name: one for name, one in told.items() if one["nodes"] > NODES} == {}
    assert found["most"] <= TASK


def test_what_was_not_brought_to_a_program_can_be_answered_again(modules: Modules) -> None:
    assert modules.evaluate(ANSWERED) == [
        *(True, False, False, False),
        *(True, True, True, True, False),
    ]


@pytest.mark.scenario("W19", part="server")
def test_after_a_reload_it_is_seen_that_a_tool_waited_and_who_allowed_it(modules: Modules) -> None:
    run = RunId("s#1")
    log: list[Entry] = [Began(run, Generation(1), (), 1.0)]
    for call in "abc":
        log.append(Called(run, CallId(call), "shell", "{}", at=2.0))
        log.append(Asked(run, CallId(call), "shell", "ls", 2.0))
    log.append(Answered(run, CallId("a"), allowed=True, by="ann", scope="this", at=5.0))
    log.append(Answered(run, CallId("b"), allowed=False, by="local", scope="", at=6.0))
    log.append(Result(run, CallId("a"), Status.COMPLETED, "x", at=6.5))
    log.append(Result(run, CallId("b"), Status.NOT_STARTED, at=6.0))
    log.append(Result(run, CallId("c"), Status.NOT_STARTED, at=7.0))
    log.append(Finished(run, Outcome.STOPPED, (), started=True, at=7.0))
    cases = [told(log, 0, len(log)), told(log, 6, len(log))]
    whole, in_parts = modules.evaluate(WAITED, cases)
    assert whole == in_parts
    tags, waits = whole
    assert tags == [
        "completed · 1.5 s · allowed by ann",
        "not started · denied",
        "not started",
    ]
    assert waits == [["allowed by ann", 2, 5], ["denied", 2, 6], ["withdrawn", 2, 7]]


@pytest.mark.scenario("W47", part="server")
def test_a_window_that_becomes_wider_is_not_the_person_who_scrolls(modules: Modules) -> None:
    assert modules.evaluate(WIDENED) == [True, True, False]
