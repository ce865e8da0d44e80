"""An agent in Python, of any framework, in a process of its own.

The answer to a stop is the end of what `start` returned, and of `cancel()` if that can be awaited.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from lastword.check import background
from lastword.check.contract import CannotStart, Dialogue, Premises
from lastword.check.dummies import ASK_US
from lastword.check.programs import Started
from lastword.check.round import Round
from lastword.check.story import Faculty
from lastword.check.targets.served import NoOneWrite
from lastword.check.times import Times, now
from lastword.check.wire import WireLog

_PATIENCE = 60.0


class Speaker(Protocol):
    """One conversation with an agent of yours: what a factory has to give back.

    `factory(url, tools)` is called for each conversation, with where the model is (an OpenAI
    client's base URL is `url + "/v1"`) and with the tools to offer, as functions.
    """

    async def start(self, text: str, hear: Callable[[str], None]) -> object:
        """Answer a message, from its first word to its last; call `hear` with each piece."""
        ...

    def cancel(self) -> object:
        """Stop what goes on, if anything does. May be awaited; what it gives back, if that is a
        list, names what still goes on."""
        ...


class HostedTarget:
    """A factory, in a process that is started anew whenever it has broken a promise."""

    kind = "python"
    carriers: Sequence[str] = ("python",)
    weak = ""
    brings_tools = False
    one_stream = False
    strangers = False
    faculties: frozenset[Faculty] = frozenset({"text", "hears on", "tools", "two sessions", "kill"})

    def __init__(self, factory: str, python: str = "") -> None:
        self.name = factory
        self.wire = WireLog()
        self._factory, self._python = factory, python or sys.executable
        self._program: Started | None = None
        self._reader: asyncio.Task[None] | None = None
        self._opening: dict[str, asyncio.Future[str]] = {}
        self._rounds: dict[str, Round] = {}
        self._count = 0

    def times(self, usual: Times) -> Times:
        return usual

    async def open(self, premises: Premises) -> None:
        argv = [self._python, "-m", "lastword.check.inside.host", self._factory]
        argv += [premises.url, str(premises.journal), os.pathsep.join([str(Path.cwd()), *sys.path])]
        settings = {name: text.replace("{url}", premises.url) for name, text in ASK_US.items()}
        self._opening, self._rounds = {"": asyncio.get_running_loop().create_future()}, {}
        self._program = await Started.start(argv, premises, settings)
        self._reader = background.begin(self._read(self._program), "check: python")
        if wrong := await _in_time(self._opening[""], "its process"):
            raise CannotStart(wrong)

    async def dialogue(self) -> Dialogue:
        self._count += 1
        name = f"d{self._count}"
        opened = self._opening[name] = asyncio.get_running_loop().create_future()
        self.send({"do": "open", "id": name})
        if wrong := await _in_time(opened, self._factory):
            raise CannotStart(f"{self._factory}: {wrong}")
        return HostedDialogue(self, name)

    async def again(self, dialogue: Dialogue) -> Dialogue | None:
        del dialogue
        return None

    async def kill(self) -> None:
        if self._program:
            await self._program.kill()

    async def close(self) -> None:
        if self._program:
            await self._program.end()
        await background.end(self._reader)
        self._program = self._reader = None

    def send(self, order: Mapping[str, Any]) -> float:
        at = now()
        line = json.dumps(order) + "\n"
        self.wire.note("to it", line, at)
        if self._program:
            self._program.write(line.encode())
        return at

    def expect(self, name: str, one: Round) -> None:
        self._rounds[name] = one

    async def _read(self, program: Started) -> None:
        async for line in program.lines():
            self.wire.note("from it", line.decode(errors="replace"))
            with contextlib.suppress(Exception):  # what makes no sense says nothing
                self._told(json.loads(line))
        gone = f"its process ended: {program.last_errors()}"
        for opened in self._opening.values():
            if not opened.done():
                opened.set_result(gone)
        for one in self._rounds.values():
            if one.answered_at is None:
                one.answer(gone, refused=True, gone=True)

    def _told(self, told: Mapping[str, Any]) -> None:
        if "ready" in told:
            self._opening[""].set_result("")
        elif "opened" in told:
            self._opening[told["opened"]].set_result(told.get("error", ""))
        elif "heard" in told:
            self._rounds[told["heard"]].hear(told["text"])
        elif "ended" in told:
            one, how = self._rounds[told["ended"]], str(told["how"])
            named: list[str] = told.get("named") or []
            one.named += named
            one.answer(how, refused=how.startswith("error"))


async def _in_time(opened: asyncio.Future[str], what: str) -> str:
    try:
        return await asyncio.wait_for(opened, _PATIENCE)
    except TimeoutError:
        raise CannotStart(f"{what} was not ready within {_PATIENCE:.0f} s") from None


class HostedDialogue(NoOneWrite):
    """One conversation."""

    def __init__(self, target: HostedTarget, name: str) -> None:
        self._target, self._name = target, name

    def say(self, run: str) -> Round:
        one = Round(run, key=f"{self._name} {run}")
        self._target.expect(one.key, one)
        text = f"[[run:{run}]] Please go on with this."
        order = {"do": "start", "id": self._name, "round": one.key, "text": text}
        one.sent_at = self._target.send(order)
        return one

    def stop(self, of: Round | None, times: int = 1) -> float:
        order = {"do": "cancel", "id": self._name, "times": times}
        at = self._target.send({**order, "round": of.key} if of else order)
        if of:
            of.stop_at = at
        return at
