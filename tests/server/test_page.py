"""The page, as a person uses it: in a browser, against a server with the rehearsal agent."""

from __future__ import annotations

import re

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")

from playwright.sync_api import Route, expect

from tests.server.browser import Server, Visitor, counts, numbers
from tests.server.page_scripts import UNSCROLLED

ASKS = "run echo hello from a shell"
SHORT, SHORT_ANSWER = "think about it", "I thought about it, as a rehearsal can."


def test_what_a_person_says_is_answered(visitor: Visitor) -> None:
    expect(visitor.page.locator(".welcome")).to_be_visible()
    visitor.picture("empty")
    visitor.say(SHORT)
    visitor.says(SHORT_ANSWER)
    visitor.quiet()
    expect(visitor.page.locator(".me .words")).to_have_text([SHORT])
    expect(visitor.page.locator("lw-sessions a[aria-current]")).to_contain_text(SHORT)


@pytest.mark.scenario("S1")
def test_esc_stops_and_nothing_more_is_drawn(visitor: Visitor) -> None:
    visitor.counting()
    visitor.picture("streaming")
    visitor.page.keyboard.press("Escape")
    expect(visitor.receipts).to_contain_text("Stopped: 1 answer cut off, quiet after ")
    seen = numbers(visitor.page)
    visitor.picture("stopped")
    visitor.say(SHORT)
    visitor.says(SHORT_ANSWER)
    assert numbers(visitor.page) == seen
    assert seen[:-1] == list(range(1, len(seen)))


@pytest.mark.scenario("S1")
def test_esc_stops_a_message_that_is_still_on_its_way(visitor: Visitor) -> None:
    page, held, words = visitor.page, list[Route](), visitor.page.locator(".between")
    page.route("**/messages", lambda route: held.insert(0, route))
    first = page.locator(".tries button").first  # its session begins with it
    for count, speak in enumerate((first.click, lambda: visitor.say("count to 9999")), 1):
        speak()
        expect(words).to_have_text("sending…")
        expect(visitor.box).to_be_focused()
        with page.expect_response("**/stop"):
            page.keyboard.press("Escape")
        expect(words).to_have_text("asking it to stop…")
        expect(page.locator("#notice")).to_be_hidden()
        held.pop().continue_()
        expect(visitor.receipts).to_have_count(count)
        expect(visitor.receipts.last).to_contain_text("Stopped: 1 answer cut off, quiet after ")
        visitor.quiet()
    visitor.wrong.clear()  # the browser notes that the session was not there at first


@pytest.mark.scenario("W37", part="server")
def test_esc_stops_before_the_page_has_heard_anything_from_the_server(visitor: Visitor) -> None:
    page, held = visitor.page, list[Route]()
    visitor.counting()
    page.route("**/v1/me", lambda route: held.insert(0, route))
    page.reload(wait_until="domcontentloaded")
    expect(page.locator("lw-composer textarea")).to_be_visible()
    with page.expect_response(f"**/v1/sessions/{visitor.session}/stop") as told:
        page.keyboard.press("Escape")
    assert told.value.json()["receipt"]["runs"]
    for route in held:
        route.continue_()
    expect(visitor.receipts).to_contain_text("Stopped")


def test_esc_closes_what_is_open_in_front_and_stops_nothing(visitor: Visitor) -> None:
    visitor.counting()
    visitor.page.keyboard.press("Control+/")
    expect(visitor.page.get_by_role("dialog")).to_contain_text("stop what is going")
    visitor.page.keyboard.press("Escape")
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)
    counts(visitor.page, len(numbers(visitor.page)) + 5)
    expect(visitor.receipts).to_have_count(0)


def test_a_new_message_takes_over(visitor: Visitor) -> None:
    visitor.counting()
    visitor.say(SHORT)
    expect(visitor.answers).to_have_count(2)
    visitor.says(SHORT_ANSWER)
    expect(visitor.receipts).to_contain_text("Replaced by a new message: 1 answer cut off")
    order = visitor.page.locator(".column > *").evaluate_all("all => all.map(one => one.className)")
    kinds = [one.split()[0] for one in order]
    assert kinds == ["me", "it", "receipt", "me", "it"]


