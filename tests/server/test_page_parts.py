"""Parts of the page by themselves, in the browser that draws them."""

from __future__ import annotations

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from tests.server.browser import Visitor
from tests.server.page_scripts import CHUNKED, FENCED, FOLLOWED, OLDER, SAID_BEFORE, WELCOME


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
