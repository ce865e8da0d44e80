"""Engines that say to their host what no process of a run says."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from typing import Any

from lastword import Generation, Run
from lastword.core.model import RunId, SessionId
from lastword.core.plain import to_plain
from lastword.core.question import Question

HEAD = struct.Struct("!IB")


def frame(body: bytes, kind: int = 1) -> bytes:
    return HEAD.pack(len(body), kind) + body


def message(*said: Any) -> bytes:
    return frame(json.dumps(said).encode())


QUESTION = {
    "id": "q",
    "session": "others",
    "generation": 1,
    "run": "others#1",
    "tool": 7,
}
FORGED = Question("q", SessionId("others"), Generation(1), RunId("others#1"), "write", "a file")
SAYINGS: dict[str, bytes] = {
    "no JSON": frame(b"\xff{"),
    "no list": frame(b'{"done": true}'),
    "an empty list": frame(b"[]"),
    "a name that is none": frame(b"[[1]]"),
    "deep": frame(b"[" * 100_000 + b"]" * 100_000),
    "a huge number": frame(b'["make", ' + b"9" * 4000 + b"]"),
    "a verb that is none": message("unlink", "/"),
    "too little": message("make"),
    "too much": message("make", 1, 2),
    "another type": message("make", "1"),
    "words that are none": frame(b"[1, 2]", 2),
    "a huge frame": HEAD.pack(1 << 30, 1),
    "a kind that is none": HEAD.pack(2, 99) + b"[]",
    "a call of nobody's": message("make", 7),
    "a call out of turn": message("intend", 5, "x", "{}", "", None),
    "a nature that is none": message("intend", 1, "x", "{}", "evil", None),
    "a native that is none": message("intend", 1, "x", "{}", "", {"engine": 1, "data": "x"}),
    "a result of nothing": message("came", 1, "completed", "forged", False, ""),
    "a result of what has not begun": message("intend", 1, "x", "{}", "", None)
    + message("came", 1, "completed", "forged", False, ""),
    "a call made twice": message("intend", 1, "x", "{}", "", None) + 2 * message("make", 1),
    "a request out of turn": message("request", 9, "steering", []),
    "a request for nothing": message("request", 1, "delete", ["others"]),
    "a request with what is none": message("request", 1, "child", [1, 2]),
    "a process of nobody's": message("process_signal", 7, 9, False),
    "a process asked for in another shape": message("request", 1, "process", [{"argv": ["true"]}]),
    "a job of nobody's process": message("at_once", 1, "job_of", [3]),
    "a look at nothing": message("at_once", 1, "environment", []),
    "a question of another's": message("request", 1, "ask", [QUESTION]),
    "an answer to a model's request": message("answered", 3, "m", 1, 1, None, "", False),
    "a text that belongs nowhere": frame(b"x" * 1000, 5) + message("begun"),
    "texts for nothing": message("with", [[[2], 5]], ["progress", None, None]),
    "a text in a place that is taken": frame(b"x", 5)
    + message("with", [[[0], 1]], ["progress", None, None]),
    "a text in no place": frame(b"x", 5)
    + message("with", [[["a", 7], 1]], ["progress", None, None]),
    "a text that is none": frame(b"\xff", 5) + message("with", [[[1], 1]], ["begun", None]),
    "texts with no message": frame(b"x", 5) + message("with", [[[0], 1]], []),
    "texts within texts": frame(b"x", 5) + message("with", [[[1], 1]], ["with", None, []]),
    "a text that never ends": frame(b"x" * 500_000, 5) * 40,
    "much JSON": frame(b"[" + b"{}," * 300_000 + b"{}]"),
    "the host's own words": message("go", 1, "", []),
    "an answer of the host's": message("answer", 1, None),
    "a service that is no text": message("request", 1, "service", [7, []]),
    "something left out": message("left_out", {"run": "others#1"}),
}


def socket_of(run: Run) -> socket.socket:
    """Where it says all that it says."""
    it: Any = run
    return it._post._line._socket


async def engine(run: Run) -> None:
    name = run.message.text
    if name == "answers":
        await run.emit("here")
        return
    line = socket_of(run)
    line.setblocking(True)
    if name == "forges":
        line.sendall(message("request", 1, "ask", [to_plain(FORGED)]))
    elif name in SAYINGS:
        line.sendall(SAYINGS[name])
    elif name in ENDLESS:
        ENDLESS[name](line)
    await asyncio.Event().wait()


def _for_ever(said: bytes) -> Callable[[socket.socket], None]:
    def endless(line: socket.socket) -> None:
        while True:
            line.sendall(said)

    return endless


def _calls(line: socket.socket) -> None:
    for n in range(1, 1 << 20):
        line.sendall(message("intend", n, "x", "{}", "", None))


def _calls_given_up(line: socket.socket) -> None:
    for n in range(1, 1 << 20):
        line.sendall(message("intend", n, "x", "{}", "", None) + message("skip", n, "no"))


def _unread(line: socket.socket) -> None:
    """Requests whose answers nobody reads."""
    for n in range(1, 1 << 20):
        line.sendall(message("request", n, "said", []))


def _looks(line: socket.socket) -> None:
    """Whose answers nobody reads, either."""
    for n in range(1, 1 << 20):
        line.sendall(message("at_once", n, "jobs", []))


def _readers(line: socket.socket) -> None:
    """Of what it never started."""
    for n in range(1, 1 << 20):
        line.sendall(message("process_read_over", n))


def _children(line: socket.socket) -> None:
    for n in range(1, 1 << 20):
        line.sendall(message("request", n, "child", ["waits", False]))


def _services(line: socket.socket) -> None:
    for n in range(1, 1 << 20):
        line.sendall(message("request", n, "service", ["none", ["x" * 100]]))


def _models(line: socket.socket) -> None:
    for n in range(1, 1 << 20):
        said = message("answered", n, f"m{n}", 1, 1, None, "", False)
        line.sendall(message("asks", n, f"m{n}", "p") + said)


def _begun(line: socket.socket) -> None:
    """The head of a frame, and never all of it."""
    line.sendall(HEAD.pack(1 << 23, 1) + b"[" * 100_000)


ENDLESS: dict[str, Callable[[socket.socket], None]] = {
    "words": _for_ever(frame(b'["a","b","c"]', 2)),
    "words of a stream": _for_ever(frame(json.dumps(["x" * 1000] * 50).encode(), 3)),
    "the smallest": _for_ever(frame(b"", 4) * 10_000),
    "lines of a log": _for_ever(message("log", "lastword.x", 10, "line")),
    "calls": _calls,
    "calls given up": _calls_given_up,
    "requests whose answers nobody reads": _unread,
    "looks whose answers nobody reads": _looks,
    "readers": _readers,
    "children": _children,
    "requests to models": _models,
    "thoughts": _for_ever(message("think", "x" * 100, None, True)),
    "what is declined": _for_ever(message("declined", 400)),
    "the typing mark": _for_ever(message("typing", 1.0) + message("typing", None)),
    "never all of it": _begun,
    "what it did not do": _for_ever(frame(b"text", 7) * 1000),
    "that it heard, and what it did not do": _for_ever(frame(b"", 4) + frame(b"x", 7) * 10_000),
    "services": _services,
}
