"""A client of bytes: it writes lines to a real `lastword acp`, and keeps all that comes back."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from tests.promise.workshop import until

Message: TypeAlias = dict[str, Any]


class Client:
    """One agent process, spoken to line by line."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self.process = process
        self.folder = folder
        self.heard: list[Message] = []  # in order
        self.noise: list[bytes] = []  # what was no message
        self.allow: str | None = None  # what is chosen when permission is asked for
        self._number = 0

    async def listen(self) -> None:
        assert self.process.stdout
        while line := await self.process.stdout.readline():
            try:
                message = json.loads(line)
            except ValueError:
                self.noise.append(line)
                continue
            self.heard.append(message)
            if message.get("method") == "session/request_permission" and self.allow:
                self.answer(message, self.allow)

    # what is said

    def write(self, *messages: Message | bytes) -> None:
        """In one write."""
        assert self.process.stdin
        lines = [m if isinstance(m, bytes) else json.dumps(m).encode() + b"\n" for m in messages]
        self.process.stdin.write(b"".join(lines))

    def request(self, method: str, **params: Any) -> Message:
        self._number += 1
        return {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}

    def prompt(self, session: str, text: str) -> Message:
        block = {"type": "text", "text": text}
        return self.request("session/prompt", sessionId=session, prompt=[block])

    def cancel(self, session: str) -> Message:
        return {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}

    def answer(self, asked: Message, option: str) -> None:
        outcome = {"outcome": "selected", "optionId": option}
        self.write({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": outcome}})

    async def ask(self, method: str, **params: Any) -> Message:
        """The whole answer."""
        request = self.request(method, **params)
        self.write(request)
        return await self.answered(request)

    async def new(self, **params: Any) -> str:
        """A session in the client's folder."""
        given: Message = {"cwd": str(self.folder), "mcpServers": [], **params}
        return (await self.ask("session/new", **given))["result"]["sessionId"]

    async def load(self, session: str) -> Message:
        """Have a session told again."""
        given: Message = {"cwd": str(self.folder), "mcpServers": []}
        return await self.ask("session/load", sessionId=session, **given)

    async def say(self, session: str, text: str) -> Message:
        """Send a prompt, and wait for its answer."""
        request = self.prompt(session, text)
        self.write(request)
        return await self.answered(request)

    # what is heard

    async def answered(self, request: Message) -> Message:
        def found() -> list[Message]:
            return [m for m in self.heard if m.get("id") == request["id"] and "method" not in m]

        await until(found)
        [answer] = found()
        return answer

    def has_answer(self, id: object) -> bool:
        return any(m.get("id") == id and "method" not in m for m in self.heard)

    def updates(self, kind: str = "", since: int = 0) -> list[Message]:
        told = [m["params"]["update"] for m in self.heard[since:] if m.get("method") == UPDATE]
        return [update for update in told if kind in ("", update["sessionUpdate"])]

    def text(self, since: int = 0) -> str:
        chunks = self.updates("agent_message_chunk", since)
        return "".join(chunk["content"]["text"] for chunk in chunks)

    def asked(self) -> list[Message]:
        return [m for m in self.heard if m.get("method") == "session/request_permission"]

    def place(self, found: Callable[[Message], object]) -> int:
        """Where, in all that was heard, the first such message stands."""
        return next(n for n, message in enumerate(self.heard) if found(message))


UPDATE = "session/update"


def environment(folder: Path) -> dict[str, str]:
    """Of an agent at home in this folder, with nobody's keys."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    clean = {key: text for key, text in os.environ.items() if not key.endswith("_API_KEY")}
    return {**clean, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}


@asynccontextmanager
async def editor(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> AsyncGenerator[Client]:
    """An agent, and its client; in the end the client leaves and the agent is gone."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lastword", "acp", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**environment(folder), **(env or {})},
        cwd=folder,
        limit=1 << 26,
    )
    client = Client(process, folder)
    listening = asyncio.create_task(client.listen())
    try:
        yield client
        if process.stdin:
            process.stdin.close()
        await process.wait()
        await listening
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        listening.cancel()
    assert not client.noise
