"""Every day: what was said is copied, said anew, and gone on with, on the page."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.server.browser import Server, Visitor, started
from tests.server.day_engine import ANSWER, CODE, LONG, LONG_CODE


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    with started(tmp_path_factory.mktemp("day"), engine="tests.server.day_engine:engine") as server:
        yield server


@pytest.fixture
def visitor(person: Visitor) -> Generator[Visitor]:
    person.arrive()
    person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield person
    person.leave()


HIDDEN = """hidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
NOTIFYING = """() => {
  window.told = [];
  window.asked = 0;
  window.Notification = class extends EventTarget {
    static permission = "default";
    static requestPermission = async () => (window.asked++, (this.permission = "granted"));
    constructor(title, { body }) { super(); window.told.push(`${title}: ${body}`); }
  };
}"""
GIVEN = """(box, [how, files]) => {
  const data = new DataTransfer();
  for (const [name, type, bytes] of files)
    data.items.add(new File([new Uint8Array(bytes)], name, { type }));
  const about = { bubbles: true, cancelable: true };
  if (how === "paste")
    box.dispatchEvent(new ClipboardEvent("paste", { ...about, clipboardData: data }));
  else box.dispatchEvent(new DragEvent("drop", { ...about, dataTransfer: data }));
}"""
# whether a colour is laid over this
COLOURED = """([kind, words]) => [...CSS.highlights.get(`code-${kind}`) ?? []].some((one) => {
  const { startContainer, startOffset, endOffset } = one;
  return startContainer.data.slice(startOffset, endOffset).includes(words);
})"""
PNG = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0]
TEXT = list(b"some words")


def press(where: Page | Locator, name: str) -> Locator:
    return where.get_by_role("button", name=name, exact=True)


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def copied(page: Page, where: Page | Locator, what: str) -> str:
    press(where, f"Copy {what}").first.click()
    expect(press(where, f"Copied {what}").first).to_have_text("Copied")
    return clipboard(page)


@pytest.mark.scenario("Y11", part="page")
def test_an_answer_and_its_code_are_copied_as_they_were_written(visitor: Visitor) -> None:
    page = visitor.page
    visitor.say("code")
    visitor.says("and in a list")
    visitor.quiet()
    visitor.picture("code")
    assert copied(page, visitor.answers, "the answer") == ANSWER.strip()
    blocks = visitor.answers.locator(".code")
    assert [copied(page, blocks.nth(one), "this code") for one in (0, 1)] == [CODE, "x"]
    expect(blocks.first.locator(".bar span")).to_have_text("js")
    visitor.page.locator(".me").hover()
    assert copied(page, visitor.page.locator(".me"), "the message") == "code"


@pytest.mark.scenario("Y11", part="page")
def test_where_a_page_may_not_write_to_the_clipboard_it_is_copied_all_the_same(
    visitor: Visitor,
) -> None:
    page = visitor.page
    visitor.say("hello")
    visitor.says("re: hello")
    visitor.quiet()
    page.evaluate("() => void (navigator.clipboard.writeText = () => Promise.reject())")
    one = press(visitor.answers, "Copy the answer")
    one.focus()
    page.keyboard.press("Enter")
    expect(press(visitor.answers, "Copied the answer")).to_be_focused()
    assert clipboard(page) == "re: hello"
    page.reload()


@pytest.mark.scenario("Y23", part="page")
def test_a_text_that_is_folded_is_copied_whole_and_is_whole_when_unfolded(visitor: Visitor) -> None:
    page = visitor.page
    visitor.say("long")
    more = visitor.answers.get_by_role("button", name="Show all")
    expect(more).to_be_visible()
    visitor.quiet()
    assert copied(page, visitor.answers, "the answer") == LONG.strip()
    assert copied(page, visitor.answers, "this code") == LONG_CODE.strip()
    code = visitor.answers.locator("pre code")
    assert len(code.text_content() or "") < 200_000
    more.click()
    page.wait_for_function(
        "() => document.querySelector('.it pre code').textContent.length >= 330000"
    )
    assert code.text_content() == LONG_CODE


@pytest.mark.scenario("Y25", part="page")
def test_code_has_colours_and_what_takes_too_long_to_read_holds_up_nothing(
    visitor: Visitor,
) -> None:
    page, words = visitor.page, visitor.answers.locator("pre code").first
    visitor.say("code")
    visitor.says("and in a list")
    page.wait_for_function(COLOURED, arg=["word", "let"])
    assert words.text_content() == f"{CODE}\n"
    assert words.locator("span").evaluate_all("all => all.every((one) => !one.children.length)")
    visitor.say("slow")
    visitor.says("x = 1")
    page.wait_for_function(COLOURED, arg=["aside", "# one"])
    assert not page.evaluate(COLOURED, ["text", "[a]("]), "it was given up"
    page.keyboard.press("Alt+n")
    expect(page.locator(".welcome")).to_be_visible()
    page.wait_for_function("() => [...CSS.highlights.values()].every((one) => !one.size)")
    visitor.say("code")
    page.wait_for_function(COLOURED, arg=["word", "let"])
    visitor.quiet()


