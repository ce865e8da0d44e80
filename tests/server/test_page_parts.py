"""Parts of the page by themselves: what they make of what they are told, which needs no screen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.server.floods import FLOODS, NODES
from tests.server.page_node import Modules
from tests.server.page_scripts import (
    ANSWERED,
    CHUNKED,
    COSTS,
    FENCED,
    LONG_EVENT,
    OLDER,
    READ_IN_PIECES,
    SAID_BEFORE,
    WAITED,
    WELCOME,
)

STEPS = 40  # for a character
WINDOW = 16_000  # characters that are looked at together
TASK = 60_000 + STEPS * WINDOW + 25 * NODES  # steps: what is free, and one window more


def test_nothing_of_a_fenced_run_is_drawn_even_if_it_is_heard(modules: Modules) -> None:
    assert modules.evaluate(FENCED) == {
        "silent": True,
        "said": "one held missed ",
        "typing": False,
        "order": "message turn receipt message turn",
        "quiet": True,
    }


def test_a_text_looks_the_same_however_it_was_cut_while_it_came(modules: Modules) -> None:
    assert modules.evaluate(CHUNKED) == []


def test_earlier_entries_make_the_log_whole_wherever_it_was_cut(modules: Modules) -> None:
    assert modules.evaluate(OLDER) == []


@pytest.mark.scenario("W18", part="server")
def test_the_words_of_a_message_are_shown_however_long_ago_it_was_said(modules: Modules) -> None:
    kinds, said, pending = modules.evaluate(SAID_BEFORE)
    assert kinds == ["message", "turn", "message", "turn"]
    assert (said, pending) == (["old", "new"], [])


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
    assert modules.evaluate(ANSWERED) == [True, False, True, True, True, True, False]


@pytest.mark.scenario("W19", part="server")
def test_after_a_reload_it_is_seen_that_a_tool_waited_and_who_allowed_it(modules: Modules) -> None:
    whole, in_parts = modules.evaluate(WAITED)
    assert whole == in_parts
    tags, waits = whole
    assert tags == [
        "completed · 1.5 s · allowed by ann",
        "not started · denied",
        "not started",
    ]
    assert waits == [["allowed by ann", 2, 5], ["denied", 2, 6], ["withdrawn", 2, 7]]
