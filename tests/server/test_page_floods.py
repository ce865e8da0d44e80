"""Whatever a model writes, the person can stop it: the page never does much before it listens."""

from __future__ import annotations

from collections.abc import Generator

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from playwright.sync_api import Browser, expect

from tests.server.browser import Server, Visitor, started
from tests.server.floods import FLOODS, NODES
from tests.server.page_scripts import MANY_CALLS

CALLS = 110  # that are made in one task


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    folder = tmp_path_factory.mktemp("floods")
    with started(folder, engine="tests.server.floods:engine") as server:
        yield server


@pytest.fixture
def visitor(person: Visitor) -> Generator[Visitor]:
    person.arrive()
    yield person
    # a message whose answer is still on its way is stopped by itself too, and was stopped already
    person.wrong[:] = [one for one in person.wrong if "409" not in one]
    person.leave()


@pytest.mark.scenario("W7", part="server")
@pytest.mark.parametrize("name", FLOODS)
def test_esc_is_handled_while_a_flood_goes_on_and_when_it_is_opened_again(
    visitor: Visitor, name: str
) -> None:
    page = visitor.page
    visitor.say(f"say: {name}")
    expect(visitor.answers).to_contain_text("that was all of it")
    with page.expect_request("**/stop"):
        page.keyboard.press("Escape")
    expect(visitor.receipts).to_contain_text("Stopped")
    page.reload()
    expect(visitor.receipts).to_contain_text("Stopped")
    assert page.locator(".it *").count() < 2 * NODES  # two texts: before and after "all of it"
    assert page.locator(".it script, .it img, .it b").count() == 0


@pytest.mark.scenario("W7", part="server")
@pytest.mark.parametrize("name", ["ticks", "a megabyte of words", "lines of one letter"])
def test_esc_is_handled_while_it_thinks_a_flood(visitor: Visitor, name: str) -> None:
    visitor.say(f"think: {name}")
    expect(visitor.answers).to_contain_text("that was all of it")
    visitor.page.locator(".thinking summary").first.click()
    with visitor.page.expect_request("**/stop"):
        visitor.page.keyboard.press("Escape")
    expect(visitor.receipts).to_contain_text("Stopped")


@pytest.mark.scenario("W36", part="server")
@pytest.mark.parametrize("name", ["a megabyte of words", "a megabyte of ticks"])
def test_esc_is_handled_in_a_session_of_fifteen_megabytes_that_was_just_opened(
    visitor: Visitor, name: str
) -> None:
    visitor.say(f"ten: {name}")
    expect(visitor.answers).to_contain_text("that was all of it")
    visitor.page.reload()
    expect(visitor.page.locator("lw-composer").get_by_role("button", name="Stop")).to_be_visible()
    with visitor.page.expect_request("**/stop"):
        visitor.page.keyboard.press("Escape")
    expect(visitor.receipts).to_contain_text("Stopped")


@pytest.mark.scenario("W7", part="server")
def test_a_text_that_is_too_long_is_folded_until_somebody_wants_all_of_it(visitor: Visitor) -> None:
    visitor.say("say: a megabyte of words")
    expect(visitor.answers).to_contain_text("that was all of it")
    visitor.page.keyboard.press("Escape")
    expect(visitor.receipts).to_contain_text("Stopped")
    text = visitor.page.locator(".it .text").first
    folded = visitor.page.locator(".it .folded").first
    expect(folded).to_contain_text("1,306,000 characters more are not drawn.")
    assert 199_000 < len(text.text_content() or "") <= 200_000
    visitor.picture("folded", folded)
    folded.get_by_role("button", name="Show all").click()
    expect(folded).to_be_hidden()
    whole = "() => document.querySelector('.it .text').textContent.length > 1490000"
    visitor.page.wait_for_function(whole)


@pytest.mark.scenario("W48", part="server")
def test_a_thousand_calls_are_drawn_in_pieces_and_again_when_they_change(visitor: Visitor) -> None:
    found = visitor.page.evaluate(MANY_CALLS, 1000)
    assert found["many"] == 1000
    assert found["whole"]
    assert 0 < found["first"] <= CALLS
    assert 0 < found["later"] <= 3 * CALLS  # they are there already
    assert not found["laidOut"], "what is far from the screen costs nothing"
    visitor.page.reload()
