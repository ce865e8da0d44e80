"""A real MCP server, which writes down what becomes of it.

    mcp_server_to_start.py FOLDER [http] [patient]

In FOLDER it leaves its number (`pid`), the port it listens at if it speaks HTTP (`port`), and
`record`: a line for every message it was sent, and for what its tools did. A `patient` one does not
mind being asked to end; it ends when its input does.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
import mcp_types as types
import uvicorn
from mcp import MCPError
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FOLDER = Path(sys.argv[1])
WIRE = os.dup(1)  # the SDK keeps standard output to itself
PIXEL = b"\x89PNG\r\n\x1a\n"


def record(line: str) -> None:
    with (FOLDER / "record").open("a") as file:
        file.write(f"{line}\n")


def seen(message: str | bytes) -> None:
    """A message, as it came."""
    plain = cast("dict[str, Any]", json.loads(message))
    params = cast("dict[str, Any]", plain.get("params") or {})
    match plain.get("method"):
        case "tools/call":
            record(f"call {plain['id']} {params['name']}")
        case "notifications/cancelled":
            record(f"cancelled {params['requestId']}")
        case str(method):
            record(method)
        case _:
            record("error" if "error" in plain else "result")


server = MCPServer("to start", log_level="CRITICAL")


@server.tool(structured_output=False)
async def say(words: str) -> str:
    """Say it back."""
    return f"you said {words}"


@server.tool(structured_output=False)
async def know(names: str) -> str:
    """What it knows of its environment, and where it is."""
    known = {**os.environ, "PWD": str(Path.cwd())}
    return " ".join(known.get(name, "nothing") for name in names.split())


@server.tool(structured_output=False)
async def wait() -> str:
    """Wait until it is called off."""
    record("waits")
    try:
        await anyio.sleep_forever()
    except asyncio.CancelledError:
        record("gave up")
        raise
    return "never"


@server.tool(structured_output=False)
async def fail() -> str:
    """Fail."""
    raise ToolError("it cannot be done")


@server.tool(structured_output=False)
async def picture() -> Image:
    """A picture."""
    return Image(data=PIXEL, format="png")


@server.tool(structured_output=False)
async def long() -> str:
    """More than anybody wants to read."""
    return "x" * 300_000


@server.tool(structured_output=False)
async def die() -> str:
    """Die in the middle."""
    os.write(2, b"something has broken\n")
    os._exit(3)


@server.tool(structured_output=False)
async def garble() -> str:
    """Answer with something that is broken."""
    os.write(WIRE, b'{"jsonrpc": "2.0", "id": \n')
    await anyio.sleep_forever()
    return "never"


@server.tool(structured_output=False)
async def chatter() -> str:
    """Print something where it does not belong, and answer all the same."""
    os.write(WIRE, b"working...\n")
    os.write(2, b"y" * 1_000_000)
    return "done"


@server.tool(name="dotted.name/and more", structured_output=False)
async def dotted() -> str:
    """Has a name that not every provider takes."""
    return "called"


@server.tool(structured_output=False)
async def ask(ctx: Context[Any, Any]) -> str:
    """Ask the client for all that a client can be asked for."""
    empty = types.CreateMessageRequestParams(messages=[], max_tokens=1)
    form: types.ElicitRequestedSchema = {"type": "object", "properties": {}}
    requests = (
        (types.CreateMessageRequest(params=empty), types.CreateMessageResult),
        (
            types.ElicitRequest(
                params=types.ElicitRequestFormParams(message="?", requested_schema=form)
            ),
            types.ElicitResult,
        ),
        (types.ListRootsRequest(), types.ListRootsResult),
    )
    answers: list[str] = []
    for request, result in requests:
        try:
            answers.append(str(await ctx.session.send_request(request, result)))
        except MCPError as error:
            answers.append(error.message)
    return "; ".join(answers)


async def lines() -> AsyncIterator[str]:
    while line := await anyio.to_thread.run_sync(sys.stdin.readline):
        seen(line)
        yield line


async def speak_through_pipes() -> None:
    async with stdio_server(stdin=cast("Any", lines())) as streams:
        low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage] - it listens to our lines
        await low.run(*streams, low.create_initialization_options())


def recording(app: ASGIApp) -> ASGIApp:
    async def recorded(scope: Scope, receive: Receive, send: Send) -> None:
        async def hear() -> Message:
            message = await receive()
            if body := message.get("body"):
                seen(body)
            return message

        if scope["type"] == "http" and scope["method"] == "DELETE":
            record("DELETE")
        await app(scope, hear, send)

    return recorded


async def speak_http() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    app = recording(server.streamable_http_app())
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
    (FOLDER / "port").write_text(f"{listening.getsockname()[1]}\n")
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    if "patient" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    (FOLDER / "pid").write_text(f"{os.getpid()}\n")
    asyncio.run(speak_http() if "http" in sys.argv else speak_through_pipes())
    record("ended")
