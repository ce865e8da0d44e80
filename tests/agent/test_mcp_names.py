"""What the tools of MCP servers are called: each by one name, which never becomes another's."""

from pathlib import Path

import pytest
from mcp_types import Tool
from pydantic_ai.models.function import FunctionModel

from lastword import Runtime, Status
from lastword.agent.assistant import assistant
from lastword.agent.tools.mcp import McpServer, stdio
from lastword.core.entries import Called
from tests.agent.test_mcp import answer, recorded, talking
from tests.agent.test_mcp_bounds import raw
from tests.agent.to_the_letter import Model, call
from tests.promise.workshop import until

SAID = [{"type": "text", "text": "hello from there"}]


def named(server: McpServer, *tools: str) -> dict[str, str]:
    server.learn([Tool(name=tool, input_schema={"type": "object"}) for tool in tools])
    return {tool.name: name for name, tool in (server.known or {}).items()}


def test_names_do_not_depend_on_the_order_of_a_list() -> None:
    tools = ("read.file", "read_file", "read/file")

    one, other = (named(stdio("fs", ["true"]), *order) for order in (tools, tools[::-1]))

    assert one == other
    assert one["read_file"] == "fs_read_file"  # whose own name it is
    assert sorted(one.values()) == ["fs_read_file", "fs_read_file_2", "fs_read_file_3"]


def test_a_name_that_a_tool_was_given_never_becomes_another_s() -> None:
    server = stdio("fs", ["true"])
    before = named(server, "read.file")

    after = named(server, "read_file", "a.file", "read.file")

    assert after["read.file"] == before["read.file"] == "fs_read_file"
    assert after["read_file"] == "fs_read_file_2"
    assert named(server, "read_file") == {"read_file": "fs_read_file_2"}


def test_names_that_are_too_long_are_cut_and_still_differ() -> None:
    tools = [f"{'x' * 80}{number}" for number in range(500)]

    names = named(stdio("fs", ["true"]), *tools)

    assert len(set(names.values())) == 500
    assert max(map(len, names.values())) == 64


def test_no_tool_takes_the_name_of_the_one_that_tries_again() -> None:
    server = stdio("fs", ["true"])

    assert named(server, "server") == {"server": "fs_server_2"}
    assert server.again == "fs_server"


@pytest.mark.scenario("W34", part="agent")
@pytest.mark.parametrize("name", ["show_plan", "run_code", "shell_background", "read_file"])
def test_no_server_has_a_tool_by_a_name_that_our_rules_allow(name: str) -> None:
    server, _, tool = name.partition("_")

    assert named(stdio(server, ["true"]), tool) == {tool: f"{name}_2"}


@pytest.mark.scenario("W34", part="agent")
async def test_a_tool_of_a_server_is_asked_for_whatever_it_is_called(tmp_path: Path) -> None:
    model = FunctionModel(stream_function=Model(call("show_plan"), call("show_plan_2")).stream)
    server = raw(tmp_path, name="show", tools=["plan"], content=SAID)
    agent = assistant(model, roots=[tmp_path], toolsets=[server])
    before = agent.questions.as_before_tool()
    async with Runtime(agent.engine, before_tool=before) as runtime:
        session = runtime.session("s")
        ticket = await session.send("go")
        await until(agent.questions.open)
        [question] = agent.questions.open()
        assert question.tool == "show_plan_2"
        agent.questions.answer(question.id, False, question.generation)
        await ticket.outcome()
        told = "\n".join(item.text for item in await session.history())
    assert "hello from there" not in told


async def test_a_tool_that_is_called_like_one_of_ours_gets_a_number(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("ours")
    server = raw(tmp_path, name="read", tools=["file"], content=SAID)
    async with talking(server, roots=[tmp_path]) as session:
        assert "returned: ours" in await answer(session, "ask read_file: notes.txt")
        assert "returned: hello from there" in await answer(session, "ask read_file_2")


async def test_two_servers_may_have_tools_of_one_name(tmp_path: Path) -> None:
    servers = [
        raw(tmp_path, name="git", tools=["hub_get"], content=SAID),
        raw(tmp_path, name="git_hub", tools=["get", "put"], content=SAID),
    ]
    async with talking(*servers) as session:
        assert "git_hub_get, git_hub_get_2, git_hub_put" in await answer(session, "help")
        assert "returned: hello from there" in await answer(session, "ask git_hub_get_2")


@pytest.mark.parametrize(
    ("hint", "nature", "advice"),
    [
        ("readOnlyHint", "read_only", "can safely be called again"),
        ("idempotentHint", "idempotent", "can safely be called again"),
        ("destructiveHint", "", "[may have executed]"),
    ],
)
async def test_what_a_server_says_of_calling_a_tool_again_is_told_after_a_stop(
    tmp_path: Path, hint: str, nature: str, advice: str
) -> None:
    tool = {"name": "look", "annotations": {hint: True}}
    async with talking(raw(tmp_path, tools=[tool])) as session:
        await session.send("ask mine_look")
        await until(lambda: "tools/call" in recorded(tmp_path))
        receipt = await session.stop()
        log, shown = await session.log(), await session.history()

    assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
    assert [entry.nature for entry in log if isinstance(entry, Called)] == [nature]
    [result] = [item.text for item in shown if item.role == "result"]
    assert result.rstrip(".").endswith(advice)


async def test_our_own_tools_for_reading_say_that_they_can_be_called_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    async with talking(roots=[tmp_path]) as session:
        for words in ("ask read_file: a.txt", "ask list_files", "search a", "write b.txt: b"):
            await answer(session, words)
        log = await session.log()

    natures = {entry.name: entry.nature for entry in log if isinstance(entry, Called)}
    assert natures == {
        "read_file": "read_only",
        "list_files": "read_only",
        "search_files": "read_only",
        "write_file": "",
    }