def test_a_word_that_means_stop_stops(visitor: Visitor) -> None:
    visitor.counting()
    visitor.say("STOP!!")
    expect(visitor.receipts).to_contain_text("Stopped: 1 answer cut off, quiet after ")
    expect(visitor.page.locator(".me")).to_have_count(1)


@pytest.mark.scenario("G5", part="server")
def test_a_question_is_answered_once_and_withdrawn_by_a_stop(visitor: Visitor) -> None:
    visitor.say(ASKS)
    question = visitor.page.locator("lw-question")
    expect(question).to_contain_text("echo hello from a shell")
    visitor.picture("asking")
    other = visitor.tab()
    other.get_by_role("button", name="Allow", exact=True).click()
    expect(question).to_have_count(0)
    visitor.says("shell returned: hello from a shell")
    call = visitor.page.locator(".it .call")
    expect(call).to_contain_text("completed")
    call.locator("summary").click()
    expect(call.locator(".inside pre").last).to_have_text(re.compile("hello from a shell"))
    visitor.quiet()  # else the next message takes over, which has a receipt of its own

    visitor.say("run echo never")
    expect(question).to_contain_text("echo never")
    visitor.page.keyboard.press("Escape")
    expect(visitor.receipts).to_contain_text("tools not started: shell")
    expect(question).to_have_count(0)
    expect(other.locator("lw-question")).to_have_count(0)


def test_a_late_answer_is_told_kindly(visitor: Visitor) -> None:
    visitor.say(ASKS)
    allow = visitor.page.get_by_role("button", name="Allow", exact=True)
    expect(allow).to_be_visible()
    # somebody else's answer comes first, and this page has not heard of it yet
    visitor.page.route("**/permissions/*", lambda route: (route.fetch(), route.continue_()))
    allow.click()
    expect(visitor.page.locator("#notice")).to_contain_text("answered already")
    expect(visitor.page.locator("lw-question")).to_have_count(0)
    visitor.says("shell returned")
    visitor.wrong.clear()  # the browser notes the refusal


def test_live_output_is_shown_below_its_call_and_its_processes_end_with_a_stop(
    visitor: Visitor,
) -> None:
    visitor.say("run echo one; sleep 300")
    visitor.page.get_by_role("button", name="Allow", exact=True).click()
    expect(visitor.page.locator(".call .output")).to_contain_text("one")
    expect(visitor.page.locator(".pill.processes")).to_contain_text("process")
    visitor.picture("running")
    visitor.page.keyboard.press("Escape")
    expect(visitor.receipts).to_contain_text("tools may have executed: shell")
    expect(visitor.receipts).to_contain_text(re.compile("processes: .*(ended|killed)"))
    expect(visitor.page.locator(".it .call")).to_contain_text("may have executed")
    visitor.receipts.locator("summary").click()
    expect(visitor.receipts.locator("table").first).to_be_visible()


def test_what_waits_can_be_edited_moved_and_removed(visitor: Visitor) -> None:
    visitor.counting()
    for text in ("one", "two", "three"):
        visitor.say(text, "Alt+Enter")
    expect(visitor.chips).to_have_text(["one", "two", "three"])
    page, chips = visitor.page, visitor.page.locator("lw-queue .chip")
    chips.nth(2).focus()
    page.keyboard.press("Alt+ArrowLeft")
    expect(visitor.chips).to_have_text(["one", "three", "two"])
    chips.nth(0).drag_to(chips.nth(2))
    expect(visitor.chips).to_have_text(["three", "two", "one"])
    visitor.chips.nth(0).click()
    page.keyboard.type("hello")
    page.keyboard.press("Enter")
    expect(visitor.chips).to_have_text(["hello", "two", "one"])
    visitor.picture("queue")
    page.keyboard.press("Escape")  # the edit is over, so this stops
    expect(visitor.receipts).to_contain_text("messages dropped: “hello”")
    expect(visitor.chips).to_have_count(0)
    visitor.receipts.get_by_role("button", name="Put it back in the box").first.click()
    expect(visitor.box).to_have_value("hello")


