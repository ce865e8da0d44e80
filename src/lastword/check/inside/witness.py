"""The witness: tools whose every deed is written down, with the time and the process.

    python witness.py mcp JOURNAL               an MCP server on stdio
    python witness.py tree JOURNAL RUN          five stubborn processes, in a shell of the target's
    python witness.py slow JOURNAL RUN N FUSE   one deed, in a shell of the target's
    python witness.py hold|flood|beat JOURNAL RUN

The time is CLOCK_MONOTONIC: one clock for all processes of a machine. Whatever is started here ends
by itself: a judge leaves no litter. It is one file, so that it starts wherever there is a Python.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from typing import Any

LITTER = 30.0  # seconds until everything here has ended by itself
BEAT = 0.05
PARTS = ("plain", "deaf", "session", "orphan", "daemon")
_NEVER = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_SCHEMA = {
    "type": "object",
    "properties": {
        "run": {"type": "string"},
        "n": {"type": "integer"},
        "fuse": {"type": "number"},
    },
    "required": ["run", "n", "fuse"],
}


def note(journal: str, **what: Any) -> None:  # noqa: ANN401 - what JSON holds
    """One line, in one write: those of several processes do not mix."""
    line = json.dumps({"t": time.monotonic(), "pid": os.getpid(), **what}) + "\n"
    with contextlib.suppress(FileNotFoundError):  # the check is over
        file = os.open(journal, os.O_APPEND | os.O_WRONLY)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)


def result(tool: str, run: str, n: int) -> str:
    """What a tool gives back: found again by its content, wherever it turns up."""
    return f"{tool} {n} of {run} is done"


class ToolServer:
    """An MCP server, of the ages that open with `initialize` and of the one that does not."""

    def __init__(self, journal: str) -> None:
        self._journal = journal
        self._told: dict[object, threading.Event] = {}
        self._writing = threading.Lock()

    def serve(self) -> None:
        note(self._journal, tool="server", run="", what="started")
        for line in sys.stdin:
            message = json.loads(line)
            answer = self._answered(message)
            if answer is not None:
                self._send({"id": message["id"], **answer})
        note(self._journal, tool="server", run="", what="ended")

    def _send(self, message: dict[str, Any]) -> None:
        with self._writing:
            os.write(1, (json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())

    def _answered(self, message: dict[str, Any]) -> dict[str, Any] | None:
        method, number = message.get("method"), message.get("id")
        params: dict[str, Any] = message.get("params") or {}
        if method == "notifications/cancelled":
            note(self._journal, tool="server", run="", what="cancelled")
            if told := self._told.get(params.get("requestId")):
                told.set()
        if number is None or method is None:
            return None
        if method == "tools/call":
            self._told[number] = threading.Event()
            threading.Thread(target=self._call, args=(number, params), daemon=True).start()
            return None
        if method == "tools/list":
            note(self._journal, tool="server", run="", what="listed")
        return _of_the_server(str(method), params)

    def _call(self, id: object, params: dict[str, Any]) -> None:
        name = str(params["name"])
        given: dict[str, Any] = params.get("arguments") or {}
        run, n = str(given.get("run")), int(given.get("n", 0))
        fuse = float(given.get("fuse", 0))
        what = {"tool": name, "run": run, "n": n}
        note(self._journal, **what, what="begun")
        if name == "lw_deaf":
            time.sleep(fuse)
        elif name == "lw_slow" and self._told[id].wait(fuse):
            note(self._journal, **what, what="told")
            return
        note(self._journal, **what, what="effect")
        self._send({"id": id, "result": {"content": [_text(result(name, run, n))]}})


def _of_the_server(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """What it is, and what it has."""
    match method:
        case "initialize":
            version = {"protocolVersion": params.get("protocolVersion", "2025-06-18")}
            server = {"serverInfo": {"name": "witness", "version": "1"}}
            return {"result": {**version, **server, "capabilities": {"tools": {}}}}
        case "tools/list":
            about = {"description": "Part of a check: call it when you are asked to."}
            names = ("lw_fast", "lw_slow", "lw_deaf")
            told = [{"name": name, **about, "inputSchema": _SCHEMA} for name in names]
            return {"result": {"tools": told}}
        case "ping":
            return {"result": {}}
        case _:
            return {"error": {"code": -32601, "message": f"no {method}"}}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def tree(journal: str, run: str) -> None:
    """A family: an ordinary child, one deaf to signals, one in a session of its own, one without a
    parent, and a daemon that is all of it."""
    for part in PARTS:
        if os.fork():
            continue
        if part in ("session", "daemon"):
            os.setsid()
        if part in ("orphan", "daemon") and os.fork():
            os._exit(0)
        if part in ("deaf", "daemon"):
            for one in _NEVER:
                signal.signal(one, signal.SIG_IGN)
        if part == "daemon":
            _without_files()
        beat(journal, run, part)
        os._exit(0)
    time.sleep(LITTER)


def _without_files() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for file in (0, 1, 2):
        os.dup2(null, file)


def beat(journal: str, run: str, part: str = "beat") -> None:
    """Say that one is alive, until the check is over."""
    end = time.monotonic() + LITTER
    while time.monotonic() < end and os.path.exists(journal):  # noqa: PTH110 - without pathlib
        note(journal, tool="tree", run=run, part=part, what="beat")
        time.sleep(BEAT)


def hold(journal: str, run: str) -> None:
    """Leave at once, with a grandchild that holds the output open."""
    if not os.fork():
        os.setsid()
        beat(journal, run, "hold")
        os._exit(0)


def flood(journal: str, run: str) -> None:
    """A megabyte of output a second, each line with the run's own word."""
    end = time.monotonic() + LITTER
    count = 0
    note(journal, tool="flood", run=run, n=0, what="begun")
    while time.monotonic() < end and os.path.exists(journal):  # noqa: PTH110 - without pathlib
        line = f"w{run}n{count:06d} " + "x" * 80 + "\n"
        os.write(1, (line * 600).encode())
        count += 1
        time.sleep(BEAT)


def slow(journal: str, run: str, n: str, fuse: str) -> None:
    """One deed, in a shell."""
    what = {"tool": "shell", "run": run, "n": int(n)}
    note(journal, **what, what="begun")
    time.sleep(float(fuse))
    note(journal, **what, what="effect")
    print(result("shell", run, int(n)))  # noqa: T201 - what the command answers


def mcp(journal: str) -> None:
    """Be an MCP server until the input ends."""
    ToolServer(journal).serve()


if __name__ == "__main__":
    {"mcp": mcp, "tree": tree, "slow": slow, "hold": hold, "flood": flood, "beat": beat}[
        sys.argv[1]
    ](*sys.argv[2:])
