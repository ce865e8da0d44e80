"""What a client may send that is wrong: each has its error, and the loop lives on."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acp.client import Client, editor
from tests.promise.workshop import gone, until


async def errors_of(client: Client, *lines: bytes) -> list[tuple[Any, int]]:
    """The errors that these lines are answered with; and that the agent is there afterwards."""
    since = len(client.heard)
    client.write(*(line + b"\n" for line in lines))
    await client.ask("initialize", protocolVersion=1)
    told = [m for m in client.heard[since:] if "error" in m]
    return [(m["id"], m["error"]["code"]) for m in told]


def request(method: str, params: object, id: object = "x") -> bytes:
    plain = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    return json.dumps(plain).encode()


async def test_whatever_a_line_holds_it_is_answered_and_the_next_is_another_matter(
    tmp_path: Path,
) -> None:
    wrong = {
        b"{": (None, -32700),
        b"\xff\xfe{}": (None, -32700),
        b"[" * 100_000: (None, -32700),
        b"42": (None, -32600),
        b"[]": (None, -32600),
        b'{"id": 1}': (1, -32600),
        b'{"jsonrpc": "2.0", "id": {}, "method": "initialize"}': (None, -32600),
        b'{"jsonrpc": "2.0", "id": 7}': (7, -32600),
        b'{"jsonrpc": "2.0", "id": 8, "method": 9}': (8, -32600),
        request("initialize", [1]): ("x", -32602),
        request("initialize", {"protocolVersion": "1"}): ("x", -32602),
        request("initialize", {"protocolVersion": True}): ("x", -32602),
        request("no/such", {}): ("x", -32601),
        request("_ours/too", {}): ("x", -32601),
        request("session/new", {}): ("x", -32602),
        request("session/new", {"cwd": "here", "mcpServers": []}): ("x", -32602),
        request("session/new", {"cwd": "/", "mcpServers": [{"name": "a", "type": "sse"}]}): (
            *("x", -32602),
        ),
        request("session/prompt", {"sessionId": "none", "prompt": []}): ("x", -32002),
        request("session/load", {"sessionId": "../../etc/passwd", "cwd": "/"}): ("x", -32002),
        request("session/list", {"cursor": "what"}): ("x", -32602),
        request("authenticate", {"methodId": "none"}): ("x", -32602),
    }
    async with editor(tmp_path) as client:
        for line, error in wrong.items():
            assert await errors_of(client, line) == [error], line
        quiet = (b"", b"   ", b'{"jsonrpc": "2.0", "method": "no/such"}')
        late = b'{"jsonrpc": "2.0", "id": "lastword-9", "result": {}}'
        off = b'{"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 99}}'
        assert await errors_of(client, *quiet, late, off) == []


async def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        assert await errors_of(client, b'"' + b"x" * (65 << 20) + b'"') == [(None, -32600)]


async def test_the_id_of_a_request_that_is_not_answered_yet_cannot_be_used_again(
    tmp_path: Path,
) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        prompt = client.prompt(session, "tell me a story")
        again = {**client.prompt(session, "count to 3"), "id": prompt["id"]}
        client.write(prompt, again)
        await until(lambda: [m for m in client.heard if "error" in m])
        client.write(client.cancel(session))
        await until(lambda: [m for m in client.heard if "stopReason" in m.get("result", {})])

        [error] = [m for m in client.heard if "error" in m]
        assert (error["id"], error["error"]["code"]) == (prompt["id"], -32600)


async def test_a_prompt_of_what_cannot_be_taken_says_so(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        for prompt, why in (
            ([], "prompt is empty"),
            (["text"], "list of content blocks"),
            ([{"type": "text"}], "text must be a string; it is missing"),
            ([{"type": "audio", "data": "", "mimeType": "audio/wav"}], "'audio' cannot be taken"),
            ([{"type": "image", "data": "?", "mimeType": "image/png"}], "data is not base64"),
        ):
            answer = await client.ask("session/prompt", sessionId=session, prompt=prompt)
            assert answer["error"]["code"] == -32602
            assert why in answer["error"]["message"]


async def test_an_older_or_newer_client_is_told_what_is_spoken_here(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        for asked in (0, 1, 2, 99):
            answer = await client.ask("initialize", protocolVersion=asked)
            assert answer["result"]["protocolVersion"] == 1
        assert answer["result"]["agentCapabilities"]["loadSession"]


# the client leaves

RUNNING = "run trap '' TERM HUP; echo $$ > pid; while :; do sleep 0.05; done"


@pytest.mark.scenario("P3", part="processes")
@pytest.mark.parametrize("how", ["closes its end", "SIGTERM", "SIGHUP"])
async def test_when_the_client_has_gone_nothing_is_left_and_what_was_said_is_kept(
    tmp_path: Path, how: str
) -> None:
    async with editor(tmp_path, "--yes") as client:
        session = await client.new()
        client.write(client.prompt(session, RUNNING))
        pid = tmp_path / "pid"
        await until(lambda: pid.exists() and pid.read_text().strip())
        running = [pid for pid, line in _below(client.process.pid) if "trap" in line]
        if how == "closes its end":
            assert client.process.stdin
            client.process.stdin.close()
        else:
            client.process.send_signal(signal.Signals[how])
        await client.process.wait()

        assert client.process.returncode == 0
        assert running
        assert all(gone(pid) for pid in running)
    async with editor(tmp_path) as client:
        await client.load(session)
        assert client.updates("user_message_chunk")[0]["content"]["text"] == RUNNING
        assert client.updates("tool_call_update")[-1]["status"] == "failed"


def test_a_client_that_reads_no_more_has_gone(tmp_path: Path) -> None:
    def line(method: str, **params: object) -> bytes:
        return request(method, params) + b"\n"

    command = [sys.executable, "-m", "lastword", "acp", "--yes", "--model", "rehearsal"]
    env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=env) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(line("session/new", cwd=str(tmp_path), mcpServers=[]))
        process.stdin.flush()
        session = json.loads(process.stdout.readline())["result"]["sessionId"]
        process.stdout.close()
        prompt = [{"type": "text", "text": "tell me a story"}]
        process.stdin.write(line("session/prompt", sessionId=session, prompt=prompt))
        process.stdin.flush()
        assert process.wait(60) == 0  # though its input is open


def _below(pid: int) -> list[tuple[int, str]]:
    """The processes below one, and their command lines."""
    found: list[tuple[int, str]] = []
    parents = {pid}
    everyone = {int(one.name): one for one in Path("/proc").iterdir() if one.name.isdecimal()}
    grew = True
    while grew:
        grew = False
        for number, folder in everyone.items():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                line = (folder / "cmdline").read_text()
            except OSError:
                continue
            if parent in parents and number not in parents:
                parents.add(number)
                found.append((number, line))
                grew = True
    return found
