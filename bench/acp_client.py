"""A client of bytes: it writes lines to an agent's input, and notes when each line of output came.

Nothing of it waits for anything but the pipe, so what it measures is the agent's.
"""

from __future__ import annotations

import array
import fcntl
import json
import os
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

Message: TypeAlias = dict[str, Any]
LONGEST = 60.0  # seconds that anything may take before it is given up
CONTENT = {"agent_message_chunk", "agent_thought_chunk"}


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of the agent's."""

    at: float  # when its last byte was read
    ends: int  # bytes of output up to its end
    said: Message

    @property
    def update(self) -> Message:
        return self.said.get("params", {}).get("update", {})

    @property
    def content(self) -> bool:
        """Whether it is something that the model said."""
        return self.update.get("sessionUpdate") in CONTENT

    @property
    def text(self) -> str:
        return self.update["content"]["text"] if self.content else ""


class Client:
    """One agent, spoken to through its pipes."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        if not (process.stdin and process.stdout):
            raise AssertionError
        self.process = process
        self.folder = folder
        self.heard: list[Heard] = []
        self.session = ""
        self._in, self._out = process.stdin.fileno(), process.stdout.fileno()
        self._rest = b""
        self._read = 0  # bytes, in all
        self._number = 0

    # what is said

    def write(self, message: Message) -> float:
        """The moment right before it was written."""
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        at = time.perf_counter()
        os.write(self._in, line)
        return at

    def request(self, method: str, **params: object) -> int:
        self._number += 1
        self.write({"id": self._number, "method": method, "params": params})
        return self._number

    def ask(self, method: str, **params: object) -> Message:
        return self.answer(self.request(method, **params)).said["result"]

    def open(self) -> None:
        """Introduce itself, and have a session."""
        self.ask("initialize", protocolVersion=1)
        self.begin()

    def begin(self) -> None:
        """Have a new session from here on."""
        self.session = self.ask("session/new", cwd=str(self.folder), mcpServers=[])["sessionId"]

    def prompt(self, text: str) -> int:
        block = {"type": "text", "text": text}
        return self.request("session/prompt", sessionId=self.session, prompt=[block])

    def cancel(self) -> float:
        """When it was written."""
        return self.write({"method": "session/cancel", "params": {"sessionId": self.session}})

    def cancel_read(self) -> int:
        """Cancel, and watch the pipe: bytes of output that had been written when it was read."""
        self.cancel()
        while waiting(self._in):
            pass
        return self._read + waiting(self._out)

    # what is heard

    def answer(self, request: int) -> Heard:
        def found(one: Heard) -> bool:
            return one.said.get("id") == request and "method" not in one.said

        return self.first(found)

    def first(self, wanted: Callable[[Heard], bool], after: int = 0) -> Heard:
        """The first such message, counted from one of them."""
        until, seen = time.perf_counter() + LONGEST, after
        while True:
            for one in self.heard[seen:]:
                if wanted(one):
                    return one
            seen = len(self.heard)
            if not self.listen(until - time.perf_counter()):
                raise TimeoutError([one.said for one in self.heard[-5:]])

    def listen(self, seconds: float) -> bool:
        """Wait for something to be said, so long."""
        if not select.select([self._out], [], [], max(seconds, 0))[0]:
            return False
        data = os.read(self._out, 1 << 16)
        at = time.perf_counter()
        if not data:
            raise EOFError(self.process.wait())
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._read += len(data)
        ends = self._read - len(self._rest) - sum(len(line) + 1 for line in lines)
        for line in lines:
            ends += len(line) + 1
            self.heard.append(Heard(at, ends, json.loads(line)))
        return True

    def listen_for(self, seconds: float) -> None:
        """Take all that is said in so many seconds."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self.listen(left)

    def memory(self) -> float:
        """What is resident, in KiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return float(status.partition("VmRSS:")[2].split()[0])


def waiting(pipe: int) -> int:
    """Bytes that were written to a pipe and not read yet; of either end of it."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


OURS, BARE = "lastword acp", "a bare loop"


@contextmanager
def agent(
    name: str, folder: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> Generator[Client]:
    """An agent, and its client; in the end the client leaves, and the agent is gone."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    command = ["-m", "lastword", "acp", *arguments] if name == OURS else ["-m", "bench.acp_bare"]
    own = {key: text for key, text in os.environ.items() if not key.endswith("_API_KEY")}
    own |= {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), **(env or {})}
    errors: IO[bytes]
    with (folder / "errors").open("ab") as errors:
        process = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=own,
        )
    with process:
        try:
            yield Client(process, folder)
        except BaseException:
            process.kill()
            raise