def test_what_is_removed_from_the_queue_is_never_answered(visitor: Visitor) -> None:
    visitor.counting(30)
    visitor.say("story", "Alt+Enter")
    visitor.say(SHORT, "Alt+Enter")
    expect(visitor.chips).to_have_text(["story", SHORT])
    visitor.page.locator("lw-queue .chip").nth(0).focus()
    visitor.page.keyboard.press("Delete")
    expect(visitor.chips).to_have_text([SHORT])
    visitor.says(SHORT_ANSWER)
    expect(visitor.page.locator(".me .words")).to_have_text(["count to 30", SHORT])


@pytest.mark.scenario("S20", part="server")
def test_a_reload_in_the_middle_of_an_answer_loses_and_repeats_nothing(visitor: Visitor) -> None:
    visitor.counting()
    visitor.box.fill("half a thought")
    visitor.page.reload()
    counts(visitor.page, 30)
    expect(visitor.box).to_have_value("half a thought")
    visitor.page.keyboard.press("Escape")
    expect(visitor.receipts).to_have_count(1)
    seen = numbers(visitor.page)
    assert seen[:-1] == list(range(1, len(seen)))


@pytest.mark.scenario("A9", part="server")
def test_two_tabs_show_the_same_and_either_can_stop(visitor: Visitor) -> None:
    other = visitor.tab()
    visitor.counting()
    counts(other, 8)
    third = visitor.tab()
    third.close()  # who leaves stops nothing
    counts(other, len(numbers(other)) + 5)
    other.keyboard.press("Escape")
    for page in (visitor.page, other):
        expect(page.locator("lw-receipt")).to_contain_text(
            "Stopped: 1 answer cut off, quiet after "
        )
    both = [page.locator(".column").inner_text() for page in (visitor.page, other)]
    assert both[0] == both[1]


def test_a_server_that_restarts_in_the_middle_of_an_answer_loses_nothing(
    visitor: Visitor, server: Server
) -> None:
    visitor.counting()
    server.end()
    expect(visitor.page.locator("#banner")).to_contain_text("reconnecting")
    seen = numbers(visitor.page)
    visitor.say(SHORT)  # it cannot be sent, stays in the box, and that is said
    expect(visitor.page.locator("#notice")).to_contain_text("kept in the box")
    expect(visitor.box).to_have_value(SHORT)
    visitor.picture("away")
    server.start()
    visitor.quiet()
    expect(visitor.page.locator("#banner")).to_be_hidden()
    assert numbers(visitor.page)[: len(seen) - 1] == seen[:-1]
    assert numbers(visitor.page)[:-1] == list(range(1, len(numbers(visitor.page))))
    visitor.box.press("Enter")
    visitor.says(SHORT_ANSWER)
    expect(visitor.page.locator(".me .words")).to_have_text(["count to 9999", SHORT])


