"""MCP servers that give too much, or nothing: no run fails, and none waits for ever."""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import BinaryContent, ModelMessage, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from lastword import Outcome, Run, Runtime
from lastword.agent.assistant import assistant
from lastword.agent.tools.mcp import McpServer, http, stdio
from lastword.agent.tools.mcp_link import Down
from lastword.core.entries import Result
from tests.agent.test_mcp import NEVER_ANSWERS, PROMPT, answer, talking
from tests.promise.workshop import until

RAW = Path(__file__).with_name("mcp_server_raw.py")
PIXEL = "iVBORw0KGgoA"  # how a png begins


def raw(folder: Path, *, name: str = "mine", timeout: float = 600.0, **plan: object) -> McpServer:
    (folder / f"{name}.json").write_text(json.dumps(plan))
    return stdio(name, [sys.executable, str(RAW), str(folder), name], timeout=timeout)


# its list


async def test_a_tool_that_is_listed_many_times_is_one(tmp_path: Path) -> None:
    server = raw(tmp_path, tools=["a"] * 400 + ["b"])
    async with talking(server) as session:
        await answer(session, "hello")

    assert list(server.known or ()) == ["mine_a", "mine_b"]


@pytest.mark.parametrize(
    ("plan", "known"),
    [
        ({"tools": [f"tool {number}" for number in range(501)]}, 500),
        ({"tools": ["a"], "cursor": "more"}, 1),
        ({"tools": [], "cursor": "more"}, 0),
    ],
    ids=["too many", "pages without end", "empty pages without end"],
)
async def test_of_a_list_without_an_end_so_much_is_taken_and_it_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, plan: dict[str, Any], known: int
) -> None:
    server = raw(tmp_path, **plan)
    with caplog.at_level(logging.WARNING, logger="lastword"):
        async with asyncio.timeout(PROMPT), talking(server) as session:
            await answer(session, "hello")

    assert "mcp server lists too much server=mine tools=500" in caplog.messages
    assert len(server.known or ()) == known


async def test_a_server_that_did_not_start_is_waited_for_once_and_then_when_it_is_asked_for(
    tmp_path: Path,
) -> None:
    tries = tmp_path / "tries"
    command = f"echo x >> {tries}; {NEVER_ANSWERS[2]}"
    async with talking(stdio("mine", ["/bin/sh", "-c", command], patience=0.5)) as session:
        for _ in range(3):
            assert "mine_server" in await answer(session, "help")
        assert len(tries.read_text().split()) == 1
        assert "did not answer in 0.5 seconds" in await answer(session, "ask mine_server")
        assert len(tries.read_text().split()) == 2


# a call


async def test_a_call_to_a_server_that_reads_nothing_ends_in_time(tmp_path: Path) -> None:
    server = raw(tmp_path, timeout=0.5, tools=["a"], deaf=True)
    told: list[str] = []

    async def engine(run: Run) -> None:
        link = server.link(run)
        await link.ready()
        with pytest.raises(Down) as caught:
            await link.call("a", {"x": "y" * 3_000_000})
        told.append(str(caught.value))

    async with asyncio.timeout(PROMPT), Runtime(engine, deadline=30) as runtime:
        ticket = await runtime.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert "a took longer than 0.5 seconds" in told[0]


async def test_a_model_is_shown_pictures_of_the_usual_kinds_and_told_of_the_rest(
    tmp_path: Path,
) -> None:
    content = [
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        {"type": "image", "data": PIXEL, "mimeType": "image/gif"},
        {"type": "image", "data": PIXEL, "mimeType": "image/tiff"},
        {"type": "image", "data": PIXEL + "A" * 5_000_000, "mimeType": "image/png"},
        {"type": "image", "data": "not base64", "mimeType": "image/png"},
        {"type": "audio", "data": PIXEL, "mimeType": "audio/ogg"},
    ]
    seen: list[ModelMessage] = []

    async def stream(
        messages: list[ModelMessage], _: AgentInfo
    ) -> AsyncGenerator[str | DeltaToolCalls]:
        seen[:] = messages
        if len(messages) == 1:
            yield {0: DeltaToolCall("mine_a", "{}", tool_call_id="1")}
        else:
            yield "done"

    server = raw(tmp_path, tools=["a"], content=content)
    mine = assistant(FunctionModel(stream_function=stream), rules=("allow *",), toolsets=[server])
    async with Runtime(mine.engine, before_tool=mine.questions.as_before_tool()) as runtime:
        session = runtime.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        [result] = [entry for entry in await session.log() if isinstance(entry, Result)]

    parts = [part for message in seen for part in message.parts if isinstance(part, UserPromptPart)]
    shown = [one for part in parts for one in part.content if isinstance(one, BinaryContent)]
    assert [one.media_type for one in shown] == ["image/png"]
    lines = result.content.splitlines()
    assert lines[:3] == [
        "[image/png]",
        "[image/gif, which cannot be shown]",
        "[image/tiff, which cannot be shown]",
    ]
    assert lines[3:5] == ["[image/png, which cannot be shown]"] * 2
    assert lines[5] == "[audio/ogg, which cannot be shown]"


