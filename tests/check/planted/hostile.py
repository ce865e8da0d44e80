"""An agent that is hostile to whoever judges it: it says what nobody can read, and gets away.

python hostile.py HOW
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

GARBAGE = (
    b"[]",
    b'"x"',
    b"null",
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"id":[1],"result":[]}',
    b'{"id":1,"method":7}',
    b'{"method":"session/update","params":[1]}',
    b'{"method":"session/update","params":{"sessionId":"s","update":[7]}}',
    b'{"method":"session/request_permission","id":9,"params":{"sessionId":"s","options":[]}}',
)
NAMES = {"steers": "\x1b[31mred\x1b]0;mine\x07 \u202e\ud800 <b>|\n# head", "long": "N" * 300_000}


def say(**message: Any) -> None:
    os.write(1, (json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())


def get_away(where: str) -> None:
    """A daemon that nothing of this is written on: not in its environment, nor anywhere else."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for file in (0, 1, 2):
        os.dup2(null, file)
    os.chdir("/")
    with open(where, "w", encoding="utf-8") as file:  # noqa: PTH123 - as short as it gets
        file.write(str(os.getpid()))
    os.execve("/bin/sleep", ["sleep", "600"], {})  # noqa: S606 - on purpose


def kill_the_keeper() -> None:
    """Who sees everything off when the check is over: this one's, and nobody else's."""
    own = str(Path(os.environ["HOME"]).parents[1]).encode()
    for one in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (one / "cmdline").read_bytes().split(b"\0")
            if own in words and any(word.endswith(b"keeper.py") for word in words):
                os.kill(int(one.name), signal.SIGKILL)


def asked(text: str) -> str:
    """What the model says."""
    told = {"model": "m", "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(  # noqa: S310 - on loopback
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(told).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - on loopback
        return json.loads(answer.read())["choices"][0]["message"]["content"]


def answer(how: str, message: Mapping[str, Any]) -> None:
    number, params = message.get("id"), message.get("params", {})
    match message.get("method"):
        case "initialize" if how == "no-object":
            say(id=number, result="yes")
        case "initialize":
            say(id=number, result={"agentInfo": {"name": NAMES.get(how, how), "version": "1"}})
        case "session/new":
            say(id=number, result={} if how == "no-session" else {"sessionId": "s"})
        case "session/prompt":
            text = {"type": "text", "text": asked(params["prompt"][0]["text"])}
            update = {"sessionUpdate": "agent_message_chunk", "content": text}
            say(method="session/update", params={"sessionId": "s", "update": update})
            end = NAMES["steers"] if how == "steers" else "end_turn"
            say(id=number, result={"stopReason": end})
        case _:
            pass


def main(how: str, where: str = "") -> None:
    if how == "gets-away":
        get_away(where)
    if how == "kills-the-keeper":
        kill_the_keeper()
    for line in sys.stdin:
        if how == "garbage":
            os.write(1, b"\n".join(GARBAGE) + b"\n")
        answer(how, json.loads(line))


if __name__ == "__main__":
    main(*sys.argv[1:])
