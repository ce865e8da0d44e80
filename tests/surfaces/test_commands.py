"""What is typed behind a slash does the same, and is answered in the same words, everywhere."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from pathlib import Path

import pytest

from lastword import Run, Runtime, Session
from lastword.agent.permission import Questions
from lastword.core.entries import Answered
from lastword.core.model import Policy
from lastword.core.receipt import Receipt
from lastword.surfaces.commands import COMMANDS, Done, do, named
from tests.agent.to_the_letter import call, talking
from tests.promise.workshop import until

WRITE = "await write_file('a.txt', 'three\\n')"


class Somewhere:
    """A place where a person talks."""

    def __init__(self, session: Session, known: Questions | None = None) -> None:
        self.session, self.known, self.by = session, known, "ann"
        self.mode: Policy = "takeover"
        self.receipt: Receipt | None = None

    def stop(self) -> Awaitable[Receipt] | None:
        return self.session.stop(by=self.by)

    def set_mode(self, mode: Policy) -> None:
        self.mode = mode

    async def type(self, line: str) -> Done:
        name = named(line)
        assert name, line
        return await do(self, name, line.strip().partition(" ")[2])


async def forever(_: Run) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("line", ["/stopping", "/", "/etc/stop", "stop", "say /stop", "/quit"])
def test_other_words_are_no_commands(line: str) -> None:
    assert named(line) is None


def test_each_is_known_by_its_name_whatever_follows() -> None:
    for name in COMMANDS:
        assert named(f"/{name}") == named(f" /{name} a\nb ") == name


@pytest.mark.scenario("W52", part="surfaces")
async def test_what_waits_is_listed_changed_and_let_go_on() -> None:
    async with Runtime(forever, queue_on_stop="keep") as runtime:
        there = Somewhere(runtime.session("s"))
        assert (await there.type("/queue")).words == "Nothing waits."
        assert "a new message: queue" in (await there.type("/mode queue")).words
        for text in ("go", "one", "two\nlines", "three"):
            await there.session.send(text, on_message=there.mode)
        assert (await there.type("/queue")).words == "1. one\n2. two lines\n3. three"
        assert (await there.type("/queue move 3 1")).words.startswith("1. three\n2. one")
        assert "2. uno" in (await there.type("/queue edit 2 uno")).words
        assert (await there.type("/queue remove 3")).words == "Removed: two lines"

        stopped = await there.type("/stop")
        assert stopped.receipt
        assert stopped.words == stopped.receipt.words
        assert "messages waiting: “three”, “uno”" in stopped.words
        assert (await there.type("/queue resume")).words == "1 message left in the queue."
        assert there.session.active


@pytest.mark.scenario("W52", part="surfaces")
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("/mode sideways", "sideways is not one of takeover, queue"),
        ("/queue shuffle", "say one of these: remove N"),
        ("/queue remove 1", "by its number in /queue: and nothing waits"),
        ("/queue edit x y", "by its number"),
        ("/processes shout 1", "say one of these: read ID"),
        ("/programs allow 1", "say which: /programs allow N"),
        ("/programs maybe", "say which: /programs allow N"),
    ],
)
async def test_what_cannot_be_done_is_answered_with_why(line: str, why: str) -> None:
    async with Runtime(forever) as runtime:
        there = Somewhere(runtime.session("s"))
        done = await there.type(line)
        assert why in done.words
        assert (done.receipt, there.mode) == (None, "takeover")


@pytest.mark.scenario("W52", part="surfaces")
async def test_a_receipt_is_shown_also_if_it_was_given_somewhere_else() -> None:
    async with Runtime(forever) as runtime:
        there = Somewhere(runtime.session("s"))
        assert (await there.type("/receipt")).words == "Nothing was stopped here."
        assert await there.type("/stop") == Done("Nothing was running.")
        await there.session.send("go")
        receipt = await there.session.stop()
        assert (await there.type("/receipt")).words == receipt.words
        assert (await there.type("/processes")).words == "Nothing goes on under an id."
        assert (await there.type("/programs")).words == "No program waits."


async def answered(run: Run) -> None:
    await run.emit(f"re: {run.message.text}")


@pytest.mark.scenario("Y1", part="surfaces")
async def test_the_last_message_is_asked_anew_by_a_word() -> None:
    async with Runtime(answered) as runtime:
        there = Somewhere(runtime.session("s"))
        assert "no turn that could be asked anew" in (await there.type("/again")).words
        await (await there.session.send("one")).outcome()
        assert (await there.type("/again two")).words.startswith("Asked anew")
        await until(lambda: not there.session.busy)
        assert [one.text for one in await there.session.history()] == ["two", "re: two"]


@pytest.mark.scenario("Y9", part="surfaces")
async def test_a_session_is_renamed_and_kept_in_a_file_by_a_word(tmp_path: Path) -> None:
    async with Runtime(answered) as runtime:
        there = Somewhere(runtime.session("s"))
        assert "nothing was ever said" in (await there.type("/rename x")).words
        await (await there.session.send("one")).outcome()
        assert (await there.type("/rename The parser")).words == (
            "This session is called The parser."
        )
        overview = await there.session.overview()
        assert overview
        assert overview.title == "The parser"
        file = tmp_path / "s.jsonl"
        assert f"is in {file}, as JSON lines" in (await there.type(f"/export {file}")).words
        kinds = [json.loads(line)["kind"] for line in file.read_text().splitlines()]
        assert kinds == ["said", "began", "text", "finished"]
        assert "was not written: File exists" in (await there.type(f"/export {file}")).words
        assert (await there.type("/export")).words == "say to which file: /export FILE"


@pytest.mark.scenario("W38", part="chat")
@pytest.mark.parametrize("verb", ["allow", "deny"])
async def test_a_program_that_waits_is_shown_and_answered_by_number(
    tmp_path: Path, verb: str
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("two\n", encoding="utf-8")
    async with talking(tmp_path) as talk:
        there = Somewhere(talk.session, talk.questions)
        await talk.does(call("run_code", source=WRITE, pause=True))
        told = (await there.type("/programs")).words
        assert told.splitlines()[:3] == [
            "1. ? write_file wants to write a.txt (replaces 1 line with 1)",
            "  - two",
            "  + three",
        ]
        assert "say which" in (await there.type("/programs y")).words
        told = (await there.type(f"/programs {verb} 1")).words
        assert told == ("Allowed: write_file" if verb == "allow" else "Denied: write_file")
        await until(lambda: not talk.session.busy)
        log = await talk.session.log()

        assert [one.by for one in log if isinstance(one, Answered)] == ["ann"]
        assert file.read_text(encoding="utf-8") == ("three\n" if verb == "allow" else "two\n")
        assert (await there.type("/programs")).words == "No program waits."
