"""What the page shows of itself: what a person needs by the way, and the rest where they look."""

from __future__ import annotations

import re
from collections.abc import Generator

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from playwright.sync_api import Browser, Locator, Route, expect

from tests.server.browser import Server, Visitor, started


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    where = tmp_path_factory.mktemp("calm")
    with started(where, engine="tests.server.day_engine:engine") as server:
        yield server


def details(visitor: Visitor) -> Locator:
    visitor.page.locator("lw-head .details").click()
    return visitor.page.locator("lw-head .popup:visible")


@pytest.mark.scenario("Y16", part="page")
def test_generations_runs_and_levels_are_in_the_details_and_nowhere_else(visitor: Visitor) -> None:
    page = visitor.page
    visitor.say("count")
    visitor.says("8 9")
    internals = re.compile(r"generation|sealed|cgroup|\btree\b|run \S+#\d")
    for _ in range(2):
        said = page.locator("main, aside").evaluate_all("all => all.map(one => one.innerText)")
        assert not internals.findall("\n".join(said))
        page.keyboard.press("Escape")
        expect(visitor.receipts).to_have_count(1)
    visitor.quiet()
    shown = details(visitor)
    expect(shown).to_contain_text(f"{visitor.session}#1, at generation 2")
    page.keyboard.press("Escape")
    expect(page.locator("lw-head .details")).to_be_focused()


@pytest.mark.scenario("Y10", part="page")
def test_what_a_session_has_used_is_said_with_what_is_not_known(visitor: Visitor) -> None:
    page = visitor.page
    visitor.say("one")
    visitor.says("re: one")
    visitor.say("two")
    visitor.says("re: two")
    press = page.locator("lw-head .details")
    expect(press).to_contain_text("small-1")
    shown = details(visitor)
    expect(shown).to_contain_text("2,400 read and 690 written, in 2 requests")
    visitor.picture("details")
    page.reload()
    expect(press).to_contain_text("small-1")
    shown = details(visitor)
    expect(shown).to_contain_text("2,400 read and 690 written, in 2 requests")
    expect(shown).to_contain_text("the model's window was not told")
    expect(shown).to_contain_text("nobody told lastword what this model costs")
    page.keyboard.press("Escape")


@pytest.mark.scenario("Y17", part="page")
def test_the_timeline_is_closed_until_the_first_stop_and_of_one_height(visitor: Visitor) -> None:
    page, timeline = visitor.page, visitor.page.locator("lw-timeline")
    fold, drawing = timeline.get_by_role("button", name="Timeline"), timeline.locator(".drawing")
    visitor.say("one")
    visitor.says("re: one")
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(drawing).to_be_hidden()
    visitor.say("count")
    visitor.says("8 9")
    page.keyboard.press("Escape")
    expect(drawing).to_be_visible()
    expect(timeline.locator(".legend li")).to_have_text(
        ["an answer", "a tool call", "waits for you", "a process", "a stop", "refused after it"]
    )
    high = drawing.bounding_box()
    for words in ("two", "three", "four"):
        visitor.say(words)
        visitor.says(f"re: {words}")
    now = drawing.bounding_box()
    assert high
    assert now
    assert now["height"] == high["height"]
    fold.click()
    expect(drawing).to_be_hidden()
    page.reload()
    expect(fold).to_have_attribute("aria-expanded", "false")
    page.evaluate("() => localStorage.removeItem('lastword timeline')")


@pytest.mark.scenario("Y18", part="page")
def test_what_a_new_message_does_is_chosen_while_something_goes_among_three_and_more(
    visitor: Visitor,
) -> None:
    page, menu = visitor.page, visitor.page.get_by_role("menu")
    press = page.locator("lw-composer .modes")
    expect(press).to_be_hidden()
    visitor.say("count")
    visitor.says("8 9")
    press.focus()
    page.keyboard.press("Enter")
    expect(menu.get_by_role("menuitemradio")).to_have_count(3)
    for one in menu.get_by_role("menuitemradio").all():
        expect(one.locator("span")).not_to_be_empty()
    visitor.picture("modes")
    page.keyboard.press("Escape")
    expect(press).to_be_focused()
    expect(visitor.receipts).to_have_count(0)
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    expect(menu.get_by_role("menuitem", name="More")).to_be_focused()
    page.keyboard.press("Enter")
    expect(menu.get_by_role("menuitemradio")).to_have_count(6)
    menu.get_by_role("menuitemradio", name="waits its turn").click()
    visitor.say("later")
    expect(visitor.chips).to_have_text(["later"])
    page.keyboard.press("Escape")
    expect(visitor.receipts).to_have_count(1)
    page.evaluate("() => localStorage.removeItem('lastword mode')")


@pytest.mark.scenario("Y18", part="page")
def test_what_is_known_to_wait_is_not_stopped_once_more_when_its_answer_comes(
    visitor: Visitor,
) -> None:
    page, stops, held = visitor.page, list[str](), list[Route]()
    page.on("request", lambda one: stops.append(one.url) if one.url.endswith("/stop") else None)
    visitor.say("count")
    visitor.says("8 9")
    page.route("**/messages", lambda route: held.insert(0, route))
    visitor.say("later", "Alt+Enter")
    page.wait_for_function("() => document.querySelector('.me.sending')")
    [route] = held
    answer = route.fetch()
    expect(visitor.chips).to_have_text(["later"])
    page.keyboard.press("Escape")
    expect(visitor.receipts).to_have_count(1)
    route.fulfill(response=answer)
    visitor.quiet()
    assert len(stops) == 1
