"""Questions on the page: an answer is one that the person meant, to what they were shown."""

from __future__ import annotations

from collections.abc import Generator

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from playwright.sync_api import Browser, Locator, Page, expect

from tests.server.browser import Server, Visitor, chromium, visiting
from tests.server.page_scripts import CARDS

TABLE = "<!doctype html><title>a table for cards</title>"
HALF, LESS = 600, 400  # ms: more and less than half a second, on a clock that is set


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    server = Server(tmp_path_factory.mktemp("questions"))
    server.start()
    yield server
    server.end()


@pytest.fixture(scope="module")
def person(browser: Browser, server: Server) -> Generator[Visitor]:
    with visiting(browser, server) as person:
        yield person


@pytest.fixture
def visitor(person: Visitor) -> Generator[Visitor]:
    person.arrive()
    yield person
    person.leave()


@pytest.fixture
def table(browser: Browser, server: Server) -> Generator[Page]:
    """A page on which time stands still unless it is told to go on."""
    context = browser.new_context()
    page = context.new_page()
    page.clock.install()
    page.route("**/table", lambda route: route.fulfill(body=TABLE, content_type="text/html"))
    page.goto(f"{server.url}table")
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    yield page
    context.close()


def allow(page: Page) -> Locator:
    return page.get_by_role("button", name="Allow", exact=True).first


def press(page: Page, times: int = 1) -> None:
    """Click where the first card's Allow is now, whatever comes to be there."""
    box = allow(page).bounding_box()
    assert box
    for _ in range(times):
        page.mouse.click(box["x"] + 9, box["y"] + 9)


def answered(page: Page) -> list[str]:
    return page.evaluate("window.answered")


@pytest.mark.scenario("W1")
@pytest.mark.parametrize("cards", [["last"], ["first", "last"]], ids=["comes", "moves up"])
def test_the_second_of_two_clicks_answers_nothing_that_came_under_the_pointer(
    table: Page, cards: list[str]
) -> None:
    table.evaluate(CARDS, cards)
    table.clock.run_for(HALF)
    press(table, times=3)
    assert answered(table) == cards[:1]
    table.clock.run_for(LESS)
    press(table)
    assert answered(table) == cards[:1]
    table.clock.run_for(HALF)
    press(table)
    assert len(answered(table)) == 2


@pytest.mark.scenario("W1")
def test_a_click_that_began_before_its_card_could_be_answered_answers_nothing(table: Page) -> None:
    table.evaluate(CARDS, ["last"])
    box = allow(table).bounding_box()
    assert box
    table.mouse.move(box["x"] + 9, box["y"] + 9)
    table.clock.run_for(LESS)
    table.mouse.down()
    table.clock.run_for(HALF)
    table.mouse.up()
    table.clock.run_for(1)
    assert answered(table) == []
    press(table)
    assert answered(table) == ["last"]


@pytest.mark.scenario("W1")
@pytest.mark.parametrize("key", ["Enter", " "])
def test_a_key_that_is_held_answers_one_question(table: Page, key: str) -> None:
    table.evaluate(CARDS, ["last"])
    table.clock.run_for(HALF)
    allow(table).focus()
    table.keyboard.down(key)
    if key == " ":
        table.keyboard.up(key)
    assert answered(table) == ["last"]
    allow(table).focus()  # the next one is there
    table.keyboard.down(key)
    table.clock.run_for(HALF)
    table.keyboard.down(key)  # it repeats
    table.keyboard.up(key)
    table.clock.run_for(1)
    assert answered(table) == ["last"]
    table.keyboard.press(key)
    assert answered(table) == ["last", "next"]


@pytest.mark.scenario("W1")
def test_a_card_says_when_it_can_be_answered(visitor: Visitor) -> None:
    visitor.say("run echo hello")
    card = visitor.page.locator("lw-question")
    expect(card).to_have_attribute("data-early", "")
    expect(card).not_to_have_attribute("data-early", "")
    allow(visitor.page).click()
    visitor.says("shell returned: hello")