@pytest.mark.scenario("Y1", part="page")
def test_a_person_tries_again_and_says_the_last_message_in_other_words(visitor: Visitor) -> None:
    page = visitor.page
    visitor.say("one")
    visitor.says("re: one")
    visitor.quiet()
    press(visitor.answers, "Try again").click()
    expect(visitor.answers).to_have_count(2)
    expect(visitor.answers.first).to_contain_text("Left out of what the model is shown.")
    expect(page.locator(".me .words")).to_have_text(["one", "one"])
    visitor.quiet()
    expect(press(page, "Try again")).to_have_count(1)
    expect(press(page, "Edit the message")).to_have_count(1)
    press(page, "Edit the message").click()
    box = page.get_by_label("Your message, in other words")
    expect(box).to_be_focused()
    visitor.picture("editing")
    page.keyboard.type(", two")
    page.keyboard.press("Enter")
    expect(visitor.answers).to_have_count(3)
    visitor.says("re: one, two")
    expect(visitor.answers.nth(1)).to_contain_text("Left out of what the model is shown.")
    expect(box).to_have_count(0)
    expect(visitor.box).to_be_focused()
    visitor.quiet()
    visitor.picture("again")


@pytest.mark.scenario("Y1", part="page")
def test_what_is_going_is_said_in_other_words_and_esc_gives_up_the_edit_alone(
    visitor: Visitor,
) -> None:
    page = visitor.page
    visitor.say("count")
    visitor.says("8 9")
    press(page, "Edit the message").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(press(page, "Edit the message")).to_be_focused()
    expect(visitor.receipts).to_have_count(0)
    page.keyboard.press("Enter")
    page.get_by_label("Your message, in other words").fill("something else")
    press(page, "Send again").click()
    visitor.says("re: something else")
    expect(visitor.receipts).to_have_count(1)


@pytest.mark.scenario("Y4", part="page")
def test_two_who_say_the_same_message_anew_are_one_and_the_other_keeps_the_words(
    visitor: Visitor,
) -> None:
    page, held = visitor.page, list[Route]()
    visitor.say("one")
    visitor.says("re: one")
    visitor.quiet()
    page.route("**/again", lambda route: held.insert(0, route))
    press(page, "Edit the message").click()
    mine = page.get_by_label("Your message, in other words")
    mine.fill("mine")
    page.keyboard.press("Enter")
    other = visitor.tab()
    press(other, "Go on editing the message").click()
    other.get_by_label("Your message, in other words").fill("theirs")
    other.keyboard.press("Enter")
    visitor.says("re: theirs")
    [route] = held
    route.continue_()
    expect(page.locator("#notice")).to_contain_text("is not the last any more")
    expect(mine).to_have_value("mine")
    expect(visitor.answers).to_have_count(2)
    visitor.wrong.clear()  # the browser notes the refusal


@pytest.mark.scenario("Y4", part="page")
def test_who_edits_a_message_that_stops_being_the_last_replaces_nothing_else(
    visitor: Visitor,
) -> None:
    page = visitor.page
    visitor.say("one")
    visitor.says("re: one")
    visitor.quiet()
    press(page, "Edit the message").click()
    mine = page.get_by_label("Your message, in other words")
    mine.fill("one, and a half")
    other = visitor.tab()
    other.locator("lw-composer textarea").fill("two")
    other.locator("lw-composer textarea").press("Enter")
    visitor.says("re: two")
    expect(press(page, "Put it in the box")).to_be_visible()
    visitor.picture("editing-late")
    mine.press("Enter")
    expect(visitor.box).to_have_value("one, and a half")
    expect(mine).to_have_count(0)
    expect(page.locator(".it")).to_have_count(2)
    expect(page.locator(".it", has_text="Left out")).to_have_count(0)
    visitor.box.fill("")


@pytest.mark.scenario("Y12", part="page")
def test_after_a_stop_one_press_goes_on_by_a_message_that_everybody_can_read(
    visitor: Visitor,
) -> None:
    page = visitor.page
    visitor.say("count")
    visitor.says("8 9")
    expect(press(page, "Go on")).to_have_count(0)
    page.keyboard.press("Escape")
    go_on = press(visitor.receipts, "Go on")
    expect(go_on).to_be_visible()
    visitor.quiet()
    visitor.picture("stopped-go-on")
    go_on.focus()
    page.keyboard.press("Enter")
    visitor.says("re: Go on.")
    expect(page.locator(".me .words")).to_have_text(["count", "Go on."])
    expect(visitor.receipts).to_have_count(1)
    expect(press(page, "Go on")).to_have_count(0)


