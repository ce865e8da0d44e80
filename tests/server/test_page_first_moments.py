"""The first moments after a page was loaded: nothing that the person typed or sent is lost."""

from __future__ import annotations

from collections.abc import Generator

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from playwright.sync_api import Page, Route, expect

from tests.server.browser import Server, Visitor

WORDS = "think about it"


class Gate:
    """Holds the page's first question to the server, so that it is not answered yet."""

    def __init__(self, page: Page) -> None:
        self._held: list[Route] | None = []
        page.route("**/v1/me", self._comes)

    def _comes(self, route: Route) -> None:
        if self._held is None:
            route.continue_()
        else:
            self._held.append(route)

    def open(self) -> None:
        held, self._held = self._held or [], None
        for route in held:
            route.continue_()


@pytest.fixture
def gate(person: Visitor) -> Generator[Gate]:
    person.arrive()
    gate = Gate(person.page)
    yield gate
    gate.open()
    person.page.unroute_all()
    person.leave()


def load(visitor: Visitor, address: str) -> None:
    """Go there; only the box is on the page yet."""
    visitor.page.goto("about:blank")
    visitor.page.goto(address, wait_until="domcontentloaded")
    expect(visitor.box).to_be_focused()


@pytest.mark.scenario("W46", part="server")
def test_what_is_typed_and_sent_at_once_is_answered_though_nobody_clicked(
    person: Visitor, server: Server, gate: Gate
) -> None:
    page = person.page
    load(person, f"{server.url}#/s/{person.session}")
    page.keyboard.type(WORDS)
    with page.expect_response("**/messages") as told:  # before the page has heard who it is
        page.keyboard.press("Enter")
    assert told.value.ok
    expect(person.box).to_have_value("")
    gate.open()
    person.says("I thought about it")
    expect(page.locator(".me .words")).to_have_text([WORDS])


@pytest.mark.scenario("W46", part="server")
def test_what_is_sent_before_it_is_known_where_to_is_sent_there(
    person: Visitor, server: Server, gate: Gate
) -> None:
    page = person.page
    person.say("count to 3")  # so that there is a newest session
    person.says("1 2 3")
    person.quiet()
    load(person, server.url)
    page.keyboard.type(WORDS)
    page.keyboard.press("Enter")
    expect(person.box).to_have_value("")
    expect(person.box).to_have_attribute("placeholder", "This is sent as soon as the page is ready")
    page.keyboard.type("and the next")
    gate.open()
    person.says("I thought about it")
    expect(page.locator(".me .words").last).to_have_text(WORDS)
    expect(person.box).to_have_value("and the next")


@pytest.mark.scenario("W46", part="server")
@pytest.mark.parametrize("addressed", [True, False])
def test_a_draft_and_what_is_typed_at_once_are_both_kept(
    person: Visitor, server: Server, gate: Gate, addressed: bool
) -> None:
    page = person.page
    person.say("count to 3")
    person.says("1 2 3")
    person.quiet()
    person.box.fill("a long draft of mine")
    load(person, f"{server.url}#/s/{person.session}" if addressed else server.url)
    page.keyboard.press("Control+End")
    page.keyboard.type("!")
    gate.open()
    expect(page.locator("body")).to_have_attribute("data-session", person.session)
    kept = "a long draft of mine!" if addressed else "a long draft of mine\n!"
    expect(person.box).to_have_value(kept)
