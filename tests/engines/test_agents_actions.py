"""E31. Shells, patches, computers, custom and hosted tools, which a scripted model asks for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    ApplyPatchTool,
    Computer,
    ComputerTool,
    CustomTool,
    LocalShellTool,
    RunHooks,
    ShellTool,
)
from agents.testing import ModelStep, ScriptedModel, assistant_message
from openai.types.responses import (
    Response,
    ResponseApplyPatchToolCall,
    ResponseCompletedEvent,
    ResponseComputerToolCall,
    ResponseCustomToolCall,
    ResponseFunctionShellToolCall,
    ResponseFunctionWebSearch,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
)
from openai.types.responses.response_output_item import LocalShellCall

from lastword import Call, FeedEvent, Outcome, Runtime, Status
from lastword.core.entries import Called, Result
from lastword.engines.openai_agents import OpenAIAgents, shell
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("E31")
Built = Callable[[list[str]], tuple[Any, Any]]


def answers(*items: Any) -> ModelStep:
    """An answer of these items, as a provider streams it."""
    response = Response.model_construct(
        id="r", output=list(items), usage=None, error=None, object="response", status="completed"
    )
    events: list[Any] = []
    for at, item in enumerate(items):
        where: dict[str, Any] = {"item": item, "output_index": at, "sequence_number": at}
        added = ResponseOutputItemAddedEvent.model_construct
        done = ResponseOutputItemDoneEvent.model_construct
        events.append(added(type="response.output_item.added", **where))
        events.append(done(type="response.output_item.done", **where))
    ended = ResponseCompletedEvent.model_construct(
        type="response.completed", response=response, sequence_number=len(events)
    )
    return ModelStep.stream([*events, ended], output=items)


def command(line: str) -> Any:
    """A call of a shell."""
    return ResponseFunctionShellToolCall.model_validate(
        {
            "id": "sh_1",
            "call_id": "call_shell",
            "type": "shell_call",
            "status": "completed",
            "action": {"commands": [line], "timeout_ms": None, "max_output_length": None},
            "environment": None,
        }
    )


def a_shell(acted: list[str]) -> tuple[Any, Any]:
    def execute(request: Any) -> str:
        acted.append("acted")
        return "acted"

    return ShellTool(executor=execute), command("ls")


def a_local_shell(acted: list[str]) -> tuple[Any, Any]:
    async def execute(request: Any) -> str:
        acted.append("acted")
        return "acted"

    action: Any = {"type": "exec", "command": ["ls"], "env": {}}
    asked = {"id": "l", "call_id": "c", "type": "local_shell_call", "status": "completed"}
    return LocalShellTool(executor=execute), LocalShellCall.model_validate(
        {**asked, "action": action}
    )


def a_custom_tool(acted: list[str]) -> tuple[Any, Any]:
    async def execute(ctx: Any, given: str) -> str:
        acted.append("acted")
        return "acted"

    tool = CustomTool(name="act", description="acts", on_invoke_tool=execute)
    asked = {"call_id": "c", "type": "custom_tool_call", "name": "act", "input": "now"}
    return tool, ResponseCustomToolCall.model_validate(asked)


def a_patch(acted: list[str]) -> tuple[Any, Any]:
    class Editor:
        def create_file(self, operation: Any) -> str:
            acted.append("acted")
            return "acted"

        update_file = delete_file = create_file

    asked = {"id": "a", "call_id": "c", "type": "apply_patch_call", "status": "completed"}
    operation = {"type": "create_file", "path": "x", "diff": "+x"}
    return ApplyPatchTool(editor=Editor()), ResponseApplyPatchToolCall.model_validate(
        {**asked, "operation": operation}
    )


class Screen(Computer):
    """A computer that does nothing but be looked at."""

    def __init__(self, acted: list[str]) -> None:
        self._acted = acted

    def screenshot(self) -> str:
        self._acted.append("acted")
        return "cGljdHVyZQ=="

    def _nothing(self, *_: Any, **__: Any) -> None: ...

    click = double_click = scroll = type = wait = move = keypress = drag = _nothing


def a_computer(acted: list[str]) -> tuple[Any, Any]:
    asked = {"id": "p", "call_id": "c", "type": "computer_call", "status": "completed"}
    return ComputerTool(computer=Screen(acted)), ResponseComputerToolCall.model_validate(
        {**asked, "action": {"type": "screenshot"}, "pending_safety_checks": []}
    )


BUILT: list[Built] = [a_shell, a_local_shell, a_custom_tool, a_patch, a_computer]


class Waits(RunHooks[Any]):
    """A hook and a policy that are deaf to cancellation."""

    def __init__(self, latch: Latch) -> None:
        self._latch = latch

    async def asked(self, *_: object) -> bool:
        await self._latch.wait_stubbornly()
        return False

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        await self._latch.wait_stubbornly()


@pytest.mark.parametrize("built", BUILT)
async def test_it_is_a_call_of_the_ledger_and_not_made_if_it_is_not_allowed(built: Built) -> None:
    acted: list[str] = []

    def allow(call: Call[object]) -> None:
        if acted:
            raise PermissionError("once is enough")

    tool, asked = built(acted)
    again = asked.model_copy(update={"call_id": "again"})
    done = [assistant_message("Done.")]
    agent = Agent("a", model=ScriptedModel([answers(asked), answers(again), done]), tools=[tool])
    async with Runtime(OpenAIAgents(agent), before_tool=allow) as r:
        session = r.session("s")
        ticket = await session.send("go")
        outcome = await ticket.outcome()
        first, second = [one for one in await session.log() if isinstance(one, Result)]
        await check_log(session)
    assert acted == ["acted"]
    assert first.status is Status.COMPLETED
    assert first.content in ("acted", "[a picture of the screen]")
    assert second.status is Status.NOT_STARTED
    assert "once is enough" in second.content
    pictured = built is a_computer  # there is no picture in its place
    assert (outcome == Outcome.COMPLETED) is not pictured, ticket.error


@pytest.mark.parametrize("built", BUILT)
async def test_it_begins_no_more_behind_a_hook_or_a_policy_once_the_run_is_stopped(
    built: Built,
) -> None:
    acted, latch = list[str](), Latch()
    tool, asked = built(acted)
    waits = Waits(latch)
    if asks := hasattr(tool, "needs_approval"):
        tool.needs_approval = waits.asked
    agent = Agent("a", model=ScriptedModel([answers(asked)]), tools=[tool])
    async with Runtime(OpenAIAgents(agent, hooks=None if asks else waits)) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()
        latch.open.set()
        await receipt.settled()
        assert [call.status for call in receipt.calls] == [Status.NOT_STARTED]
        await check_log(session)
    assert acted == []


async def test_a_shell_s_commands_are_processes_of_the_run_and_end_with_it(tmp_path: Path) -> None:
    here = tmp_path / "here"
    says = [
        answers(command("echo hello; exit 3")),
        [assistant_message("It said hello.")],
        answers(command(f"touch {here}; sleep 1000")),
    ]
    model = ScriptedModel(says)
    agent = Agent("s", model=model, tools=[ShellTool(executor=shell)])
    async with Runtime(OpenAIAgents(agent)) as r:
        session = r.session("s")
        ticket = await session.send("say hello")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        await session.send("sleep")
        await until(here.exists)
        receipt = await session.stop()
        calls = [one for one in await session.log() if isinstance(one, Called)]
        [said, _] = [one for one in await session.log() if isinstance(one, Result)]
        await check_log(session)
    assert receipt.quiet
    assert "sleep 1000" in str(receipt.processes)
    assert [one.name for one in calls] == ["shell", "shell"]
    assert "hello" in said.content
    assert "hello" in str(model.calls[1].input)


async def test_a_hosted_tool_is_named_as_the_provider_s() -> None:
    looked = ResponseFunctionWebSearch.model_validate(
        {
            "id": "ws",
            "type": "web_search_call",
            "status": "completed",
            "action": {"type": "search", "query": "cats"},
        }
    )
    heard: list[FeedEvent] = []
    agent = Agent("a", model=ScriptedModel([answers(looked, assistant_message("Cats."))]))
    async with Runtime(OpenAIAgents(agent), sink=heard.append) as r:
        session = r.session("s")
        ticket = await session.send("look it up")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert not [one for one in await session.log() if isinstance(one, Called)]
    assert [event.text for event in heard if event.kind == "progress"] == [
        "web_search runs at the model's provider, where nothing here can stop it."
    ]
