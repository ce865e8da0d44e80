"""Those who ask: many sockets in one process, which does as little as it can with what it hears.

It is told what to do by lines on its input, and answers each with a line.
"""

from __future__ import annotations

import json
import os
import resource
import select
import socket
import sys
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

SESSION, WORD, END = "bench", "word ", "the end"
HELLO = b"retry: 1000\n\n"
TEXT, LAST = b'"live":true', b'"text":"%b"' % END.encode()
CHUNK_ENDS = b"\n\n\r\n"  # of a chunk that holds whole events
SESSIONS_EACH = 8  # so that nobody sends to a session that still answers
LONGEST = 60.0  # seconds that anything may take before it is given up


def answer(**what: Any) -> None:  # noqa: ANN401 - whatever JSON can have
    print(json.dumps(what), flush=True)


class Sockets:
    """Connections to one server, and what has come on them and was not taken yet."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._poll = select.epoll()
        self._open: dict[int, socket.socket] = {}
        self._rest: dict[int, bytes] = {}

    def connect(self) -> int:
        made = socket.create_connection(("127.0.0.1", self._port))
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        number = made.fileno()
        self._open[number], self._rest[number] = made, b""
        self._poll.register(number, select.EPOLLIN)
        return number

    def request(self, method: str, path: str, body: bytes = b"") -> bytes:
        head = f"{method} /v1/sessions/{path} HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\n"
        if body:
            head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        return head.encode() + b"\r\n" + body

    def watch(self, session: str) -> int:
        """An event stream, which has begun."""
        number = self.connect()
        os.write(number, self.request("GET", f"{session}/events"))
        until = time.perf_counter() + LONGEST
        heard = b""
        while HELLO not in heard:
            heard += self._open[number].recv(1 << 16)
            if time.perf_counter() > until or not heard.startswith(b"HTTP/1.1 200"):
                raise AssertionError(heard[:1000])
        return number

    def ready(self, seconds: float) -> Iterator[int]:
        """Those on which something has come, within so many seconds."""
        return (number for number, _ in self._poll.poll(seconds))

    def chunks(self, number: int) -> bytes:
        """The whole ones of a stream that have come."""
        data = self._rest[number] + os.read(number, 1 << 16)
        ends = data.rfind(CHUNK_ENDS) + len(CHUNK_ENDS)
        if ends == len(data):
            self._rest[number] = b""
            return data
        if ends < len(CHUNK_ENDS):
            ends = 0
        self._rest[number] = data[ends:]
        return data[:ends]

    def answered(self, number: int) -> bytes:
        """The answer to a request, once it has come whole."""
        came = os.read(number, 1 << 16)
        if not came:
            raise EOFError
        data = self._rest[number] + came
        head, ends, body = data.partition(b"\r\n\r\n")
        size = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        whole = bool(ends) and len(body) >= int(size)
        self._rest[number] = b"" if whole else data
        return data if whole else b""


# watchers


class Watchers:
    """So many, all of one session."""

    def __init__(self, port: int, count: int) -> None:
        self._sockets = Sockets(port)
        self._all = [self._sockets.watch(SESSION) for _ in range(count)]

    def count(self) -> dict[str, Any]:
        """Hear them to the end of what is published next."""
        answer(listening=True)
        sockets, waiting = self._sockets, set(self._all)
        texts = chunks = 0
        until = time.perf_counter() + LONGEST
        while waiting and time.perf_counter() < until:
            for number in sockets.ready(1.0):
                data = sockets.chunks(number)
                texts += data.count(TEXT)
                chunks += data.count(CHUNK_ENDS)
                if LAST in data:
                    waiting.discard(number)
        return {"texts": texts, "chunks": chunks, "waiting": len(waiting)}


# senders


class Senders:
    """So many, each of which sends its next message when the one before is accepted."""

    def __init__(self, port: int, count: int) -> None:
        self._sockets = Sockets(port)
        self._names = {
            self._sockets.connect(): cycle(f"s{n}-{m}" for m in range(SESSIONS_EACH))
            for n in range(count)
        }

    def send(self, seconds: float) -> dict[str, Any]:
        sockets, took = self._sockets, list[float]()
        began = time.perf_counter()
        sent = {number: self._say(number) for number in self._names}
        while sent:
            for number in sockets.ready(1.0):
                if whole := sockets.answered(number):
                    if not whole.startswith(b"HTTP/1.1 202"):
                        raise AssertionError(whole)
                    now = time.perf_counter()
                    took.append(now - sent.pop(number))
                    if now < began + seconds:
                        sent[number] = self._say(number)
        return {"took": took, "spent": time.perf_counter() - began}

    def _say(self, number: int) -> float:
        path = f"{next(self._names[number])}/messages"
        at = time.perf_counter()
        os.write(number, self._sockets.request("POST", path, b'{"text":"hello"}'))
        return at


# a storm


class Storm:
    """A watcher of every session, and half of them stopped at once."""

    def __init__(self, port: int, count: int) -> None:
        self._sockets = Sockets(port)
        self._streams = [self._sockets.watch(f"{SESSION}-{n}") for n in range(count)]
        self._stops = {self._sockets.connect(): n for n in range(0, count, 2)}
        self._heard: dict[int, float] = {}  # when each stream last said something
        self._gaps: dict[int, float] = {}  # the largest of each

    def run(self, before: float, after: float) -> dict[str, Any]:
        """Listen, stop, and listen on until all is answered and a while has passed."""
        self._listen(before)  # to the beginning of all
        calm, calm_texts = self._listen(before)
        began = time.perf_counter()
        for number, session in self._stops.items():
            request = self._sockets.request("POST", f"{SESSION}-{session}/stop")
            os.write(number, request)
        took = dict[int, float]()
        storm, storm_texts = self._listen(after, took, began)
        return {
            "calm": calm,
            "storm": storm,
            "calm_texts": calm_texts / before,
            "storm_texts": storm_texts / (time.perf_counter() - began),
            "took": list(took.values()),
        }

    def _listen(
        self, seconds: float, took: dict[int, float] | None = None, began: float = 0.0
    ) -> tuple[list[float], int]:
        """The largest gap of each stream that is not stopped, and how many words all said."""
        self._gaps = dict.fromkeys(self._streams[1::2], 0.0)
        now, texts = time.perf_counter(), 0
        until, limit = now + seconds, now + LONGEST
        while now < until or (took is not None and len(took) < len(self._stops) and now < limit):
            for number in self._sockets.ready(0.05):
                if number in self._stops:
                    if took is not None and (whole := self._sockets.answered(number)):
                        if not whole.startswith(b"HTTP/1.1 200") or b'"idle":false' not in whole:
                            raise AssertionError(whole)
                        took[number] = time.perf_counter() - began
                        until = time.perf_counter() + seconds
                else:
                    texts += self._hear(number)
            now = time.perf_counter()
        return list(self._gaps.values()), texts

    def _hear(self, number: int) -> int:
        texts = self._sockets.chunks(number).count(TEXT)
        if texts and number in self._gaps:
            now = time.perf_counter()
            if number in self._heard:
                self._gaps[number] = max(self._gaps[number], now - self._heard[number])
            self._heard[number] = now
        return texts


def main(kind: str, port: int, count: int) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    does: Callable[..., dict[str, Any]]
    match kind:
        case "watchers":
            does = Watchers(port, count).count
        case "senders":
            does = Senders(port, count).send
        case _:
            does = Storm(port, count).run
    answer(ready=True)
    for line in sys.stdin:
        answer(**does(*json.loads(line)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
