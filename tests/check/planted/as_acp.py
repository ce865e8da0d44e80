"""The planted agent over ACP: `python as_acp.py [FAULT [FORMAT]]`, or a manner, which is no fault.

It asks before every tool.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.check.planted.alive import holds_a_pipe, of_the_witness
from tests.check.planted.core import LEAVES, NAMES, RUNS_ON, Agent, Turn
from tests.check.planted.keeper import children_of
from tests.check.planted.manners import Passed

_MOMENT = 0.15  # seconds for which an idle stop poisons
_SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


class Lines:
    """JSON-RPC in lines, either way."""

    def __init__(self, read: asyncio.StreamReader, write: Any) -> None:
        self.read, self._write = read, write
        self._waits: dict[int, asyncio.Future[Any]] = {}
        self._count = 1000

    def send(self, **message: Any) -> None:
        self._write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())

    def ask(self, method: str, params: Mapping[str, Any]) -> tuple[int, asyncio.Future[Any]]:
        self._count += 1
        wait = self._waits[self._count] = asyncio.get_running_loop().create_future()
        self.send(id=self._count, method=method, params=params)
        return self._count, wait

    def answered(self, message: Mapping[str, Any]) -> None:
        wait = self._waits.pop(message["id"], None)
        if wait and not wait.done():
            wait.set_result(message.get("result"))


def to_the_editor(data: bytes) -> None:
    os.write(1, data)


def pipes_of(
    process: asyncio.subprocess.Process,
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return cast(
        "tuple[asyncio.StreamReader, asyncio.StreamWriter]", (process.stdout, process.stdin)
    )


def errors_of(process: asyncio.subprocess.Process) -> asyncio.StreamReader:
    return cast("asyncio.StreamReader", process.stderr)


class Tools:
    """One MCP server."""

    async def start(self, told: Mapping[str, Any]) -> list[dict[str, Any]]:
        env = {**os.environ, **{one["name"]: one["value"] for one in told["env"]}}
        self.process = await asyncio.create_subprocess_exec(
            told["command"], *told["args"], env=env, stdin=-1, stdout=-1
        )
        read, write = pipes_of(self.process)
        self.lines = Lines(read, write.write)
        self._reading = asyncio.ensure_future(self._read())
        await self.lines.ask("initialize", {"protocolVersion": "2025-06-18"})[1]
        return (await self.lines.ask("tools/list", {})[1])["tools"]

    async def _read(self) -> None:
        while line := await self.lines.read.readline():
            self.lines.answered(json.loads(line))

    async def call(self, name: str, arguments: Mapping[str, Any], fault: str) -> str:
        number, wait = self.lines.ask("tools/call", {"name": name, "arguments": arguments})
        try:
            result = await asyncio.shield(wait)
        except asyncio.CancelledError:
            if fault in RUNS_ON:
                raise
            if fault == "waits-for-tools":
                pass
            else:
                cancelled = {"requestId": number}
                self.lines.send(method="notifications/cancelled", params=cancelled)
                if fault != "takes-late-results":
                    raise
            result = await wait  # and is late
        return str(result["content"][0]["text"])


UNWILLING = {"refuses-the-background": "& ", "runs-no-trees": " tree "}  # no fault: not run


class Session:
    """One conversation with an editor."""

    def __init__(self, server: Server, name: str, url: str, fault: str) -> None:
        self.server, self.name, self.fault = server, name, fault
        self.agent = Agent(url, fault, server.spoken)
        self.agent.offer("shell", _SHELL, self.shell)
        self.task: asyncio.Task[None] | None = None
        self.turn: Turn | None = None
        self.poisoned_until = 0.0
        self.stopping = False
        self.asking: asyncio.Future[Any] | None = None
        self.keepers: list[asyncio.subprocess.Process] = []

    def update(self, kind: str, text: str) -> None:
        content = {"type": "text", "text": text}
        if kind == "agent_message_chunk":
            self.last = asyncio.get_running_loop().time()
        update = {"sessionUpdate": kind, "content": content}
        if kind == "tool_call_update":
            update = {
                "sessionUpdate": kind,
                "toolCallId": "c",
                "content": [{"type": "content", "content": content}],
            }
        told = {"sessionId": self.name, "update": update}
        self.server.lines.send(method="session/update", params=told)

    def prompt(self, number: int, text: str) -> None:
        now = asyncio.get_running_loop().time()
        going = self.task and not self.task.done()
        if self.fault == "refuses-new-words" and going and self.stopping:
            self.server.lines.send(id=number, error={"code": -32602, "message": "still busy"})
        elif (self.fault == "swallows-new-words" and going and self.stopping) or (
            now < self.poisoned_until
        ):
            self.reply(number, "cancelled")
        elif self.fault == "loses-new-words" and going and not self.stopping:
            self.reply(number, "end_turn")
        elif self.fault == "deaf-after-a-stop" and self.agent.stopped_in_text:
            self.agent.stopped_in_text = False
            self.reply(number, "end_turn")
        else:
            self.poisoned_until = 0.0
            before = self.task
            if before and going and self.fault != "says-that-it-waits":
                before.cancel()
            self.begun = self.early = self.stopping = False
            self.task = asyncio.ensure_future(self.answer(number, text, before))

    begun = early = False
    call: Callable[[], Awaitable[str]] | None = None

    async def answer(self, number: int, text: str, before: asyncio.Task[None] | None) -> None:
        self.begun, self.last = True, 0.0
        if self.early:
            self.early = False
            self.reply(number, "cancelled")
            return
        hear = Passed(lambda said: self.update("agent_message_chunk", said), self.fault)
        think = Passed(lambda thought: self.update("agent_thought_chunk", thought), self.fault)
        self.turn = turn = Turn(hear, think)
        if before and not before.done() and self.fault == "says-that-it-waits":
            hear("Queued for the next turn.")
        work = asyncio.ensure_future(self._answered(turn, text, before))
        try:
            await asyncio.shield(work)
            how = "end_turn"
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.wait([work])
            how = "cancelled"
        hear.flush()
        think.flush()
        await self.see_off()
        if self.fault == "grows":
            self.server.grown.append(await asyncio.create_subprocess_exec("/bin/sleep", "30"))
        self.reply(number, how, self.going_on(turn) if how == "cancelled" else [])
        if how == "cancelled" and self.fault == "answers-twice":
            self.reply(number, how)

    async def _answered(self, turn: Turn, text: str, before: asyncio.Task[None] | None) -> None:
        if before:
            await asyncio.wait([before])
        await self.agent.answer(turn, text)

    def reply(self, number: int, how: str, named: list[str] | None = None) -> None:
        meta = {"_meta": {"lastword": {"kept": named}}} if named else {}
        self.server.lines.send(id=number, result={"stopReason": how, **meta})

    def going_on(self, turn: Turn) -> list[str]:
        """What it says that it has not ended; of some, what there really is."""
        if self.fault not in NAMES:
            return []
        if self.fault == "names-something-else":
            return ["something quite unrelated", "pid 1", "lw_other"]
        return [*turn.named, *(f"process {pid}" for pid in of_the_witness())]

    def cancel(self) -> None:
        if self.fault == "dies-at-a-stop":
            os._exit(1)
        task, turn, now = self.task, self.turn, asyncio.get_running_loop().time()
        self.stopping = True
        if task is None or task.done():
            poisons = {"poisoned-when-idle": 3600.0, "poisoned-for-a-moment": _MOMENT}
            self.poisoned_until = now + poisons.get(self.fault, 0.0)
            return
        asked = self.begun and turn is not None and turn.asked
        if self.fault == "misses-an-early-stop" and not asked:
            return
        first = turn is not None and turn.waiting and not turn.heard and turn.requests == 1
        if self.fault == "waits-for-the-model" and first:
            return
        if self.fault == "waits-for-more" and self.stalled():
            return
        if self.fault == "acts-on-a-late-yes" and self.asking and self.call:
            self.agent.leave(self.act_late(self.asking, self.call))
            self.call = None
        if self.begun:
            task.cancel()
        else:  # a task that is cancelled before it begins says nothing at all
            self.early = True

    def stalled(self) -> bool:
        return bool(self.last) and asyncio.get_running_loop().time() - self.last > 0.15

    last = 0.0

    async def act_late(self, asking: asyncio.Future[Any], call: Any) -> None:
        if await asking:
            await call()

    async def permitted(self, name: str) -> bool:
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        asked = {"sessionId": self.name, "toolCall": {"toolCallId": name}, "options": options}
        _, self.asking = self.server.lines.ask("session/request_permission", asked)
        answer = await asyncio.shield(self.asking)
        self.asking = None
        return bool(answer)

    def tool(self, tools: Tools, name: str) -> Any:
        async def call(turn: Turn, **arguments: Any) -> str:
            if name == "lw_fast":
                self.call = lambda: tools.call(name, arguments, self.fault)
            await self.permitted(name)
            turn.inside = True
            turn.named.append(name)
            return await tools.call(name, arguments, self.fault)

        return call

    # a shell

    async def shell(self, turn: Turn, command: str) -> str:
        del turn
        await self.permitted("shell")
        if self.fault in UNWILLING and UNWILLING[self.fault] in f"{command} ":
            return "not run: no such thing is run here"
        argv = [sys.executable, "-I", "-S", str(Path(__file__).parent / "keeper.py"), command]
        if self.fault in {*LEAVES, "leaves-all-when-killed"}:
            return await self.bare_shell(command)
        keeper = await asyncio.create_subprocess_exec(*argv, stdin=-1, stdout=-1, stderr=-1)
        self.keepers.append(keeper)
        showing = asyncio.ensure_future(self.show(keeper))
        try:
            await errors_of(keeper).readline()
        except asyncio.CancelledError:
            if self.fault == "floods-on":
                self.agent.leave(self.show_late())
            if self.fault != "waits-for-the-pipe" or not await over(keeper):
                raise
        finally:
            showing.cancel()
        while self.fault == "waits-for-the-pipe" and holds_a_pipe(children_of(keeper.pid)):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)
        if self.fault == "leaves-the-background":
            self.server.left.append(keeper)
            self.keepers.remove(keeper)
        return self.shown

    shown = ""

    async def show(self, keeper: asyncio.subprocess.Process) -> None:
        while data := await pipes_of(keeper)[0].read(1 << 16):
            self.shown = data[-300:].decode(errors="replace")
            self.update("tool_call_update", self.shown)

    async def show_late(self) -> None:
        await asyncio.sleep(0.3)
        self.update("tool_call_update", self.shown)

    async def bare_shell(self, command: str) -> str:
        """As it is often done: a process, and at a stop its death."""
        process = await asyncio.create_subprocess_shell(
            command, stdin=-1, stdout=-1, start_new_session=True
        )
        output, _ = pipes_of(process)
        try:
            return (await output.read())[-300:].decode(errors="replace")
        except asyncio.CancelledError:
            if process.returncode is None:
                self.end_bare(process)
            raise

    def end_bare(self, process: asyncio.subprocess.Process) -> None:
        left = [process.pid, *children_of(process.pid)]
        if self.fault == "leaves-all-when-killed":
            left += of_the_witness(b"tree")
        for pid in set(left):
            if pid != os.getpid():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    async def see_off(self) -> None:
        for keeper in self.keepers:
            pipes_of(keeper)[1].close()
        for keeper in self.keepers:
            await pipes_of(keeper)[0].read()  # nothing ends for asyncio behind a pipe that is full
            await keeper.wait()
        self.keepers = []


async def over(keeper: asyncio.subprocess.Process) -> bool:
    """Whether its command was about to end."""
    try:
        async with asyncio.timeout(0.3):
            return bool(await errors_of(keeper).readline())
    except TimeoutError:
        return False


class Server:
    """What an editor starts."""

    def __init__(self, fault: str = "", spoken: str = "chat") -> None:
        self.fault, self.spoken = fault, spoken
        self.sessions: dict[str, Session] = {}
        self.left: list[Any] = []
        self.grown: list[Any] = []

    async def serve(self) -> None:
        reader = asyncio.StreamReader(limit=1 << 24)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        self.lines = Lines(reader, to_the_editor)
        while line := await reader.readline():
            message = json.loads(line)
            method, number = message.get("method"), message.get("id")
            if method is None:
                self.lines.answered(message)
            elif method == "session/prompt":
                params = message["params"]
                self.sessions[params["sessionId"]].prompt(number, params["prompt"][0]["text"])
            elif method == "session/cancel":
                self.cancel(message["params"]["sessionId"])
            else:
                self.left.append(asyncio.ensure_future(self.open(method, number, message)))
        os._exit(0)

    def cancel(self, named: str) -> None:
        everybody = list(self.sessions.values())
        for one in everybody if self.fault == "stops-everybody" else [self.sessions[named]]:
            one.cancel()

    async def open(self, method: str, number: int, message: Mapping[str, Any]) -> None:
        if method == "initialize":
            info = {"name": f"planted {self.fault or 'good'}", "version": "1"}
            self.lines.send(id=number, result={"protocolVersion": 1, "agentInfo": info})
            return
        url = os.environ["OPENAI_BASE_URL"].removesuffix("/v1")
        session = Session(self, f"s{number}", url, self.fault)
        for told in message["params"]["mcpServers"]:
            tools = Tools()
            self.left.append(tools)
            for one in await tools.start(told):
                call = session.tool(tools, one["name"])
                session.agent.offer(one["name"], one["inputSchema"], call)
        self.sessions[session.name] = session
        self.lines.send(id=number, result={"sessionId": session.name})


if __name__ == "__main__":
    asyncio.run(Server(*sys.argv[1:]).serve())
