"""Those who ask during the storm, each kind in a process of its own.

Each is told how many it is to be, says when it is there, and answers a line on its input with what
it has seen since the line before. How long it stood in line for a processor is told with it.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from bench.server_client import TEXT, answer

LARGE, SPEAKS, CALLS = "a long answer", "speak", "speak, and call a tool"
CROWDS = tuple(f"crowd-{number}" for number in range(4))  # a principal has 1,024 streams at most
PERSON, EXPORTER, SLOW = "person", "exporter", "slow"
PRINCIPALS = (*CROWDS, PERSON, EXPORTER, SLOW)
CALLERS = 5  # sessions that call a tool each second
WATCHERS = 2  # of each session
CONNECTS, HELD = 300, 2_500  # connections a second that nobody has a token for, and open ones
STARTING = 32  # at a time
KEPT, STOPPED = 32, 400  # connections; sessions that are stopped, one after the other
NONE_LEFT = "nothing was left to stop"
ANSWERS = 30.0  # seconds after which nobody waits any longer


def token_of(name: str) -> str:
    return f"the token of {name}"


def stood_in_line(of: Path = Path("/proc/self")) -> float:
    """Seconds that a thread was ready to run and had no processor."""
    return int((of / "schedstat").read_text(encoding="ascii").split()[1]) * 1e-9


def request(method: str, path: str, who: str | None, body: bytes = b"") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
    if who:
        head += f"authorization: Bearer {token_of(who)}\r\n"
    if body:
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


class Line:
    """A connection on which one thing is asked after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, port: int) -> Line:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, asked: bytes) -> tuple[bytes, bytes]:
        """The status and the body of the answer, once it has come whole."""
        self.writer.write(asked)
        head = await self._reader.readuntil(b"\r\n\r\n")
        size = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        return head[9:12], await self._reader.readexactly(int(size))

    async def hear(self) -> bytes:
        return await self._reader.read(1 << 16)


def say(who: str, session: str, text: str) -> bytes:
    body = json.dumps({"text": text}).encode()
    return request("POST", f"/v1/sessions/{session}/messages", who, body)


class Seen(Counter[str]):
    """What happened, by kind, until it is told."""

    def taken(self) -> dict[str, Any]:
        told = dict(self)
        self.clear()
        return told


# the crowd


async def crowd(port: int, count: int, seen: Seen) -> None:
    """Sessions that speak, and those who watch them."""
    names = deque((CROWDS[number % len(CROWDS)], f"s{number}") for number in range(count))
    callers = {f"s{number}" for number in range(CALLERS)}

    async def begin() -> None:
        line = await Line.open(port)
        while names:
            who, name = names.popleft()
            for _ in range(WATCHERS):
                await _watch(port, who, name, seen)
            told = await line.ask(say(who, name, CALLS if name in callers else SPEAKS))
            if told[0] != b"202":
                raise AssertionError(told)

    await asyncio.gather(*(begin() for _ in range(STARTING)))


async def _watch(port: int, who: str, name: str, seen: Seen) -> None:
    line = await Line.open(port)
    line.writer.write(request("GET", f"/v1/sessions/{name}/events", who))
    if not (await line.hear()).startswith(b"HTTP/1.1 200"):
        raise AssertionError(name)
    _go_on(_heard(line, seen))


async def _heard(line: Line, seen: Seen) -> None:
    while data := await line.hear():
        seen["words"] += data.count(TEXT)
    seen["streams that ended"] += 1


# exports


async def exports(port: int, count: int, seen: Seen) -> None:
    """A long session, which so many export again and again."""
    line = await Line.open(port)
    told = await line.ask(say(EXPORTER, "long", LARGE))
    if told[0] != b"202":
        raise AssertionError(told)
    await _has_ended(line)
    for _ in range(count):
        _go_on(_export(port, seen))


async def _has_ended(line: Line) -> None:
    while True:
        told = await line.ask(request("GET", "/v1/sessions/long", EXPORTER))
        if b'"busy":false' in told[1]:
            return
        await asyncio.sleep(0.1)


async def _export(port: int, seen: Seen) -> None:
    while True:
        line = await Line.open(port)
        line.writer.write(request("GET", "/v1/sessions/long/export", EXPORTER))
        tail = b""
        while not tail.endswith(b"0\r\n\r\n") and (data := await line.hear()):
            tail = (tail + data)[-8:]
            seen["bytes"] += len(data)
        seen["exports"] += tail.endswith(b"0\r\n\r\n")
        line.writer.close()


# floods


async def flood(port: int, count: int, seen: Seen) -> None:
    """Connections of nobody's, so many a second: silent ones, which are held, and those who ask for
    something without a token, or for nothing that there is."""
    held = deque[Line]()

    async def connect(number: int) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            line = await Line.open(port)
            seen["connections"] += 1
            if number % 2:
                held.append(line)
                while len(held) > HELD:
                    held.popleft().writer.close()
                return
            asked = (
                request("GET", "/v1/sessions", None) if number % 4 else b"\x16\x03\x01 hello\r\n"
            )
            line.writer.write(asked)
            await line.hear()
            line.writer.close()

    _go_on(_paced(count, connect))


