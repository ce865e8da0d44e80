"""What goes on under an id, on the page: read, written to, signalled and ended by the person."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Generator

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from playwright.sync_api import Browser, Locator, Request, Route, expect

from tests.server.browser import Server, Visitor, started

CLICKED_AS_IT_MOVED = """row => new Promise((done) => {
  const button = [...row.querySelectorAll("button")].find((one) => one.textContent === "End it");
  const watch = new MutationObserver(() => {
    watch.disconnect();
    const place = { bubbles: true, detail: 1 };
    button.dispatchEvent(new PointerEvent("pointerdown", place));
    button.dispatchEvent(new PointerEvent("click", place));
    done();
  });
  watch.observe(row.parentElement, { childList: true });
})"""
CLICKED_AS_ANOTHER_CAME = """(row, address) => new Promise((done) => {
  const button = [...row.querySelectorAll("button")].find((one) => one.textContent === "End it");
  window.addEventListener("hashchange", () => done(button.click()), { once: true });
  location.hash = address;
})"""


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    folder = tmp_path_factory.mktemp("processes")
    with started(folder, engine="tests.server.processes_to_serve:engine") as server:
        yield server


def row(visitor: Visitor, command: str) -> Locator:
    name = visitor.page.locator("code", has_text=re.compile(f"^{command}$"))
    return visitor.page.locator(".process", has=name)


def listed(visitor: Visitor, *commands: str) -> None:
    """Have these started, and the list of them opened."""
    visitor.say(" ".join(commands))
    pill = visitor.page.locator(".pill.processes")
    many = len([one for one in commands if one != "kept"])
    expect(pill).to_contain_text(f"{many} process")
    pill.click()
    for command in commands:
        if command != "kept":
            expect(press(row(visitor, command), "End it")).to_be_visible()


def press(row: Locator, name: str) -> Locator:
    return row.get_by_role("button", name=name, exact=True)


def pid(row: Locator) -> int:
    return int(re.findall(r"pid (\d+)", row.inner_text())[0])


@pytest.mark.scenario("P27", part="server")
def test_a_person_reads_writes_to_signals_and_ends_a_process_on_the_page(visitor: Visitor) -> None:
    listed(visitor, "reader")
    one = row(visitor, "reader")
    output = one.get_by_label(re.compile("^What p\\d+ wrote$"))
    expect(output).to_be_hidden()
    press(one, "Output").click()
    expect(output).to_have_text("up\n")
    field = one.get_by_role("textbox", name=re.compile("^Write a line to p\\d+$"))
    field.fill("one two")
    press(one, "Write").click()
    expect(output).to_have_text("up\ngot one two\n")  # without being asked for again
    expect(field).to_have_value("")
    expect(one.locator(".told")).to_have_text(re.compile("^p\\d+ has been given it.$"))
    visitor.picture("processes")
    press(one, "Interrupt").click()
    expect(one.locator(".told")).to_have_text(re.compile("^SIGINT was sent to p\\d+.$"))
    expect(output).to_contain_text("interrupted")
    press(one, "End it").click()
    expect(one.locator(".about")).to_contain_text(re.compile("has ended: .*as the person wanted"))
    expect(output).to_contain_text("got one two")  # what is looked at stays
    for gone in ("End it", "Write", "Interrupt"):
        expect(press(one, gone)).to_be_hidden()
    visitor.page.keyboard.press("Escape")
    expect(one).to_have_count(0)
    expect(visitor.receipts).to_have_count(0)


@pytest.mark.scenario("P27", part="server")
def test_the_end_of_its_input_is_read_by_a_process(visitor: Visitor) -> None:
    listed(visitor, "counter")
    one = row(visitor, "counter")
    press(one, "Output").click()
    one.get_by_role("textbox").fill("one")
    press(one, "Write").click()
    press(one, "Finish").click()
    expect(one.locator("pre")).to_have_text("4\n")


@pytest.mark.scenario("P27", part="server")
@pytest.mark.parametrize("name", ["Hang up", "Terminate", "Kill"])
def test_a_signal_that_ends_it_is_told_and_so_is_how_it_ended(visitor: Visitor, name: str) -> None:
    sent = {"Hang up": "SIGHUP", "Terminate": "SIGTERM", "Kill": "SIGKILL"}[name]
    listed(visitor, "silent")
    one = row(visitor, "silent")
    press(one, "Output").click()
    expect(one.locator("pre")).to_have_text("It has written nothing.")
    expect(one.get_by_role("textbox")).to_have_count(0)  # it was started without an input
    press(one, name).click()
    expect(one.locator(".told")).to_have_text(re.compile(f"^{sent} was sent to p\\d+.$"))
    expect(one.locator(".about")).to_contain_text(f"has ended: ended by {sent}")


@pytest.mark.scenario("P27", part="server")
def test_what_comes_too_late_is_said_beside_it_and_what_was_typed_is_kept(visitor: Visitor) -> None:
    listed(visitor, "deaf")
    one = row(visitor, "deaf")
    press(one, "Output").click()
    field = one.get_by_role("textbox")
    field.fill("first")
    press(one, "Write").click()
    expect(one.locator("pre")).to_contain_text("deaf now")
    field.fill("second")
    press(one, "Write").click()
    expect(one.locator(".told.wrong")).to_contain_text("reads no more of its input")
    expect(field).to_have_value("second")
    visitor.picture("processes-wrong")

    def end_it_first(route: Route) -> None:
        path = route.request.url.removesuffix("/signal")
        route.fetch(url=path, method="DELETE", post_data="")
        route.continue_()

    visitor.page.route("**/signal", end_it_first)
    press(one, "Interrupt").click()
    expect(one.locator(".told.wrong")).to_contain_text("has ended, so nothing was done")
    expect(visitor.page.locator("#notice")).to_be_hidden()
    visitor.wrong.clear()  # the browser notes the refusals


@pytest.mark.scenario("P27", part="server")
def test_a_process_is_gone_on_with_by_the_keyboard_alone(visitor: Visitor) -> None:
    page, keys = visitor.page, visitor.page.keyboard
    visitor.say("reader")
    pill = page.locator(".pill.processes")
    expect(pill).to_contain_text("1 process")
    pill.focus()
    keys.press("Enter")
    one = row(visitor, "reader")
    expect(one).not_to_have_attribute("data-early", "")
    keys.press("Tab")
    expect(press(one, "Output")).to_be_focused()
    keys.press("Enter")
    expect(one.locator("pre")).to_have_text("up\n")
    keys.press("Tab")
    expect(press(one, "End it")).to_be_focused()
    keys.press("Tab")
    expect(one.locator("pre")).to_be_focused()
    keys.press("Tab")
    keys.type("by hand")
    keys.press("Enter")
    expect(one.locator("pre")).to_contain_text("got by hand")
    keys.press("Tab")
    keys.press("Tab")
    for name in ("Interrupt", "Hang up", "Terminate", "Kill"):
        keys.press("Tab")
        expect(press(one, name)).to_be_focused()
    keys.press("Enter")
    expect(one.locator(".about")).to_contain_text("has ended: ended by SIGKILL")
    expect(press(one, "Output")).to_be_focused()  # what had the focus is gone
    keys.press("Escape")  # it closes the list, and stops nothing
    expect(pill).to_be_focused()
    expect(visitor.receipts).to_have_count(0)


@pytest.mark.scenario("P28", part="server")
def test_what_a_process_writes_stays_text(visitor: Visitor) -> None:
    listed(visitor, "hostile")
    one = row(visitor, "hostile")
    press(one, "Output").click()
    expect(one.locator("pre")).to_have_text(
        "<img src=x onerror=alert(1)><b>bold</b> red \ufffdoof\n"
    )
    assert one.locator("pre *").count() == 0


@pytest.mark.scenario("P28", part="server")
def test_the_last_of_megabytes_is_shown_and_esc_stops(visitor: Visitor) -> None:
    listed(visitor, "megabytes")
    one = row(visitor, "megabytes")
    press(one, "Output").click()
    expect(one.locator("pre")).to_contain_text("the end")
    expect(one).to_contain_text("The last of 3,000,009 bytes")
    assert len(one.locator("pre").text_content() or "") <= 8000
    visitor.page.keyboard.press("Escape")
    with visitor.page.expect_request("**/stop"):
        visitor.page.keyboard.press("Escape")
    expect(visitor.receipts).to_contain_text("Stopped")


@pytest.mark.scenario("P28", part="server")
def test_a_press_on_a_row_that_has_just_moved_ends_nothing(visitor: Visitor) -> None:
    deleted = list[Request]()
    visitor.page.on("request", lambda one: deleted.append(one) if one.method == "DELETE" else None)
    listed(visitor, "silent", "hostile")
    first, second = row(visitor, "silent"), row(visitor, "hostile")
    expect(second).not_to_have_attribute("data-early", "")
    second.evaluate(f"row => {{ window.clicked = ({CLICKED_AS_IT_MOVED})(row); }}")
    os.kill(pid(first), signal.SIGKILL)
    visitor.page.evaluate("() => window.clicked")
    expect(first).to_have_count(0)
    press(second, "End it").click()  # when it has stood still it is taken
    expect(second.locator(".about")).to_contain_text("has ended")
    assert len(deleted) == 1


@pytest.mark.scenario("P28", part="server")
def test_a_press_is_for_the_session_in_which_the_process_was_listed(visitor: Visitor) -> None:
    listed(visitor, "kept", "silent")
    other = visitor.session
    visitor.arrive()
    listed(visitor, "kept", "silent")  # under the same id
    one = row(visitor, "silent")
    expect(one).not_to_have_attribute("data-early", "")
    with visitor.page.expect_response(lambda one: one.request.method == "DELETE") as told:
        one.evaluate(CLICKED_AS_ANOTHER_CAME, f"#/s/{other}")
    assert f"/sessions/{visitor.session}/" in told.value.url
    expect(visitor.page.locator("body")).to_have_attribute("data-session", other)
    expect(row(visitor, "silent")).to_have_count(0)
    visitor.page.locator(".pill.processes").click()
    expect(row(visitor, "silent").locator(".about")).not_to_contain_text("has ended")
