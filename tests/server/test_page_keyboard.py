"""Where the keyboard is: everything can be done with it, and nobody takes it away."""

from __future__ import annotations

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from playwright.sync_api import Route, expect

from tests.server.browser import Visitor
from tests.server.test_page import ASKS, SHORT, SHORT_ANSWER


def test_everything_can_be_done_with_the_keyboard(visitor: Visitor) -> None:
    page, keys = visitor.page, visitor.page.keyboard
    visitor.say(SHORT)
    visitor.says(SHORT_ANSWER)
    visitor.quiet()
    keys.press("Alt+n")
    expect(page.locator(".welcome")).to_be_visible()
    keys.type(ASKS)
    keys.press("Shift+Enter")
    keys.type("echo two")
    keys.press("Enter")
    expect(page.locator("lw-question pre").first).to_contain_text("echo two")
    keys.press("Alt+q")
    expect(page.get_by_role("button", name="Deny", exact=True)).to_be_focused()
    expect(page.locator("lw-question")).not_to_have_attribute("data-early", "")
    for _ in range(page.locator("lw-question .choices div").first.locator("button").count()):
        keys.press("Shift+Tab")
    expect(page.get_by_role("button", name="Allow", exact=True)).to_be_focused()
    keys.press("Enter")
    visitor.says("shell returned")
    expect(visitor.box).to_be_focused()
    here = page.locator("lw-sessions a[aria-current]")
    expect(here).to_contain_text("run echo")
    keys.press("Alt+s")
    expect(here).to_be_focused()
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(here).not_to_contain_text("run echo")


def test_an_answer_that_takes_a_while_does_not_take_the_focus_from_elsewhere(
    visitor: Visitor,
) -> None:
    page, held = visitor.page, list[Route]()
    page.route("**/permissions/*", lambda route: held.insert(0, route))
    visitor.say(ASKS)
    page.get_by_role("button", name="Allow", exact=True).click()
    expect(page.locator("lw-question")).to_be_visible()
    page.keyboard.press("Alt+s")
    here = page.locator("lw-sessions a[aria-current]")
    expect(here).to_be_focused()
    [route] = held
    with page.expect_response("**/permissions/*"):
        route.continue_()
    visitor.says("shell returned")
    expect(page.locator("lw-question")).to_have_count(0)
    expect(here).to_be_focused()


def test_a_session_that_is_moved_in_the_list_keeps_the_focus(visitor: Visitor) -> None:
    page = visitor.page
    visitor.say(SHORT)
    visitor.says(SHORT_ANSWER)
    visitor.quiet()
    first, other = visitor.session, visitor.tab()
    page.bring_to_front()
    page.keyboard.press("Alt+n")
    visitor.say("count to 3")
    visitor.says("1 2 3")
    visitor.quiet()
    mine = page.locator(f'lw-sessions a[href="#/s/{first}"]')
    mine.focus()
    other.locator("lw-composer textarea").fill(SHORT)
    other.locator("lw-composer textarea").press("Enter")
    expect(page.locator("lw-sessions a").first).to_have_attribute("href", f"#/s/{first}")
    expect(mine).to_be_focused()