def test_the_timeline_has_runs_tools_and_the_fence(visitor: Visitor) -> None:
    page, drawing = visitor.page, visitor.page.locator("lw-timeline")
    expect(drawing).to_be_hidden()
    stops = 0
    while "refused after the stop: " not in "".join(visitor.receipts.all_text_contents()):
        stops += 1  # a cancel that does not come between two words is not swallowed
        assert stops < 10
        visitor.say("badly: flood")
        expect(visitor.answers).to_have_count(stops)
        visitor.says("And on.")
        page.keyboard.press("Escape")
        expect(visitor.receipts).to_have_count(stops)
    visitor.say(ASKS)
    page.get_by_role("button", name="Allow", exact=True).click()
    visitor.says("shell returned")
    visitor.quiet()
    expect(drawing.locator(".drawing .bar")).to_have_count(stops + 1)
    expect(drawing.locator(".drawing .fence")).to_have_count(stops)
    expect(drawing.locator("circle.refused").first).to_be_attached()
    expect(drawing.locator(".drawing .span.tool.done")).to_have_count(1)
    expect(drawing.locator(".drawing .span.wait")).to_have_count(1)
    drawing.locator(".drawing .bar").first.hover()
    expect(drawing.locator(".tip")).to_contain_text("“badly: flood”")
    drawing.locator("svg[role=group]").focus()
    page.keyboard.press("ArrowLeft")
    expect(drawing.locator(".tip")).to_be_visible()
    visitor.picture("timeline")
    drawing.get_by_role("button", name="Timeline").click()
    expect(drawing.locator(".drawing .bar").first).to_be_hidden()


def test_a_text_with_markup_in_it_stays_text(visitor: Visitor) -> None:
    page, evil = visitor.page, "<img src=x onerror=alert(1)><b>bold</b>"
    visitor.say(f"{evil} [press](javascript:x) *really*")
    visitor.says("I have no rule for")
    visitor.quiet()
    for _ in ("as it came", "all at once"):
        visitor.says(evil)
        assert page.locator(".it img, .it b, .me img, .it a").count() == 0
        page.reload()
    expect(visitor.answers.locator("em")).to_have_text("really")
    visitor.say(f"run echo '{evil}'")
    expect(page.locator("lw-question pre").first).to_contain_text("<img src=x")
    assert page.locator("lw-question img").count() == 0
    page.get_by_role("button", name="Deny", exact=True).click()
    visitor.says("did not allow it")


def test_a_deleted_session_is_gone_after_the_person_has_said_so(visitor: Visitor) -> None:
    visitor.say(SHORT)
    visitor.says(SHORT_ANSWER)
    visitor.quiet()
    delete = visitor.page.get_by_role("menuitem", name=f"Delete the session “{SHORT}”")
    row = visitor.page.locator("lw-sessions li", has=visitor.page.locator("[aria-current]"))
    row.hover()
    row.get_by_role("button", name=f"What to do with the session “{SHORT}”").click()
    delete.click()
    visitor.picture("deleting")
    visitor.page.get_by_role("dialog").get_by_role("button", name="Keep it").click()
    expect(visitor.answers).to_have_count(1)
    row.hover()
    row.get_by_role("button", name=f"What to do with the session “{SHORT}”").click()
    delete.click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    gone = visitor.page.locator(f'lw-sessions a[href="#/s/{visitor.session}"]')
    expect(gone).to_have_count(0)
    expect(visitor.page.locator("body")).not_to_have_attribute("data-session", visitor.session)


def test_a_message_whose_answer_was_lost_is_not_said_twice(visitor: Visitor) -> None:
    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    visitor.page.route("**/messages", lose)
    visitor.say(SHORT)
    visitor.says(SHORT_ANSWER)
    expect(visitor.box).to_have_value("")  # it was put back, and then it was heard that it arrived
    expect(visitor.page.locator(".me .words")).to_have_text([SHORT])


def test_on_a_narrow_screen_the_sessions_come_from_the_side(visitor: Visitor) -> None:
    page = visitor.page
    visitor.counting()
    visitor.box.fill("as wide as it is " * 12)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(UNSCROLLED)
    side = page.locator("lw-sessions")
    expect(side).to_be_hidden()
    page.get_by_role("button", name="Sessions").click()
    expect(side).to_be_visible()
    visitor.picture("drawer")
    page.keyboard.press("Escape")  # it closes the drawer, and stops nothing
    expect(side).to_be_hidden()
    expect(visitor.receipts).to_have_count(0)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(visitor.receipts).to_contain_text("Stopped")
    expect(visitor.box).to_be_focused()
    page.set_viewport_size({"width": 1280, "height": 860})
