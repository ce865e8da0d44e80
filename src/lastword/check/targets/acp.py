"""An agent that speaks the Agent Client Protocol on its standard input and output.

The answer to a stop is the reply to the prompt. Our tools come in with `session/new`, as an MCP
server, so nothing of the agent is edited. What it asks before a tool is answered with *yes*.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from lastword.check import background
from lastword.check.contract import CannotStart, Dialogue, Premises
from lastword.check.inside import witness
from lastword.check.keeper import MARK
from lastword.check.names import still_going
from lastword.check.programs import Started
from lastword.check.recipes import Recipe, filled
from lastword.check.round import Round
from lastword.check.story import Faculty
from lastword.check.times import Times, now
from lastword.check.wire import WireLog

Line: TypeAlias = dict[str, Any]

_PATIENCE = 60.0  # seconds for what is no stop: some agents take long to start
_NEWEST = 1  # version of the protocol
_CARRY = 24  # letters of what was heard before: a word may come in two pieces
_TEXT, _THOUGHT, _PERSON = "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"


class AcpTarget:
    """A command, started anew whenever it has broken a promise."""

    kind = "acp"
    carriers: Sequence[str] = ("mcp",)
    weak = ""
    brings_tools = True
    one_stream = True
    strangers = False

    def __init__(self, argv: Sequence[str], recipe: Recipe) -> None:
        self.name = argv[0].rpartition("/")[2]
        self.faculties: frozenset[Faculty] = frozenset(
            {"text", "hears on", "tools", "shell", "asks", "one write", "two sessions", "kill"}
        )
        self.wire = WireLog()
        self._argv, self._recipe = argv, recipe
        self._premises: Premises | None = None
        self._program: Started | None = None
        self._reader: asyncio.Task[None] | None = None
        self._keeps = False
        self._number = 0
        self._waits: dict[int, asyncio.Future[Line]] = {}
        self._rounds: dict[int, Round] = {}
        self._dialogues: dict[str, AcpDialogue] = {}

    def times(self, usual: Times) -> Times:
        return usual

    async def open(self, premises: Premises) -> None:
        self._premises = premises
        self._waits, self._rounds, self._dialogues = {}, {}, {}
        self._recipe.write(premises)
        argv = [filled(word, premises) for word in self._argv]
        self._program = await Started.start(argv, premises, self._recipe.settings(premises))
        self._reader = background.begin(self._read(self._program), "check: acp")
        told = await self._call(
            "initialize",
            {
                "protocolVersion": _NEWEST,
                "clientInfo": {"name": "lastword-check", "version": "1"},
                "clientCapabilities": {
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                },
            },
        )
        info = _within(told, "agentInfo") or {"name": self.name}
        self.name = " ".join(str(info[key]) for key in ("name", "version") if info.get(key))
        self._keeps = bool(_within(told, "agentCapabilities").get("loadSession"))

    async def dialogue(self) -> Dialogue:
        made = await self._call("session/new", self._where())
        if not made.get("sessionId"):
            raise CannotStart(f"session/new was answered without a sessionId: {json.dumps(made)}")
        dialogue = AcpDialogue(self, str(made["sessionId"]))
        self._dialogues[dialogue.session] = dialogue
        if self._recipe.mode:
            chosen = {"sessionId": dialogue.session, "modeId": self._recipe.mode}
            await self._call("session/set_mode", chosen)
        return dialogue

    async def again(self, dialogue: Dialogue) -> Dialogue | None:
        if not (self._keeps and isinstance(dialogue, AcpDialogue)):
            return None
        resumed = AcpDialogue(self, dialogue.session)
        self._dialogues[resumed.session] = resumed
        await self._call("session/load", {**self._where(), "sessionId": resumed.session})
        return resumed

    async def kill(self) -> None:
        if self._program:
            await self._program.kill()

    async def close(self) -> None:
        if self._program:
            await self._program.end()
        await background.end(self._reader)
        self._program = self._reader = None

    # what the dialogues need

    def make(self, method: str, params: Mapping[str, Any]) -> tuple[int, Line]:
        self._number += 1
        line = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        return self._number, line

    def expect(self, number: int, of: Round) -> None:
        self._rounds[number] = of

    def send(self, *lines: Line) -> float:
        """In one write; the time of it."""
        at = now()
        text = "".join(json.dumps(line) + "\n" for line in lines)
        self.wire.note("to it", text, at)
        if self._program:
            self._program.write(text.encode())
        return at

    # the connection

    def _where(self) -> dict[str, Any]:
        """Where a session works, and with our tools."""
        here = self._premises
        if here is None:
            return {}
        args = ["-I", "-S", str(Path(witness.__file__)), "mcp", str(here.journal)]
        marked = [{"name": MARK, "value": here.mark}]
        tools = {"name": "witness", "command": sys.executable, "args": args, "env": marked}
        return {"cwd": str(here.work), "mcpServers": [tools]}

    async def _call(self, method: str, params: Mapping[str, Any]) -> Line:
        number, line = self.make(method, params)
        wait = self._waits[number] = asyncio.get_running_loop().create_future()
        self.send(line)
        try:
            answer = await asyncio.wait_for(wait, _PATIENCE)
        except TimeoutError:
            raise CannotStart(f"{method} was not answered in {_PATIENCE:.0f} s") from None
        if "error" in answer:
            raise CannotStart(f"{method} was refused: {json.dumps(answer['error'])[:300]}")
        told: Any = answer.get("result") or {}
        if not isinstance(told, dict):
            raise CannotStart(f"{method} was answered with {json.dumps(told)}")
        return told  # pyright: ignore[reportUnknownVariableType] - JSON

    async def _read(self, program: Started) -> None:
        async for line in program.lines():
            self.wire.note("from it", line.decode(errors="replace"))
            with contextlib.suppress(Exception):  # agents print; that is no promise of theirs
                self._heard(json.loads(line))
        gone = f"the agent's process ended: {program.last_errors()}"
        for wait in self._waits.values():
            if not wait.done():
                wait.set_result({"error": gone})
        for one in self._rounds.values():
            if one.answered_at is None:
                one.answer(gone, refused=True, gone=True)

    def _heard(self, message: Line) -> None:
        method, number = message.get("method"), message.get("id")
        params: dict[str, Any] = message.get("params") or {}
        dialogue = self._dialogues.get(str(params.get("sessionId")))
        if method == "session/update" and dialogue:
            dialogue.told(params.get("update") or {})
        elif method == "session/request_permission" and dialogue:
            dialogue.question(message)
        elif method and number is not None:
            wrong = {"code": -32601, "message": "not offered"}
            self.send({"jsonrpc": "2.0", "id": number, "error": wrong})
        elif number in self._rounds:
            self._ended(self._rounds[number], message)
        elif number in self._waits and not self._waits[number].done():
            self._waits[number].set_result(message)

    def _ended(self, one: Round, message: Line) -> None:
        if "error" in message:
            one.answer("error: " + json.dumps(message["error"])[:200], refused=True)
            return
        result: dict[str, Any] = message.get("result") or {}
        one.named += still_going(result.get("_meta") or {})
        one.answer(str(result.get("stopReason")))


class AcpDialogue:
    """One session of the agent's."""

    def __init__(self, target: AcpTarget, session: str) -> None:
        self.session = session
        self.asked = 0
        self.hold = False
        self._target = target
        self._open: list[Line] = []  # questions that wait
        self._mine: list[Round] = []
        self._carry = {_TEXT: "", _THOUGHT: ""}

    def say(self, run: str) -> Round:
        one, line = self._prompt(run)
        one.sent_at = self._target.send(line)
        return one

    def stop(self, of: Round | None, times: int = 1) -> float:
        at = self._target.send(*[self._cancel()] * times)
        if of:
            of.stop_at = at
        return at

    def stop_and_say(self, of: Round | None, run: str) -> Round:
        one, line = self._prompt(run)
        one.sent_at = self._target.send(self._cancel(), line)
        if of:
            of.stop_at = one.sent_at
        return one

    def say_and_stop(self, run: str) -> Round:
        one, line = self._prompt(run)
        one.sent_at = one.stop_at = self._target.send(line, self._cancel())
        return one

    def stop_and_allow(self, of: Round) -> float:
        answers = [_yes(question) for question in self._open]
        self._open = []
        of.stop_at = self._target.send(self._cancel(), *answers)
        return of.stop_at

    def question(self, message: Line) -> None:
        self.asked += 1
        if self.hold:
            self._open.append(message)
        else:
            self._target.send(_yes(message))

    def told(self, update: Mapping[str, Any]) -> None:
        """By content: each word of the model names its run, wherever it turns up."""
        kind = str(update.get("sessionUpdate"))
        if kind == _PERSON:
            return
        text, thinks = json.dumps(update, ensure_ascii=False), kind == _THOUGHT
        if kind in self._carry:
            text = str(_within(update, "content").get("text", ""))
        before = self._carry.get(kind, "")
        named = [
            one for one in self._mine if (before + text).count(one.mark) > before.count(one.mark)
        ]
        if (
            not named and kind in self._carry
        ):  # a piece of a word: of the newest answer, while it lasts
            named = [one for one in self._mine[-1:] if not one.answers]
        for one in named:
            one.think(text) if thinks else one.hear(text)
        if kind in self._carry:
            self._carry[kind] = (before + text)[-_CARRY:]

    def _prompt(self, run: str) -> tuple[Round, Line]:
        text = {"type": "text", "text": f"[[run:{run}]] Please go on with this."}
        number, line = self._target.make(
            "session/prompt", {"sessionId": self.session, "prompt": [text]}
        )
        one = Round(run)
        self._mine.append(one)
        self._target.expect(number, one)
        return one, line

    def _cancel(self) -> Line:
        params = {"sessionId": self.session}
        return {"jsonrpc": "2.0", "method": "session/cancel", "params": params}


def _within(told: Mapping[str, Any], name: str) -> Line:
    found: Any = told.get(name)
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType] - JSON


def _yes(question: Line) -> Line:
    options = question["params"]["options"]
    by_kind = {option.get("kind"): option["optionId"] for option in reversed(options)}
    chosen = by_kind.get("allow_once") or by_kind.get("allow_always") or options[0]["optionId"]
    outcome = {"outcome": {"outcome": "selected", "optionId": chosen}}
    return {"jsonrpc": "2.0", "id": question["id"], "result": outcome}
