"""An agent that stops as it should, and the same with one fault planted.

It has no dependency: a model over HTTP, tools, a history. What it is told to do wrong is in
`FAULTS`, with the stories that have to catch it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tests.check.planted.formats import FORMATS

Item = dict[str, Any]
_SETTLES = 0.03  # seconds between a call in full and its tool

FAULTS: dict[str, set[str]] = {  # a fault, and the stories that have to be broken by it
    "talks-on": {"text.quiet"},
    "keeps-the-line": {"text.hangs-up"},
    "waits-for-the-model": {"text.silent-model"},
    "waits-for-more": {"text.stalled"},
    "thinks-on": {"text.thinking"},
    "forgets-what-was-heard": {"text.as-heard"},
    "asks-again": {"model.no-more"},
    "retries-on": {"model.no-retry"},
    "tool-runs-on": {"tool.no-effect", "tool.batch"},
    "finishes-the-batch": {"tool.batch"},
    "begins-late": {"tool.between"},
    "waits-for-tools": {"tool.deaf"},
    "takes-late-results": {"tool.deaf"},
    "hides-threads": {"tool.thread"},
    "calls-again": {"tool.once"},
    "acts-on-a-late-yes": {"tool.asked"},
    "leaves-daemons": {"shell.tree", "shell.background", "crash.quiet"},
    "leaves-the-background": {"shell.background"},
    "waits-for-the-pipe": {"shell.pipe"},
    "floods-on": {"shell.flood"},
    "deaf-after-a-stop": {"next.runs", "text.stalled", "text.as-heard", "again.same"},
    "forgets-results": {"next.history"},
    "denies-what-was-done": {"next.truth"},
    "swallows-new-words": {"next.not-swallowed", "next.same-write"},
    "refuses-new-words": {"next.same-write"},
    "loses-new-words": {"next.no-stop"},
    "poisoned-when-idle": {"idle.harmless", "idle.same-write"},
    "poisoned-for-a-moment": {"idle.same-write"},
    "misses-an-early-stop": {"early.honoured"},
    "answers-twice": {"again.same"},
    "stops-everybody": {"other.untouched"},
    "grows": {"cycles.flat"},
    "leaves-all-when-killed": {"crash.quiet", "shell.background"},
    "names-something-else": {
        "tool.no-effect",
        "tool.batch",
        "shell.tree",
        "shell.background",
        "crash.quiet",
    },
    "names-what-goes-on": {"crash.quiet"},
    "names-another-thread": {"tool.thread"},
}
NAMES = {"names-something-else", "names-what-goes-on"}
RUNS_ON = {"tool-runs-on", *NAMES}
LEAVES = {"leaves-daemons", *NAMES}


@dataclass(eq=False)
class Turn:
    """One message being answered."""

    hear: Callable[[str], None]
    think: Callable[[str], None]
    named: list[str] = field(default_factory=list[str])
    asked: bool = False  # the model has been
    heard: int = 0
    waiting: bool = False  # for the model's first word
    settling: list[Item] = field(default_factory=list[Item])  # calls that are about to be made
    inside: bool = False  # a tool of ours
    requests: int = 0
    again: list[Item] = field(default_factory=list[Item])  # calls that were stopped before


class Agent:
    """One conversation."""

    def __init__(self, url: str, fault: str = "", spoken: str = "chat") -> None:
        self.fault = fault
        self.tools: dict[str, Callable[..., Awaitable[str]]] = {}
        self.offered: list[Item] = []
        self.history: list[Item] = []
        self.stopped_in_text = False
        self._format = FORMATS[spoken]
        self._url = url + self._format.path
        self._left: set[asyncio.Task[Any]] = set()
        self._again: list[Item] = []

    def offer(self, name: str, schema: Item, tool: Callable[..., Awaitable[str]]) -> None:
        self.tools[name] = tool
        self.offered.append({"type": "function", "function": {"name": name, "parameters": schema}})

    def leave(self, work: Awaitable[Any]) -> None:
        """What goes on though it should not."""

        async def going() -> None:
            with suppress(Exception):
                await work

        task = asyncio.ensure_future(going())
        self._left.add(task)
        task.add_done_callback(self._left.discard)

    async def answer(self, turn: Turn, text: str) -> None:
        """From the message to the last word, unless it is cancelled."""
        self.history.append({"role": "user", "content": text})
        again, self._again = self._again, []
        turn.again = again if self.fault == "calls-again" else []
        while True:
            said, calls = await self._ask(turn)
            self.history.append(
                {
                    "role": "assistant",
                    "content": said or None,
                    **({"tool_calls": calls} if calls else {}),
                }
            )
            if not calls:
                return
            await self._call_all(turn, calls)

    async def _call_all(self, turn: Turn, calls: list[Item]) -> None:
        done: set[str] = set()
        try:
            turn.settling = calls
            await asyncio.sleep(_SETTLES)
            turn.settling = []
            for call in calls:
                self._result(call, await self._use(turn, call))
                done.add(call["id"])
        except asyncio.CancelledError:
            self._settle(turn, calls, done)
            raise

    def _settle(self, turn: Turn, calls: list[Item], done: set[str]) -> None:
        """Each call has a result, whatever became of it."""
        if self.fault == "begins-late" and turn.settling:
            self.leave(self._late_begin(turn, calls[0]))
        if self.fault == "denies-what-was-done":
            for message in self.history:
                message.update({"content": "not run"} if message["role"] == "tool" else {})
        open_calls = [call for call in calls if call["id"] not in done]
        self._again = open_calls if not turn.settling else []
        for number, call in enumerate(open_calls):
            if number and self.fault == "finishes-the-batch":
                self.leave(self._use(turn, call))
            if self.fault != "forgets-results":
                self._result(call, "stopped by the person; it may have executed")

    async def _late_begin(self, turn: Turn, call: Item) -> None:
        await asyncio.sleep(0.1)
        await self._use(turn, call)

    async def _use(self, turn: Turn, call: Item) -> str:
        name = call["function"]["name"]
        work = asyncio.ensure_future(
            self.tools[name](turn, **json.loads(call["function"]["arguments"]))
        )
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            if self.fault in RUNS_ON and turn.inside:
                raise
            work.cancel()
            if self.fault == "takes-late-results":
                work.add_done_callback(lambda over: self._late(turn, call, over))
            elif self.fault == "waits-for-tools" or name == "shell":
                await asyncio.wait([work])
            raise

    def _late(self, turn: Turn, call: Item, over: asyncio.Future[str]) -> None:
        if over.cancelled() or over.exception():
            return
        for message in self.history:
            if message.get("tool_call_id") == call["id"]:
                message["content"] = over.result()
        deaf = Turn(lambda _: None, lambda _: None)
        self.leave(self._ask(deaf))

    def _result(self, call: Item, text: str) -> None:
        self.history.append({"role": "tool", "tool_call_id": call["id"], "content": text})

    # the model

    async def _ask(self, turn: Turn) -> tuple[str, list[Item]]:
        said: list[str] = []
        calls: dict[Any, Item] = {}
        mute = [False]
        work = asyncio.ensure_future(self._listen(turn, said, calls, mute))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            if self.fault == "keeps-the-line" and said:
                mute[0] = True
                self.leave(work)
            else:
                work.cancel()
                await asyncio.wait([work])
            self._after_a_stop(turn, said)
            raise
        return "".join(said), list(calls.values())

    def _after_a_stop(self, turn: Turn, said: list[str]) -> None:
        loop, text = asyncio.get_running_loop(), "".join(said)
        if self.fault == "talks-on" and text:
            loop.call_later(0.3, turn.hear, text)
        if self.fault == "thinks-on" and turn.asked and not text and turn.heard:
            loop.call_later(0.3, turn.think, self.last_thought)
        if self.fault == "asks-again" and text:
            loop.call_later(
                0.3, lambda: self.leave(self._ask(Turn(lambda _: None, lambda _: None)))
            )
        if text and self.fault != "forgets-what-was-heard":
            self.history.append({"role": "assistant", "content": text + " [stopped by the person]"})
        self.stopped_in_text = bool(text)

    last_thought = ""

    async def _listen(
        self, turn: Turn, said: list[str], calls: dict[Any, Item], mute: list[bool]
    ) -> None:
        body = self._format.body(self.history, self.offered)
        turn.waiting = True
        turn.requests += 1
        async for delta in self._deltas(body, turn):
            turn.waiting = False
            if thought := delta.get("reasoning_content"):
                self.last_thought = thought
                turn.heard += 1
                turn.think(thought)
            if text := delta.get("content"):
                said.append(text)
                for call in turn.again:
                    self.leave(self._use(turn, call))
                turn.again = []
                if not mute[0]:
                    turn.hear(text)
            pieces: list[Item] = delta.get("tool_calls") or []
            for one in pieces:
                call = calls.setdefault(
                    one["index"],
                    {
                        "id": one.get("id"),
                        "type": "function",
                        "function": {"name": "", "arguments": ""},
                    },
                )
                told: Item = one.get("function") or {}
                call["function"]["name"] += told.get("name") or ""
                call["function"]["arguments"] += told.get("arguments") or ""

    async def _deltas(self, body: Item, turn: Turn) -> AsyncIterator[Item]:
        """Ask, and ask again if the model is overloaded."""
        for _ in range(4):
            turn.asked = True
            async with _Post(self._url, body) as post:
                if post.status < 500:
                    async for line in post.lines():
                        if line.startswith("data: {"):
                            for delta in self._format.deltas(json.loads(line[6:])):
                                yield delta
                    return
                turn.waiting = False
                pause = float(post.headers.get("retry-after", "1"))
            try:
                await asyncio.sleep(pause)
            except asyncio.CancelledError:
                if self.fault == "retries-on":
                    self.leave(self._retried(pause, body))
                raise

    async def _retried(self, pause: float, body: Item) -> None:
        await asyncio.sleep(pause)
        async with _Post(self._url, body):
            pass


class _Post:
    """One request, whose answer comes in pieces."""

    def __init__(self, url: str, body: Item) -> None:
        self._where, _, self._path = url.removeprefix("http://").partition("/")
        self._body = json.dumps(body).encode()
        self.status = 0
        self.headers: Mapping[str, str] = {}

    async def __aenter__(self) -> _Post:
        host, _, port = self._where.partition(":")
        self._reader, self._writer = await asyncio.open_connection(host, int(port), limit=1 << 22)
        try:
            head = f"POST /{self._path} HTTP/1.1\r\nhost: {self._where}\r\n"
            head += f"content-type: application/json\r\ncontent-length: {len(self._body)}\r\n\r\n"
            self._writer.write(head.encode() + self._body)
            first = await self._reader.readuntil(b"\r\n\r\n")
        except BaseException:
            self._writer.close()
            raise
        status, *lines = first.decode().strip().split("\r\n")
        self.status = int(status.split()[1])
        self.headers = dict(line.lower().split(": ", 1) for line in lines)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def lines(self) -> AsyncIterator[str]:
        rest = b""
        while size := int((await self._reader.readline()).strip() or b"0", 16):
            rest += await self._reader.readexactly(size)
            await self._reader.readline()
            *whole, rest = rest.split(b"\n")
            for line in whole:
                yield line.decode()
