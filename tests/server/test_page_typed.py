"""What was typed is never lost: not by a reload, not by a key, not by another session."""

from __future__ import annotations

from collections.abc import Generator

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from playwright.sync_api import Browser, Page, Route, expect

from tests.server.browser import Server, Visitor, started


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    where = tmp_path_factory.mktemp("typed")
    with started(where, engine="tests.server.day_engine:engine") as server:
        yield server


def edit(page: Page, name: str = "Edit the message") -> None:
    page.get_by_role("button", name=name, exact=True).click()


@pytest.mark.scenario("Y14", part="page")
def test_what_is_typed_in_one_session_is_there_when_one_comes_back_to_it(visitor: Visitor) -> None:
    page, first = visitor.page, visitor.session
    visitor.box.fill("half a thought")
    page.evaluate("() => (location.hash = '#/s/elsewhere')")
    expect(page.locator("body")).to_have_attribute("data-session", "elsewhere")
    expect(visitor.box).to_have_value("")
    page.reload()
    page.evaluate("(to) => (location.hash = `#/s/${to}`)", first)
    expect(visitor.box).to_have_value("half a thought")
    visitor.box.fill("")


@pytest.mark.scenario("Y14", part="page")
@pytest.mark.parametrize("arrives", [False, True])
def test_a_page_that_goes_before_its_message_is_acknowledged_loses_nothing_and_says_nothing_twice(
    visitor: Visitor, arrives: bool
) -> None:
    page, held = visitor.page, list[Route]()

    def hold(route: Route) -> None:
        if held:
            return route.continue_()
        held.append(route)  # its answer never comes
        if arrives:
            route.fetch()
        return None

    with page.expect_request("**/messages"):
        page.route("**/messages", hold)
        visitor.say("well considered")
    expect(visitor.box).to_have_value("")
    if arrives:
        visitor.says("re: well considered")
    page.reload()
    if arrives:
        visitor.says("re: well considered")
        expect(visitor.box).to_have_value("")
    else:
        expect(visitor.box).to_have_value("well considered")
        page.reload()
        expect(visitor.box).to_have_value("well considered")
        visitor.box.press("Enter")
        visitor.says("re: well considered")
    visitor.quiet()
    page.reload()
    expect(page.locator(".me .words")).to_have_text(["well considered"])
    expect(visitor.box).to_have_value("")


@pytest.mark.scenario("Y14", part="page")
def test_what_was_typed_into_an_edit_is_there_after_esc_and_after_a_reload(
    visitor: Visitor,
) -> None:
    page, box = visitor.page, visitor.page.get_by_label("Your message, in other words")
    visitor.say("one")
    visitor.says("re: one")
    visitor.quiet()
    edit(page)
    box.fill("one, and a half")
    page.keyboard.press("Escape")
    again = page.get_by_role("button", name="Go on editing the message")
    expect(again).to_be_focused()
    page.keyboard.press("Enter")
    expect(box).to_have_value("one, and a half")
    page.reload()
    again.click()
    expect(box).to_have_value("one, and a half")
    page.keyboard.press("Enter")
    visitor.says("re: one, and a half")
    expect(again).to_have_count(0)


@pytest.mark.scenario("Y14", part="page")
def test_what_one_press_said_and_could_not_be_sent_is_in_the_box(visitor: Visitor) -> None:
    page = visitor.page
    visitor.say("count")
    visitor.says("8 9")
    page.keyboard.press("Escape")
    page.route("**/messages", lambda route: route.abort())
    visitor.receipts.get_by_role("button", name="Go on").click()
    expect(page.locator("#notice")).to_contain_text("kept in the box")
    expect(visitor.box).to_have_value("Go on.")
    page.reload()
    expect(visitor.box).to_have_value("Go on.")
    visitor.box.fill("")
