"""The list of sessions: found, named, pinned and taken along, and no two alike."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from playwright.sync_api import Browser, Locator, Page, expect

from tests.server.browser import Server, Visitor, started
from tests.server.page_node import Modules

DAYS = """async (days) => {
  const { headingOf } = await import("./assets/listing.js");
  const now = new Date(2026, 10, 19, 12).getTime() / 1000;
  return days.map((ago) => headingOf({ at: now - 86400 * ago }, now));
}"""


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    where = tmp_path_factory.mktemp("sessions")
    with started(where, engine="tests.server.day_engine:engine") as server:
        yield server


def said(visitor: Visitor, *messages: str) -> None:
    """Each in a session of its own; the page is at the last."""
    for text in messages:
        visitor.arrive()
        visitor.say(text)
        visitor.says(f"re: {text}")
        visitor.quiet()


def titles(page: Page) -> Locator:
    return page.locator("lw-sessions li a .title")


def do(page: Page, what: str, name: str) -> None:
    press = page.get_by_role("button", name=f"What to do with the session “{name}”")
    press.focus()
    page.keyboard.press("Enter")
    item = page.get_by_role("menuitem", name=f"{what} the session “{name}”")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    item.press("Enter")


@pytest.mark.scenario("Y9", part="page")
def test_a_session_is_renamed_pinned_and_found_by_the_keyboard(visitor: Visitor) -> None:
    page = visitor.page
    said(visitor, "the first", "the second", "the third")
    do(page, "Rename", "the first")
    expect(page.get_by_label("Title")).to_be_focused()
    page.keyboard.type("A tale of stops")
    page.keyboard.press("Enter")
    expect(titles(page)).to_have_text(["the third", "the second", "A tale of stops"])
    do(page, "Pin", "A tale of stops")
    expect(titles(page)).to_have_text(["A tale of stops", "the third", "the second"])
    expect(page.locator("lw-sessions .day")).to_have_text(["Pinned", "Today"])
    visitor.picture("pinned")
    other = visitor.tab()
    expect(titles(other)).to_have_text(["A tale of stops", "the third", "the second"])
    search = page.get_by_label("Search the sessions")
    search.fill("TALE")
    expect(titles(page)).to_have_text(["A tale of stops"])
    search.fill("nowhere")
    expect(page.locator("lw-sessions .none")).to_be_visible()
    visitor.picture("searched")
    search.press("Escape")
    expect(titles(page)).to_have_count(3)
    expect(visitor.receipts).to_have_count(0)
    do(page, "Unpin", "A tale of stops")
    expect(titles(page)).to_have_text(["the third", "the second", "A tale of stops"])


@pytest.mark.scenario("Y9", part="page")
def test_sessions_stand_under_the_day_on_which_something_was_said(modules: Modules) -> None:
    said = modules.evaluate(DAYS, [0, 0.4, 0.6, 1, 3, 30, 400])
    week = ["Today", "Today", "Yesterday", "Yesterday", "Last 7 days"]
    assert said == [*week, "October 2026", "October 2025"]


@pytest.mark.scenario("Y19", part="page")
def test_a_session_is_exported_as_the_server_exports_it(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.page
    said(visitor, "for the shelf")
    with page.expect_download() as coming:
        do(page, "Export", "for the shelf")
    coming.value.save_as(tmp_path / "taken.jsonl")
    assert coming.value.suggested_filename == f"{visitor.session}.jsonl"
    whole = page.request.get(
        f"{page.url.partition('#')[0]}v1/sessions/{visitor.session}/export",
        headers={"Authorization": f"Bearer {page.evaluate(KEY)}"},
    )
    assert (tmp_path / "taken.jsonl").read_bytes() == whole.body()
    assert b"for the shelf" in whole.body()


KEY = """async () => (await import("./assets/key.js")).bearer().Authorization.split(" ")[1]"""


@pytest.mark.scenario("Y20", part="page")
def test_sessions_of_one_title_can_be_told_from_each_other(visitor: Visitor) -> None:
    page = visitor.page
    said(visitor, "same again", "same again")
    names = page.get_by_role("button", name="What to do with the session “same again”")
    expect(names).to_have_count(2)
    first, second = names.evaluate_all("all => all.map((one) => one.ariaLabel)")
    assert first != second
    for name, row in ((first, 0), (second, 1)):
        shown = page.locator("lw-sessions li:has(button) a").nth(row).locator("small")
        expect(shown).to_be_visible()
        assert (shown.text_content() or "?") in name
    visitor.picture("alike")
