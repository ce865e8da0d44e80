"""Who may not approve, on the page: they see what is asked, and that it is not theirs to answer."""

from __future__ import annotations

from collections.abc import Generator

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
pytest.importorskip("uvicorn", reason="uvicorn, which serves the page, is not installed")
pytest.importorskip("pydantic_monty", reason="pydantic-monty, which runs programs, is not there")

from playwright.sync_api import Browser, Locator, expect

from tests.server.browser import Server, Visitor, signed_in, started

SENDER, APPROVER = "the token of who sends only", "the token of who approves"
KEEPER = "the token of who stops and approves"
NOT_THEIRS = "You may not approve, so this waits for somebody who may."


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    folder = tmp_path_factory.mktemp("rights")
    tokens = folder / "tokens.toml"
    tokens.write_text(
        f'[sender]\ntoken = "{SENDER}"\nprincipal = "ann"\nrights = ["read", "send", "stop"]\n'
        f'[approver]\ntoken = "{APPROVER}"\nprincipal = "ann"\nrights = ["read", "approve"]\n'
        f'[keeper]\ntoken = "{KEEPER}"\nprincipal = "ann"\nrights = ["read", "stop", "approve"]\n'
    )
    tokens.chmod(0o600)
    with started(folder, "--tokens", str(tokens)) as server:
        yield server


@pytest.fixture(scope="module")
def person(browser: Browser, server: Server) -> Generator[Visitor]:
    with signed_in(browser, server, SENDER) as person:
        yield person


@pytest.fixture(scope="module")
def approver(browser: Browser, server: Server) -> Generator[Visitor]:
    with signed_in(browser, server, APPROVER) as approver:
        yield approver


@pytest.fixture(scope="module")
def keeper(browser: Browser, server: Server) -> Generator[Visitor]:
    with signed_in(browser, server, KEEPER) as keeper:
        yield keeper


def buttons(card: Locator) -> Locator:
    return card.get_by_role("button")


@pytest.mark.scenario("W35", part="server")
def test_who_may_not_approve_sees_the_question_and_no_answers(
    visitor: Visitor, approver: Visitor
) -> None:
    visitor.say("run echo hello")
    card = visitor.page.locator("lw-question")
    expect(card.locator(".lines")).to_have_text("echo hello")
    expect(card).to_contain_text(NOT_THEIRS)
    expect(buttons(card)).to_have_count(0)
    visitor.picture("not-theirs")
    card.evaluate("card => card.focus()")
    expect(card.locator(".lines")).to_be_focused()

    approver.join(visitor.session)
    theirs = approver.page.locator("lw-question")
    expect(theirs).not_to_contain_text(NOT_THEIRS)
    expect(theirs).not_to_have_attribute("data-early", "")
    theirs.get_by_role("button", name="Allow", exact=True).click()
    visitor.says("shell returned: hello")


@pytest.mark.scenario("W35", part="server")
def test_who_may_not_approve_can_stop_what_asks(visitor: Visitor) -> None:
    visitor.say("run echo hello")
    expect(visitor.page.locator("lw-question")).to_be_visible()
    visitor.page.keyboard.press("Escape")
    expect(visitor.receipts).to_contain_text("Stopped")
    expect(visitor.page.locator("lw-question")).to_have_count(0)


@pytest.mark.scenario("W35", part="server")
def test_who_may_not_approve_sees_what_a_program_waits_for_and_can_only_end_it(
    visitor: Visitor, approver: Visitor
) -> None:
    visitor.say("ask run_code: await shell(command='echo from a program') | true")
    card = visitor.page.locator("lw-program")
    expect(card.locator("li")).to_contain_text("echo from a program")
    expect(card).to_contain_text(NOT_THEIRS)
    expect(buttons(card)).to_have_text(["End the program"])
    visitor.picture("program-not-theirs")

    approver.join(visitor.session)
    theirs = approver.page.locator("lw-program")
    expect(buttons(theirs)).to_have_text(["Let it", "Give a result", "Refuse", "Go on"])
    buttons(card).click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="End it").click()
    expect(card).to_have_count(0)


@pytest.mark.scenario("P27", part="server")
def test_a_process_offers_a_person_what_they_may_do_with_it(
    visitor: Visitor, keeper: Visitor
) -> None:
    visitor.say("ask shell: read -r line | 0 | . | false | true | true")  # with an input; it stays
    keeper.join(visitor.session)
    keeper.page.get_by_role("button", name="Allow", exact=True).click()
    visitor.says("shell returned")
    rows = list[Locator]()
    for one in (visitor, keeper):
        one.page.locator(".pill.processes").click()
        rows.append(one.page.get_by_role("group", name="Process p"))
        rows[-1].get_by_role("button", name="Output").click()
        expect(rows[-1].locator("pre")).to_have_text("It has written nothing.")
    theirs, keepers = rows
    expect(buttons(theirs)).to_have_text(["Output", "End it"])
    expect(buttons(keepers)).to_have_text(
        ["Output", "End it", "Write", "Finish", "Interrupt", "Hang up", "Terminate", "Kill"]
    )
    theirs.get_by_role("button", name="End it").click()
    expect(keepers.locator(".about")).to_contain_text("as the person wanted")
