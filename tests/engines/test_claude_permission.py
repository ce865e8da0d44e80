"""E42. A call of the Claude Agent SDK's CLI begins when all who are asked have said yes."""

from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
)

from lastword import Call, Outcome, Run, Runtime, Status
from lastword.engines.claude import Approve, ClaudeAgent
from lastword.testing.provider import Call as Asks
from tests.engines.claude_shell import bash, calls, shell
from tests.engines.subject_claude import claude
from tests.promise.stories import Latch, check_log


@pytest.mark.scenario("E42")
async def test_what_the_cli_makes_and_what_it_denies_is_told_apart(tmp_path: Path) -> None:
    async def deny(given: Any, _: str | None, __: object) -> Any:
        if "mv" not in given["tool_input"].get("command", ""):
            return {}
        decided = {"permissionDecision": "deny", "permissionDecisionReason": "by a hook"}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decided}}

    async def permit(name: str, given: dict[str, Any], _: object) -> Any:
        if "mkdir" not in given["command"]:
            return PermissionResultAllow()
        return PermissionResultDeny(message="by a person")

    touched = tmp_path / "touched"
    async with shell("echo:*") as one, Runtime(one.engine) as r:
        one.options.settings = '{"permissions": {"deny": ["Bash(chmod:*)"]}}'
        one.options.hooks = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[deny])]}
        one.options.can_use_tool = permit
        one.answer(
            bash("echo hello"),
            bash(f"touch {touched}"),
            bash("exit 3"),
            bash("mkdir a"),
            bash("mv a b"),
            bash("chmod 0 a"),
            Asks("nowhere", {}),
            Asks("Bash", {}),
        )
        one.answer("So.")
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        made = await calls(session)
        await check_log(session)

    assert touched.exists()
    assert [status for _, status, _ in made] == [
        *[Status.COMPLETED] * 3,
        *[Status.NOT_STARTED] * 5,
    ]
    told = [content for _, _, content in made]
    assert told[0] == "hello"
    assert "Exit code 3" in told[2]
    wanted = ["by a person", "by a hook", "has been denied", "No such tool", "`command` is missing"]
    assert all(words in said for words, said in zip(wanted, told[3:], strict=True)), told


@pytest.mark.scenario("E42")
@pytest.mark.parametrize("who", ["before_tool", "approve", "can_use_tool", "hook"])
async def test_while_somebody_is_asked_a_call_has_not_begun(who: str, tmp_path: Path) -> None:
    latch, touched = Latch(), tmp_path / "touched"

    async def before(_: Call[Any]) -> None:
        await latch.wait()

    async def ask(run: Run, tool: str, arguments: str) -> bool:
        await latch.wait()
        return True

    async def permit(name: str, given: dict[str, Any], _: object) -> Any:
        await latch.wait()
        return PermissionResultAllow()

    async def hook(given: Any, id_: str | None, _: object) -> Any:
        await latch.wait()
        return {}

    approve: Approve | None = ask if who == "approve" else None
    async with shell(*([] if who in ("before_tool", "hook") else ["true"])) as one:
        if who == "can_use_tool":
            one.options.can_use_tool = permit
        if who == "hook":
            one.options.hooks = {"PreToolUse": [HookMatcher(hooks=[hook])]}
        engine = ClaudeAgent(one.options, approve=approve)
        asked = before if who == "before_tool" else None
        async with Runtime(engine, before_tool=asked) as r:
            one.answer(bash(f"touch {touched}"))
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            receipt = await session.stop()
            latch.open.set()
            assert [call.status for call in receipt.calls] == [Status.NOT_STARTED]
            assert not touched.exists()
            await check_log(session)


@pytest.mark.scenario("E42")
@pytest.mark.parametrize("allows", [True, False])
async def test_the_person_is_asked_for_what_the_cli_s_rules_want_permission_for(
    allows: bool, tmp_path: Path
) -> None:
    asked: list[tuple[str, str]] = []
    touched = tmp_path / "touched"

    async def ask(run: Run, tool: str, arguments: str) -> bool:
        asked.append((tool, arguments))
        return allows

    async with shell("echo:*") as one, Runtime(ClaudeAgent(one.options, approve=ask)) as r:
        one.answer(bash("echo free"), bash(f"touch {touched}"))
        one.answer("So.")
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        made = await calls(session)

    assert [tool for tool, _ in asked] == ["Bash"]
    assert touched.exists() == allows
    assert made[1][1] is (Status.COMPLETED if allows else Status.NOT_STARTED)


@pytest.mark.scenario("E42")
async def test_what_lastword_s_own_rules_forbid_is_not_made_and_the_model_is_told_why(
    tmp_path: Path,
) -> None:
    touched = tmp_path / "touched"

    async def look() -> str:
        touched.touch()
        return "seen"

    def forbid(call: Call[Any]) -> None:
        raise PermissionError(f"no {call.name} today")

    async with shell() as one, Runtime(one.engine, before_tool=forbid) as r:
        one.tool(look)
        one.options.allowed_tools = ["Bash", "mcp__t__look"]
        one.answer(bash(f"touch {touched}"), Asks("look", {}))
        one.answer("So.")
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        made = await calls(session)
        await check_log(session)

    assert not touched.exists()
    assert [status for _, status, _ in made] == [Status.NOT_STARTED] * 2
    told = str(one.provider.requests[-1].results)
    assert "no Bash today" in told
    assert "no look today" in told


@pytest.mark.scenario("E42")
async def test_rules_that_fail_are_a_no(tmp_path: Path) -> None:
    touched = tmp_path / "touched"

    def fail(call: Call[Any]) -> None:
        raise OSError("the rules are gone")

    async with shell() as one, Runtime(one.engine, before_tool=fail) as r:
        one.answer(bash(f"touch {touched}"))
        one.answer("So.")
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        made = await calls(session)
        await check_log(session)

    assert not touched.exists()
    assert [status for _, status, _ in made] == [Status.NOT_STARTED]


@pytest.mark.scenario("E42")
async def test_all_that_one_answer_asks_for_is_written_down_before_the_first_is_made() -> None:
    latch = Latch()

    async def look(n: int) -> str:
        await latch.wait()
        return "seen"

    async with claude() as one, Runtime(one.engine) as r:
        one.tool(look)
        one.answer(*(Asks("look", {"n": n}) for n in range(6)))
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()
        latch.open.set()

    begun = [call for call in receipt.calls if call.status is Status.MAY_HAVE_EXECUTED]
    assert len(receipt.calls) == 6
    assert begun
