"""Where the keyboard is: everything can be done with it, and nobody takes it away."""

from __future__ import annotations

import re

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from playwright.sync_api import Locator, Page, Route, expect

from tests.server.browser import Visitor
from tests.server.test_page import ASKS, SHORT, SHORT_ANSWER

FOCUSED = "(one) => one === document.activeElement"


def reach(visitor: Visitor, one: Locator) -> None:
    """By the Tab key alone, from wherever it is."""
    for _ in range(150):
        if one.evaluate(FOCUSED):
            return
        visitor.page.keyboard.press("Tab")
    pytest.fail(f"{one} is not reached by Tab")


def use(visitor: Visitor, name: str | re.Pattern[str], within: str = "main") -> None:
    """Go to a button, and press it."""
    reach(visitor, visitor.page.locator(within).get_by_role("button", name=name).last)
    visitor.page.keyboard.press("Enter")


def choose(page: Page, name: str) -> None:
    """In a menu that is open."""
    for _ in page.get_by_role("menuitem").all():
        if page.get_by_role("menuitem", name=re.compile(f"^{name}")).evaluate(FOCUSED):
            return page.keyboard.press("Enter")
        page.keyboard.press("ArrowDown")
    return pytest.fail(f"{name} is not in the menu")


def on_session(visitor: Visitor, what: str) -> None:
    """Of all that can be done with the session that is shown."""
    here = visitor.page.locator("lw-sessions li", has=visitor.page.locator("a[aria-current]"))
    reach(visitor, here.get_by_role("button"))
    visitor.page.keyboard.press("Enter")
    choose(visitor.page, what)


@pytest.mark.scenario("Y22", part="page")
def test_what_was_said_and_sessions_are_looked_after_by_the_keyboard_alone(
    visitor: Visitor,
) -> None:
    page, keys, title = visitor.page, visitor.page.keyboard, visitor.page.locator("lw-head h1")
    visitor.box.focus()
    keys.type(SHORT)
    keys.press("Enter")
    visitor.says(SHORT_ANSWER)
    visitor.quiet()
    use(visitor, "Copy the answer")
    expect(page.get_by_role("button", name="Copied the answer")).to_be_focused()
    use(visitor, "Try again")
    expect(visitor.answers).to_have_count(2)
    visitor.quiet()
    use(visitor, "Edit the message")
    keys.type(" more")
    keys.press("Enter")
    visitor.says("I thought about it more")
    visitor.quiet()
    with page.expect_file_chooser():
        use(visitor, "Attach files")

    on_session(visitor, "Rename")
    keys.type("my own name")
    keys.press("Enter")
    expect(title).to_have_text("my own name")
    on_session(visitor, "Pin")
    expect(page.get_by_role("heading", name="Pinned")).to_be_visible()
    with page.expect_download():
        on_session(visitor, "Export")
    reach(visitor, page.get_by_label("Search the sessions"))
    keys.type("my own")
    expect(page.locator("lw-sessions li a")).to_have_count(1)
    keys.press("Escape")
    use(visitor, re.compile("details$|^Details"))
    expect(page.locator("lw-head .popup:visible")).to_contain_text("Session")
    keys.press("Escape")
    use(visitor, re.compile("^Theme"))
    use(visitor, re.compile("^Theme"))
    use(visitor, re.compile("^Theme"))
    use(visitor, "Keys")
    keys.press("Escape")
    expect(page.get_by_role("button", name="Keys")).to_be_focused()
    on_session(visitor, "Delete")
    expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    keys.press("Tab")
    keys.press("Enter")
    expect(title).not_to_have_text("my own name")


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
