"""Programs that wait, as a person answers them on the page."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")
pytest.importorskip("pydantic_monty", reason="pydantic-monty, which runs programs, is not there")

from playwright.sync_api import Locator, Page, expect

from tests.server.browser import Visitor
from tests.server.card_scripts import PROGRAM_CARD

PROGRAM = """
import asyncio

async def wrote(path, text):
    try:
        return await write_file(path, text)
    except RuntimeError as error:
        return f"{path} was not written: {error}"

found = await asyncio.gather(
    shell("date"), wrote("red.txt", "red\\n"), wrote("blue.txt", "blue\\n")
)
print(found)
"""


HALF, LESS = 600, 400  # ms: more and less than half a second, on a clock that is set
ENDING = """async id => {
  const { bearer } = await import("./assets/key.js");
  const asked = await fetch(`v1/sessions/${id}/cells`, { headers: bearer() });
  return (await asked.json()).cells[0].ending;
}"""


@pytest.fixture
def visitor(person: Visitor) -> Generator[Visitor]:
    """With a program that waits for three calls."""
    person.arrive()
    person.say(f"ask run_code: {PROGRAM} | true")
    expect(cards(person)).to_contain_text("A program waits for an answer")
    expect(calls(person)).to_have_count(3)
    yield person
    person.leave()


def cards(visitor: Visitor) -> Locator:
    return visitor.page.locator("lw-program")


def calls(visitor: Visitor) -> Locator:
    return cards(visitor).locator("li")


def state(visitor: Visitor) -> Locator:
    return visitor.page.locator("lw-head .state")


def choose(visitor: Visitor, call: str, choice: str, text: str = "") -> None:
    """Choose an answer for a call that has this in it, and type what belongs to it."""
    row = calls(visitor).filter(has_text=call)
    row.get_by_role("button", name=choice).click()
    if text:
        row.get_by_role("textbox").fill(text)


def go_on(visitor: Visitor) -> Any:
    """Press it; what was sent."""
    with visitor.page.expect_request("**/resume") as sent:
        cards(visitor).get_by_role("button", name="Go on").click()
    return sent.value.post_data_json


def ending(visitor: Visitor) -> Any:
    """How the program ended, as the server has it."""
    return visitor.page.evaluate(ENDING, visitor.session)


def test_each_call_gets_the_answer_that_was_given_for_it_and_no_other(visitor: Visitor) -> None:
    expect(calls(visitor)).to_contain_text(["date", "red.txt", "blue.txt"])
    expect(cards(visitor).get_by_role("button", name="Go on")).to_be_disabled()
    visitor.picture("program")
    choose(visitor, "date", "Give a result", '["Monday", 2')
    expect(calls(visitor).first).to_contain_text("Read as a text, since it is no valid JSON")
    calls(visitor).first.get_by_role("textbox").fill('["Monday", 2]')
    expect(calls(visitor).first).to_contain_text("Read as a list")
    choose(visitor, "red.txt", "Refuse", "not that one")
    visitor.page.keyboard.press("Escape")  # takes the choice back, and stops nothing
    expect(cards(visitor)).to_contain_text("1 of 3 answered")
    visitor.picture("program-answered")
    sent = go_on(visitor)
    assert list(sent["results"].values()) == [{"value": ["Monday", 2]}]
    assert sent["allow"] == []

    expect(cards(visitor)).to_have_attribute("data-generation", "2")
    expect(calls(visitor)).to_contain_text(["red.txt", "blue.txt"])
    expect(visitor.page.locator(".me .words").last).to_have_text("Answers to a program")
    expect(state(visitor)).to_have_text("a program waits")
    choose(visitor, "red.txt", "Refuse", "not that one")
    choose(visitor, "blue.txt", "Let it")
    go_on(visitor)
    visitor.says("red.txt was not written: not that one")
    visitor.quiet()
    expect(cards(visitor)).to_have_count(0)
    made = visitor.answers.last.locator(".call", has_text="blue.txt")
    expect(made).to_contain_text("completed")
    assert ending(visitor)["outcome"] == "completed"


@pytest.mark.scenario("W44", part="server")
def test_a_program_asks_as_carefully_as_a_question(visitor: Visitor) -> None:
    red = calls(visitor).filter(has_text="red.txt")
    expect(red.locator(".lines ins")).to_have_text("+ red")
    expect(calls(visitor).first.locator(".lines.command")).to_have_text("date")
    expect(cards(visitor)).not_to_have_attribute("data-early", "")
    visitor.page.reload()
    expect(cards(visitor)).to_have_attribute("data-early", "")  # it is as new as it looks
    expect(cards(visitor)).not_to_have_attribute("data-early", "")


@pytest.mark.scenario("W44", part="server")
def test_nothing_is_let_by_a_click_that_was_not_meant_for_what_the_card_shows(
    table: Page,
) -> None:
    table.evaluate(PROGRAM_CARD, ["ls"])
    let, go = (table.get_by_role("button", name=name) for name in ("Let it", "Go on"))
    table.clock.run_for(LESS)
    let.click(force=True)
    assert chosen(let) == "false"
    table.clock.run_for(HALF)
    let.click(force=True)
    assert chosen(let) == "true"
    table.evaluate("window.show(['ls', 'rm -r .'])")  # it has gone on, and asks for more
    table.clock.run_for(LESS)
    go.click(force=True)
    assert table.evaluate("window.given") == []
    table.clock.run_for(HALF)
    box = go.bounding_box()
    assert box
    table.mouse.move(box["x"] + 5, box["y"] + 5)
    table.mouse.down()
    table.evaluate("window.show(['rm -r .'])")  # as high as it was, while the button is down
    table.clock.run_for(HALF)
    table.mouse.up()
    assert table.evaluate("window.given") == []
    assert chosen(let) == "false"
    let.click(force=True)
    go.click(force=True)
    table.clock.run_for(1)
    assert table.evaluate("window.given") == [["rm -r ."]]


@pytest.mark.scenario("W44", part="server")
def test_a_call_that_is_worded_anew_is_chosen_anew(table: Page) -> None:
    table.evaluate(PROGRAM_CARD, ["ls"])
    let = table.get_by_role("button", name="Let it")
    table.clock.run_for(HALF)
    let.click(force=True)
    assert chosen(let) == "true"
    table.evaluate("window.show(['ls'], 'replaces 300 lines')")
    assert chosen(let) == "false"
    expect(table.locator("lw-program h3")).to_contain_text("replaces 300 lines")


def chosen(button: Locator) -> str | None:
    return button.first.get_attribute("aria-pressed")


def test_a_stop_freezes_what_waits_and_the_receipt_says_so(visitor: Visitor) -> None:
    expect(state(visitor)).to_have_text("a program waits")
    visitor.page.get_by_role("button", name="Stop", exact=True).click()
    said = "programs frozen: one that waited on shell, write_file"
    expect(visitor.receipts).to_contain_text(said)
    expect(cards(visitor)).to_have_count(0)
    visitor.picture("program-frozen")
    visitor.page.reload()
    expect(visitor.receipts).to_contain_text(said)
    expect(cards(visitor)).to_have_count(0)
    assert ending(visitor)["outcome"] == "frozen"


def test_an_answer_that_comes_late_is_told_and_the_page_catches_up(visitor: Visitor) -> None:
    other = visitor.tab()
    choose(visitor, "date", "Give a result", "Monday")
    # another window's answer comes first, and this page has not heard of it yet
    visitor.page.route("**/resume", lambda route: (route.fetch(), route.continue_()))
    go_on(visitor)
    notice = visitor.page.locator("#notice")
    expect(notice).to_contain_text(re.compile("answered already|has gone on since"))
    for page in (visitor.page, other):
        expect(page.locator("lw-program")).to_have_attribute("data-generation", "2")
        expect(page.locator("lw-program li")).to_have_count(2)
    visitor.wrong.clear()  # the browser notes the refusal


def test_a_program_is_ended_by_who_means_it_and_that_is_still_told_later(visitor: Visitor) -> None:
    keys = visitor.page.keyboard
    keys.press("Alt+q")
    expect(cards(visitor).get_by_role("button", name="Let it").first).to_be_focused()
    end = cards(visitor).get_by_role("button", name="End the program")
    end.click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="Let it wait").click()
    expect(calls(visitor)).to_have_count(3)
    end.click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="End it").click()
    expect(cards(visitor)).to_have_count(0)
    for _ in ("as it came", "all at once"):
        told = visitor.page.locator(".aside")
        expect(told).to_have_text("The program was ended before it was done.")
        visitor.quiet()
        visitor.page.reload()
    assert ending(visitor)["outcome"] == "terminated"
