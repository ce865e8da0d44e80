"""Code mode: programs over the agent's tools, each call of which is ruled like a direct one."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCalls

from lastword import Status, cells
from lastword.cells import Err
from lastword.core.entries import Called, Result
from lastword.errors import CellGone
from tests.agent.to_the_letter import Model, Talk, call, talking
from tests.core.providers import check_all
from tests.promise.stories import check_log

SUM = """
import asyncio
names = [line for line in (await list_files(".", "*.txt")).splitlines() if line.endswith(".txt")]
texts = await asyncio.gather(*[read_file(name) for name in names])
print(len(names), "files")
"b.txt" in names
"""
WRITE = "said = await write_file('a.txt', 'hello')\nprint('wrote')\nawait read_file('a.txt')"


async def is_true(talk: Talk) -> None:
    """The log is consistent, and what is shown of it is what strict providers take."""
    await check_log(talk.session)
    check_all(await talk.session.history())


async def test_a_program_calls_the_tools_and_the_model_gets_what_it_printed(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("salt", encoding="utf-8")
    async with talking(tmp_path) as talk:
        shown = await talk.does(call("run_code", source=SUM))

        assert "2 files\n[value] true" in shown
        log = await talk.session.log()
        assert [e.name for e in log if isinstance(e, Called)] == [
            *("run_code", "list_files", "read_file", "read_file")
        ]
        assert {e.status for e in log if isinstance(e, Result)} == {Status.COMPLETED}
        await is_true(talk)


async def test_the_model_is_told_what_a_program_can_call(tmp_path: Path) -> None:
    described: list[str] = []

    class Looks(Model):
        async def stream(
            self, messages: list[ModelMessage], info: AgentInfo
        ) -> AsyncGenerator[str | DeltaToolCalls]:
            described.extend(
                one.description or "" for one in info.function_tools if one.name == "run_code"
            )
            yield "done"

    async with talking(tmp_path, model=Looks()) as talk:
        await talk.does()
    assert "async def write_file(path: str, text: str) -> str:" in described[0]
    assert "async def run_code" not in described[0]


@pytest.mark.parametrize("allow", [True, False])
async def test_a_call_of_a_program_is_asked_for_like_any_other(tmp_path: Path, allow: bool) -> None:
    async with talking(tmp_path) as talk:
        talk.answering(allow)
        shown = await talk.does(call("run_code", source=WRITE))

        assert [question.tool for question in talk.asked] == ["write_file"]
        assert (tmp_path / "a.txt").exists() is allow
        assert ("wrote" if allow else "the person did not allow it") in shown


async def test_a_rule_forbids_a_call_of_a_program(tmp_path: Path) -> None:
    async with talking(tmp_path, "deny write_file") as talk:
        assert "forbids it" in await talk.does(call("run_code", source=WRITE))
        assert not (tmp_path / "a.txt").exists()


async def test_what_is_wrong_with_a_program_is_told_to_the_model(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        assert "Expected `str`" in await talk.does(call("run_code", source="await read_file(1)"))
        assert "not called, because nothing awaited it: read_file" in await talk.does(
            call("run_code", source="later = read_file('a')")
        )
        assert "invalid-syntax" in await talk.does(call("run_code", source="1 +"))


async def test_a_stop_while_a_program_waits_for_permission_leaves_nothing(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        talk.model.calls.append(call("run_code", source=WRITE))
        await talk.session.send("go")
        await talk.question()
        receipt = await talk.session.stop()

        assert receipt.quiet
        assert [(one.name, one.status) for one in receipt.calls] == [
            ("run_code", Status.MAY_HAVE_EXECUTED),
            ("write_file", Status.NOT_STARTED),
        ]
        assert [one.waits for one in receipt.cells] == [("write_file",)]
        assert not (tmp_path / "a.txt").exists()
        await is_true(talk)


async def waiting(talk: Talk) -> tuple[str, str]:
    """The program that waits for the person, and the call it waits on."""
    shown = await talk.does(call("run_code", source=WRITE, pause=True))
    [stored] = await cells.paused(talk.runtime)
    assert stored.record.frontier
    [pending] = stored.record.frontier.pending
    assert f"[program {stored.id} waits, at frontier 1, until the person allows:" in shown
    assert f"- {pending.id}: write_file(" in shown
    assert not talk.session.busy
    return stored.id, pending.id


async def test_a_call_can_be_allowed_long_after_the_run_that_asked_has_ended(
    tmp_path: Path,
) -> None:
    heard: list[ModelMessage] = []

    class Hears(Model):
        async def stream(
            self, messages: list[ModelMessage], info: AgentInfo
        ) -> AsyncGenerator[str | DeltaToolCalls]:
            heard[:] = messages
            async for piece in super().stream(messages, info):
                yield piece

    async with talking(tmp_path, model=Hears()) as talk:
        cell, pending = await waiting(talk)
        assert not (tmp_path / "a.txt").exists()
        ticket = await cells.resume(talk.session, cell, 1, allow=[pending], by="ann")

        assert await ticket.outcome() == "completed", ticket.error
        assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "hello"
        last = heard[-1].parts[-1]
        assert isinstance(last, ToolReturnPart)
        assert str(last.content).startswith("wrote\n[value]")
        assert await cells.paused(talk.runtime) == ()
        assert talk.questions.open() == ()
        await is_true(talk)
        assert "wrote\n[value]" in await talk.does()  # also to later turns


async def test_a_call_that_the_person_refuses_is_an_error_in_the_program(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        cell, pending = await waiting(talk)
        refused = {pending: Err("the person did not allow it")}
        ticket = await cells.resume(talk.session, cell, 1, refused)

        assert await ticket.outcome() == "completed", ticket.error
        assert not (tmp_path / "a.txt").exists()
        assert "the person did not allow it" in await talk.does()


async def test_a_stop_ends_what_waits_for_permission(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        cell, pending = await waiting(talk)
        receipt = await talk.session.stop()

        assert [one.cell for one in receipt.cells] == [cell]
        with pytest.raises(CellGone):
            await cells.resume(talk.session, cell, 1, allow=[pending])
        assert not (tmp_path / "a.txt").exists()


async def test_what_was_allowed_is_asked_for_again_if_it_would_do_something_else_by_now(
    tmp_path: Path,
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link"
    link.symlink_to("one")
    source = "print('before')\nawait write_file('link/a.txt', 'hello')\nprint('after')"
    async with talking(tmp_path) as talk:
        await talk.does(call("run_code", source=source, pause=True))
        [stored] = await cells.paused(talk.runtime)
        assert stored.record.frontier
        [pending] = stored.record.frontier.pending
        link.unlink()
        link.symlink_to("two")
        talk.answering(False)
        ticket = await cells.resume(talk.session, stored.id, 1, allow=[pending.id])

        assert await ticket.outcome() == "completed", ticket.error
        assert [question.tool for question in talk.asked] == ["write_file"]
        assert not (tmp_path / "two" / "a.txt").exists()


async def test_the_model_is_told_once_what_a_program_printed(tmp_path: Path) -> None:
    source = "print('before')\nawait write_file('a.txt', 'hello')\nprint('after')"
    async with talking(tmp_path) as talk:
        first = await talk.does(call("run_code", source=source, pause=True))
        assert "before\n" in first
        [stored] = await cells.paused(talk.runtime)
        assert stored.record.frontier
        [pending] = stored.record.frontier.pending
        ticket = await cells.resume(talk.session, stored.id, 1, allow=[pending.id])
        assert await ticket.outcome() == "completed", ticket.error
        results = [e.content for e in await talk.session.log() if isinstance(e, Result)]
        assert [text.count("before") for text in results if "before" in text] == [1]
        assert any("after" in text for text in results)