# over HTTP


class Web:
    """A server over HTTP that answers a call with `body`, many times, or not at all; and that
    answers a cancellation, if ever, when it has slowly taken `note` of it."""

    def __init__(
        self, body: bytes | None = None, kind: str = "", encoding: str = "", *, note: bool = False
    ) -> None:
        self.methods: list[str] = []
        self._note = note
        self._body = body
        self._head = f"content-type: {kind}\r\n"
        self._head += f"content-encoding: {encoding}\r\n" if encoding else ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode().lower():
                if not head.startswith("post"):
                    self.methods += ["delete"] if head.startswith("delete") else []
                    writer.write(b"HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n")
                    continue
                length = int(head.partition("content-length:")[2].split()[0])
                message = json.loads(await reader.readexactly(length))
                self.methods.append(message["method"])
                await self._answer(message, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, message: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        match message["method"]:
            case "initialize":
                us: dict[str, Any] = {"serverInfo": {"name": "web", "version": "1"}}
                us |= {"protocolVersion": message["params"]["protocolVersion"]}
                writer.write(_json(message, us | {"capabilities": {"tools": {}}}))
            case "tools/list":
                tool = {"name": "a", "inputSchema": {"type": "object"}}
                writer.write(_json(message, {"tools": [tool]}))
            case "tools/call" if self._body is not None:
                writer.write(f"HTTP/1.1 200 OK\r\n{self._head}\r\n".encode())
                for _ in range(64):  # more than anybody wants to read
                    writer.write(self._body)
                    await writer.drain()
                writer.close()
            case "notifications/cancelled" if self._note:
                for _ in range(100):
                    await asyncio.sleep(0)
                self.methods.append("noted")
                writer.write(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
            case "tools/call" | "notifications/cancelled":
                await asyncio.Event().wait()
            case _:
                writer.write(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")


def _json(message: dict[str, Any], result: dict[str, Any]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
    head = f"mcp-session-id: 1\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode() + body


@asynccontextmanager
async def listening(web: Web) -> AsyncGenerator[McpServer]:
    server = await asyncio.start_server(web.serve, "127.0.0.1", 0)
    try:
        yield http("mine", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp")
    finally:
        server.close()


async def test_each_call_is_called_off_although_the_server_takes_no_note_of_the_first() -> None:
    web = Web()
    async with asyncio.timeout(PROMPT), listening(web) as server:

        async def engine(run: Run) -> None:
            link = server.link(run)
            await link.ready()
            await asyncio.gather(*(link.call("a", {}) for _ in range(3)))

        async with Runtime(engine, deadline=30) as runtime:
            session = runtime.session("s")
            await session.send("go")
            await until(lambda: web.methods.count("tools/call") == 3)
            assert (await session.stop()).quiet

            assert web.methods.count("notifications/cancelled") == 3


async def test_a_run_that_gives_up_a_call_and_ends_leaves_when_that_was_noted() -> None:
    web = Web(note=True)
    async with asyncio.timeout(PROMPT), listening(web) as server:

        async def engine(run: Run) -> None:
            link = server.link(run)
            await link.ready()
            call = asyncio.ensure_future(link.call("a", {}))
            await until(lambda: "tools/call" in web.methods)
            call.cancel()
            for _ in range(5):  # it has begun to say so
                await asyncio.sleep(0)

        async with Runtime(engine, deadline=30) as runtime:
            ticket = await runtime.session("s").send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert web.methods[-3:] == ["notifications/cancelled", "noted", "delete"]


@pytest.mark.parametrize(
    ("web", "why"),
    [
        (Web(b" " * (1 << 20), "application/json"), "it has more than 16,777,216 bytes"),
        (Web(b"x" * (1 << 20), "text/event-stream"), "exceeded the 16777216 byte limit"),
        (Web(b"\x1f\x8b", "application/json", "gzip"), "it is gzip although that was not asked"),
    ],
    ids=["json", "an event", "compressed"],
)
async def test_an_answer_over_http_that_is_too_much_is_the_tool_s_failure(
    web: Web, why: str
) -> None:
    async with asyncio.timeout(PROMPT), listening(web) as server, talking(server) as session:
        text = await answer(session, "ask mine_a")

    assert why in text
    assert "a may have been executed" in text