async def slow(port: int, count: int, seen: Seen) -> None:
    """So many at a time whose body comes a byte a second."""

    async def one() -> None:
        while True:
            with suppress(OSError):
                line = await Line.open(port)
                line.writer.write(say(SLOW, "s", "x" * 1000)[:-1000])
                seen["bodies"] += 1
                ended = _go_on(line.hear())
                while not ended.done():
                    line.writer.write(b"x")
                    await asyncio.wait([ended], timeout=1.0)
                line.writer.close()

    for _ in range(count):
        _go_on(one())


# stops


class Took(NamedTuple):
    """Of one stop: seconds, and how much of them the server's loop and this client stood in line;
    whether it came over a fresh connection."""

    all: float
    loop: float
    client: float
    fresh: bool


class Stops:
    """Runs of one person's, which that person stops: over a kept connection, or a fresh one."""

    def __init__(self, port: int, server: int, seen: Seen) -> None:
        self._port = port
        self._loop = Path(f"/proc/{server}/task/{server}")
        self._seen = seen
        self._kept = deque[Line]()
        self._speaking = deque[str]()
        self.took = list[Took]()
        self.late = list[float]()  # how much later than it should have been a stop was written

    async def start(self, count: int) -> None:
        names = deque(f"p{number}" for number in range(count))
        self._kept.extend([await Line.open(self._port) for _ in range(KEPT)])
        while names:
            await self._begin(names.popleft())

    async def _begin(self, name: str) -> None:
        """Have it speak again. A connection that rests may be closed for want of room: not this."""
        line = await Line.open(self._port)
        told = await line.ask(say(PERSON, name, SPEAKS))
        if told[0] != b"202":
            raise AssertionError(told)
        line.writer.close()
        self._speaking.append(name)

    async def _line(self, *, fresh: bool) -> Line:
        while self._kept and not fresh:
            line = self._kept.popleft()
            if not line.writer.is_closing():
                return line
            self._seen["kept connections that were closed"] += 1
        return await Line.open(self._port)

    async def stop(self, number: int) -> None:
        if not self._speaking:
            self._seen[NONE_LEFT] += 1
            return
        name = self._speaking.popleft()
        fresh = bool(number % 2)
        loop, client = stood_in_line(self._loop), stood_in_line()
        began = time.perf_counter()
        try:
            async with asyncio.timeout(ANSWERS):
                line = await self._line(fresh=fresh)
                asked = request("POST", f"/v1/sessions/{name}/stop", PERSON)
                status, body = await line.ask(asked)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            self._seen[f"failed: {type(error).__name__}"] += 1
            return
        took = time.perf_counter() - began
        loop, client = stood_in_line(self._loop) - loop, stood_in_line() - client
        self.took.append(Took(took, loop, client, fresh))
        if status != b"200" or b'"idle":false' not in body:
            self._seen[f"refused: {status.decode()} {body[:200]!r}"] += 1
        if fresh:
            line.writer.close()
        else:
            self._kept.append(line)
        await self._begin(name)

    async def storm(self, seconds: float, rate: int) -> dict[str, Any]:
        self.took.clear()
        self.late.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await _paced(rate, self.stop, self.late)
        while _going - {asyncio.current_task()}:
            await asyncio.wait(_going)
        return {"took": self.took, "late": self.late}


# a process

_going = set[asyncio.Task[Any]]()


def _go_on(work: Any) -> asyncio.Task[Any]:  # noqa: ANN401 - whatever it gives
    task = asyncio.ensure_future(work)
    _going.add(task)
    task.add_done_callback(_going.discard)
    return task


async def _paced(
    rate: int, does: Callable[[int], Awaitable[None]], late: list[float] | None = None
) -> None:
    """Begin it so often a second, whether or not those before have ended."""
    began = time.perf_counter()
    number = 0
    while True:
        due = began + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        if late is not None:
            late.append(time.perf_counter() - due)
        _go_on(does(number))
        number += 1


async def obey(kind: str, port: int, count: int, server: int) -> None:
    seen, stops = Seen(), None
    if kind == "stops":
        stops = Stops(port, server, seen)
        await stops.start(count)
    else:
        kinds = {"crowd": crowd, "exports": exports, "flood": flood, "slow": slow}
        await kinds[kind](port, count, seen)
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    answer(ready=True)
    waited, ran, at = stood_in_line(), time.process_time(), time.perf_counter()
    while line := (await reader.readline()).decode().strip():
        told = await stops.storm(*json.loads(line)) if stops else {}
        now = stood_in_line(), time.process_time(), time.perf_counter()
        own = {"line": now[0] - waited, "ran": now[1] - ran, "passed": now[2] - at}
        waited, ran, at = now
        answer(**told, **own, seen=seen.taken())


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(obey(sys.argv[1], *map(int, sys.argv[2:])))
