"""What the graph of one run shares with the places where it is held: its talk with the model.

What a model asks for in one answer is written down at once, and a tool that is called for it is
found again by the call's id, or by its name and arguments where a node says no more. Inside of a
tool there is no talk: what is asked and called there the session's own model knows nothing of.
"""

# ruff: noqa: ANN401 - what the framework's methods take and give is anything

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import ensure_config
from langgraph.errors import GraphInterrupt

from lastword.core.entries import Native, Nature
from lastword.core.model import Status
from lastword.engines.kit import Calls, Compaction, explain
from lastword.engines.kit.wire import native, wire_id
from lastword.engines.langgraph.heard import WantedTool
from lastword.engines.langgraph.prepared import PreparedRequests
from lastword.engines.langgraph.rendering import rendered
from lastword.engines.langgraph.threads import Body
from lastword.runtime.call import Call
from lastword.runtime.framework import ForFrameworks
from lastword.runtime.run import Run

_CHANGED = "it was made with other arguments than these, in the next call"
_NS, _TASK = "|", ":"  # of a graph's namespace: the nodes that one is in, each with its task

_talk: ContextVar[GraphTalk | None] = ContextVar("lastword_talk", default=None)


def talk_here(run: ForFrameworks) -> GraphTalk | None:
    """The talk of that run, if this is a part of it: not inside of a tool, nor in another run."""
    talk = _talk.get()
    return talk if talk is not None and talk.run is run else None


class GraphTalk:
    """For the run's event loop, but for what is said otherwise."""

    def __init__(
        self,
        run: Run,
        compaction: Compaction | None,
        speak: frozenset[str],
        natures: Mapping[str, Nature],
    ) -> None:
        self.run = run
        self.calls = Calls(run)
        self.prepared = PreparedRequests(run, compaction)
        self.within: set[str] = set()  # namespaces in which tools run
        self.failures: list[tuple[BaseException, Exception]] = []  # of providers, and in words
        self.answers = 0  # that come in now
        self._speak = speak
        self._natures = natures
        self._twins: dict[str, list[str]] = {}
        self._silent: set[str] = set()  # calls that were asked for and are not of the talk
        self._told: set[str] = set()  # ids, and texts, of what was said

    @contextmanager
    def entered(self) -> Generator[None]:
        """What is inside is part of it."""
        token = _talk.set(self)
        try:
            yield
        finally:
            _talk.reset(token)

    @contextmanager
    def left(self) -> Generator[None]:
        """What is inside is not."""
        self.within.add(_namespace())
        token = _talk.set(None)
        try:
            yield
        finally:
            _talk.reset(token)

    # what the model says

    def speaks(self) -> bool:
        """Whether what a model says here is for the person. Any thread may ask."""
        names = {one.partition(_TASK)[0] for one in _namespace().split(_NS)}
        return not self._speak or bool(names & self._speak)

    def told(self, message: BaseMessage, text: str) -> None:
        """The person was told this."""
        self._told |= {one for one in (message.id, text.strip()) if one}

    def heard_of(self, message: AIMessage) -> bool:
        """Whether the person was told it."""
        return message.id in self._told or message.text.strip() in self._told

    # what it asks for

    def ask(self, wanted: Iterable[WantedTool]) -> None:
        """Write down what it asked for in one answer."""
        for number, one in enumerate(wanted):
            before = self.calls.get(one.id)
            key = one.id
            if not one.id or (before and _is_open(before)):  # which a provider gave twice
                key = wire_id(f"{one.id} {self.run.id} {number} {len(self.calls)}")
                self._twins.setdefault(one.id, []).append(key)
            elif before:
                self.calls.forget(one.id)
            self._intend(key, one.name, one.arguments, one.native)
            if one.wrong:
                self.calls.skip(key, one.wrong)

    def pass_over(self, calls: Iterable[str | None]) -> None:
        """It asked for these outside of the talk. Any thread may say so."""
        self._silent |= {id_ for id_ in calls if id_}

    def claim(self, name: str, arguments: Mapping[str, Any], id: str | None) -> str | None:
        """By what a call is known that a tool is now called for; None: the model did not ask."""
        if id is None:
            return self._like(name, arguments)
        if id in self._silent:
            return None
        call = self.calls.get(id)
        if call is not None and _is_open(call):
            if not _changed(call, name, arguments):
                return id
            self.calls.skip(id, _CHANGED)
        elif self._twins.get(id):
            return self._twins[id].pop(0)
        self.calls.forget(id)  # it was made, and is made once more
        said = json.dumps(dict(arguments), ensure_ascii=False, default=str)
        self._intend(id, name, said, native("", call_id=id))
        return id

    async def make(self, key: str, body: Body) -> Any:
        """Make one that was asked for."""
        call = self.calls.get(key)

        async def inside() -> Any:
            with self.left():
                try:
                    return await body()
                except GraphInterrupt:
                    if call:  # what is before the question was done, and will be done again
                        call.executed = call.effect.begun
                    raise

        return await self.calls.make(key, inside)

    async def settle(self, message: ToolMessage) -> None:
        """A node answers a call for which no tool was called."""
        call = self.calls.get(message.tool_call_id)
        if call is None or not _is_open(call):
            return
        if message.status == "error":
            self.calls.skip(message.tool_call_id, rendered(message))
            return
        call.allowed = True  # nobody can be asked any more: the node has done it
        await call.begin()
        call.end(message)
        self.calls.forget(message.tool_call_id)

    def _intend(self, key: str, name: str, said: str, own: Native) -> None:
        nature = self._natures.get(name, "")
        call = self.calls.ask(key, name, said, nature=nature, native=own, late=True)
        call.render, call.explain = rendered, explain
        call.puts_off = (GraphInterrupt,)

    def _like(self, name: str, arguments: Mapping[str, Any]) -> str | None:
        """One of that name that was not made; best, with these arguments."""
        named = [(key, c) for key, c in self.calls.open if c.name == name and _is_open(c)]
        same = [key for key, call in named if not _changed(call, name, arguments)]
        return next(iter([*same, *(key for key, _ in named)]), None)


def _is_open(call: Call[Any]) -> bool:
    return call.status is Status.INTENDED and not call.made


def _changed(call: Call[Any], name: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a tool is called with something else than the model asked for."""
    try:
        asked: Any = json.loads(call.arguments)
    except ValueError:
        return True
    if not isinstance(asked, dict) or call.name != name:
        return True
    given = {key: _plain(value) for key, value in arguments.items()}
    return any(given.get(key) != value for key, value in cast("dict[str, Any]", asked).items())


def _plain(value: object) -> Any:
    return json.loads(json.dumps(value, ensure_ascii=False, default=str))


def _namespace() -> str:
    return str((ensure_config().get("configurable") or {}).get("checkpoint_ns", ""))
