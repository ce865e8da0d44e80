"""What comes last is on the screen, however fast it comes, unless the person went elsewhere."""

from __future__ import annotations

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from playwright.sync_api import Page, expect

from tests.server.browser import Visitor
from tests.server.page_scripts import FOLLOWED

# the answer grows in a frame, and again before the page is told that it was scrolled
GROWS = """async () => {
  const answer = document.querySelector(".it");
  let height = answer.offsetHeight;
  const grow = () => { answer.style.minHeight = `${(height += 400)}px`; };
  for (let times = 0; times < 20; times++) {
    await new Promise(requestAnimationFrame);
    grow();
    const { port1, port2 } = new MessageChannel();
    await new Promise((drawn) => {
      port1.onmessage = drawn;
      requestAnimationFrame(() => port2.postMessage(0)); // the next task after that frame
      setTimeout(grow);
    });
    grow();
  }
  for (let times = 0; times < 4; times++) await new Promise(requestAnimationFrame);
}"""
AWAY = """() => {
  const { scrollHeight, scrollTop, clientHeight } = document.querySelector(".scroller");
  return scrollHeight - scrollTop - clientHeight;
}"""


def away(page: Page) -> float:
    """Pixels from the end."""
    return page.evaluate(AWAY)


@pytest.mark.scenario("W47", part="server")
def test_nobody_scrolled_so_the_receipt_and_the_question_are_on_the_screen(
    visitor: Visitor,
) -> None:
    page = visitor.page
    visitor.counting()
    page.evaluate(GROWS)
    assert away(page) < 2
    page.keyboard.press("Escape")
    expect(visitor.receipts).to_be_in_viewport()
    page.evaluate(GROWS)
    visitor.say("run echo hello from a shell")
    expect(page.locator("lw-question")).to_be_in_viewport()
    page.evaluate(GROWS)
    expect(page.get_by_role("button", name="Allow", exact=True)).to_be_in_viewport()


@pytest.mark.scenario("W47", part="server")
def test_who_scrolled_up_to_read_stays_there_until_they_go_back(visitor: Visitor) -> None:
    page, jump = visitor.page, visitor.page.get_by_role("button", name="Jump to latest")
    visitor.counting()
    page.evaluate(GROWS)
    expect(jump).to_be_hidden()
    page.locator(".scroller").hover()
    page.mouse.wheel(0, -700)
    expect(jump).to_be_visible()
    before = page.locator(".scroller").evaluate("one => one.scrollTop")
    page.evaluate(GROWS)
    assert page.locator(".scroller").evaluate("one => one.scrollTop") <= before
    jump.click()
    expect(jump).to_be_hidden()
    assert away(page) < 2
    page.evaluate(GROWS)
    assert away(page) < 2


def test_the_box_of_long_code_follows_it_and_tables_are_aligned_as_they_were_written(
    visitor: Visitor,
) -> None:
    followed, aligned = visitor.page.evaluate(FOLLOWED)
    assert followed == [True] * 4
    assert aligned == ["left", "left", "center", "right"]