def given(page: Page, event: str, *files: tuple[str, str, list[int]]) -> None:
    """Paste or drop them at the message box."""
    page.locator("lw-composer textarea").evaluate(GIVEN, [event, list(files)])


@pytest.mark.scenario("Y13", part="page")
def test_files_come_by_the_button_by_paste_and_by_drop_and_are_shown_before_they_are_sent(
    visitor: Visitor, tmp_path: Path
) -> None:
    page, chips = visitor.page, visitor.page.locator("lw-composer .files li span")
    file = tmp_path / "notes.py"
    file.write_text("print(1)", encoding="utf-8")
    with page.expect_file_chooser() as chosen:
        press(page, "Attach files").click()
    chosen.value.set_files(file)
    expect(chips).to_have_text(["notes.py"])
    given(page, "paste", ("shot.png", "image/png", PNG))
    given(page, "drop", ("left out.txt", "text/plain", TEXT), ("words.txt", "text/plain", TEXT))
    expect(chips).to_have_text(["notes.py", "shot.png", "left out.txt", "words.txt"])
    press(page, "Leave left out.txt out").click()
    visitor.picture("attached")
    visitor.say("look")
    visitor.says("re: look with notes.py, shot.png, words.txt")
    expect(chips).to_have_count(0)
    expect(page.locator(".me")).to_contain_text("notes.py, shot.png, words.txt")


@pytest.mark.scenario("Y13", part="page")
def test_what_cannot_go_with_a_message_is_refused_with_the_limit(visitor: Visitor) -> None:
    page, chips = visitor.page, visitor.page.locator("lw-composer .files li span")
    notice = page.locator("#notice")
    given(page, "drop", ("a.zip", "application/zip", [0x50, 0x4B, 0, 0xFF]), ("none", "", []))
    expect(notice).to_contain_text("a.zip: no model reads such files; text, pictures and PDF go")
    expect(notice).to_contain_text("none: it is empty")
    visitor.picture("refused")
    given(page, "drop", ("p.png", "image/png", [0] * 3_900_001))
    expect(notice).to_contain_text("a picture has 3.9 MB at most")
    given(page, "drop", *((f"{one}.txt", "text/plain", TEXT) for one in range(21)))
    expect(notice).to_contain_text("20.txt: 20 files at most")
    expect(chips).to_have_count(20)
    page.reload()


@pytest.mark.scenario("Y13", part="page")
def test_files_that_could_not_be_sent_are_there_to_be_sent_again(visitor: Visitor) -> None:
    page, chips = visitor.page, visitor.page.locator("lw-composer .files li span")
    given(page, "drop", ("words.txt", "text/plain", TEXT))
    expect(chips).to_have_text(["words.txt"])
    page.route("**/messages", lambda route: route.abort())
    visitor.say("look")
    expect(visitor.box).to_have_value("look")
    expect(chips).to_have_text(["words.txt"])
    page.unroute_all()
    visitor.box.press("Enter")
    visitor.says("re: look with words.txt")


@pytest.mark.scenario("Y15", part="page")
def test_what_ends_in_a_hidden_tab_is_said_in_the_title_and_where_allowed_by_a_notification(
    visitor: Visitor,
) -> None:
    page = visitor.page
    page.reload()  # what this browser allows is changed after the page was drawn
    page.evaluate(NOTIFYING)
    visitor.say("one")
    visitor.says("re: one")
    visitor.quiet()
    page.evaluate(HIDDEN, True)
    visitor.say("two")
    visitor.says("re: two")
    page.wait_for_function("() => document.title.startsWith('✓ ')")
    assert page.evaluate("[told.length, asked]") == [0, 0], "nobody has asked for it"
    page.evaluate(HIDDEN, False)
    page.wait_for_function("() => !document.title.startsWith('✓')")
    page.locator("lw-head .details").click()
    press(page, "Tell me").click()
    expect(press(page, "Tell me no more")).to_be_visible()
    page.keyboard.press("Escape")
    visitor.say("three")
    visitor.says("re: three")
    visitor.quiet()
    page.evaluate(HIDDEN, True)
    visitor.say("four")
    visitor.says("re: four")
    page.wait_for_function("() => told.length")
    assert page.evaluate("[told, asked]") == [["one: It has ended."], 1]
    page.evaluate("() => localStorage.removeItem('lastword notify')")
    page.reload()
