"""Parts of the page by themselves, in the browser that draws them."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from tests.server.browser import Visitor
from tests.server.floods import FLOODS
from tests.server.page_scripts import (
    CHUNKED,
    FENCED,
    FOLLOWED,
    LONG_EVENT,
    OLDER,
    READ_IN_PIECES,
    SAID_BEFORE,
    WELCOME,
)

pytestmark = pytest.mark.deep("a browser")


def test_nothing_of_a_fenced_run_is_drawn_even_if_it_is_heard(visitor: Visitor) -> None:
    assert visitor.page.evaluate(FENCED) == {
        "silent": True,
        "said": "one held missed ",
        "typing": False,
        "order": "message turn receipt message turn",
        "quiet": True,
    }


def test_a_text_looks_the_same_however_it_was_cut_while_it_came(visitor: Visitor) -> None:
    assert visitor.page.evaluate(CHUNKED) == []


def test_the_box_of_long_code_follows_it_and_tables_are_aligned_as_they_were_written(
    visitor: Visitor,
) -> None:
    followed, aligned = visitor.page.evaluate(FOLLOWED)
    assert followed == [True] * 4
    assert aligned == ["left", "left", "center", "right"]


def test_earlier_entries_make_the_log_whole_wherever_it_was_cut(visitor: Visitor) -> None:
    assert visitor.page.evaluate(OLDER) == []


@pytest.mark.scenario("W18", part="server")
def test_the_words_of_a_message_are_shown_however_long_ago_it_was_said(visitor: Visitor) -> None:
    kinds, said, pending = visitor.page.evaluate(SAID_BEFORE)
    assert kinds == ["message", "turn", "message", "turn"]
    assert (said, pending) == (["old", "new"], [])


def test_nothing_is_claimed_of_an_agent_that_is_not_known(visitor: Visitor) -> None:
    assert visitor.page.evaluate(WELCOME) == ["a rehearsal", "tries", "neither", "neither"]


@pytest.mark.scenario("W36", part="server")
def test_json_that_is_read_in_pieces_is_what_it_would_be_at_once(visitor: Visitor) -> None:
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
    different, *harmless = visitor.page.evaluate(READ_IN_PIECES, [*texts, *broken])
    assert different == []
    assert harmless == [True, True]


@pytest.mark.scenario("W36", part="server")
def test_no_event_is_so_long_that_the_page_reads_it_all_at_once(visitor: Visitor) -> None:
    is_long, is_whole, most = visitor.page.evaluate(LONG_EVENT)
    assert is_long
    assert is_whole
    assert most <= 200_000
