"""The model that the target is given: it answers by run, and knows who asked for what.

Every message names a run, `[[run:qx]]`, and the last one in a request picks the answer. Every word
of the answer names the run too, so stale text is recognised wherever it turns up. A request that
names none, or that offers no tools though the target has some, is an errand (a title, a summary):
it is answered with two words and counted, and not judged.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from lastword.testing.provider import Answer, Call, Failure, Provider, Request, Say, Silence, Think

Reply: TypeAlias = Answer | Failure | Silence
Step: TypeAlias = Callable[[Request], Reply]

MARK = re.compile(r"\[\[run:([a-z]+)\]\]")
_SHELLS = re.compile(r"shell|bash|exec|terminal|command", re.IGNORECASE)
_LINES = ("command", "cmd", "script")
_EVERY = 0.02  # seconds between two words


class ScriptedModel:
    """Answers by run, through the provider."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.asked: dict[str, list[Request]] = {}
        self.errands: list[Request] = []
        self.missing: set[str] = set()  # what was to be called, and was not offered
        self.toolless = True  # until a request of the target's offers tools
        self._scripts: dict[str, deque[Step]] = {}
        provider.always(self._answer)

    def script(self, run: str, *steps: Step) -> None:
        """What the requests of a run are answered, one after another; then with one word."""
        self._scripts[run] = deque(steps)

    def requests(self, run: str) -> list[Request]:
        return self.asked.get(run, [])

    def sent(self, run: str) -> int:
        """How many pieces of its answers went out to somebody who was there."""
        return sum(request.sent for request in self.requests(run))

    def _answer(self, request: Request) -> Reply:
        found = MARK.findall(json.dumps(request.body, default=str))
        run = found[-1] if found else ""
        offers = bool(offered(request))
        if run not in self._scripts or not (offers or self.toolless):
            self.errands.append(request)
            return Answer(Say("An errand."))
        self.toolless = self.toolless and not offers
        self.asked.setdefault(run, []).append(request)
        script = self._scripts[run]
        return script.popleft()(request) if script else Answer(Say(f"w{run}nend "))

    # what can be answered

    def text(self, run: str, n: int = 1500) -> Step:
        """Words, one every twentieth of a second."""
        return lambda _: Answer(Say(*_words(run, n)), every=_EVERY)

    def thoughts(self, run: str, n: int = 1500) -> Step:
        return lambda _: Answer(Think(*_words(run, n)), Say("done"), every=_EVERY)

    def silence(self) -> Step:
        return lambda _: Silence()

    def stalled(self, run: str, n: int = 5) -> Step:
        """So many words, and then nothing, with the connection held open."""

        def step(_: Request) -> Reply:
            answer = Answer(Say(*_words(run, n + 1)), paced=True, every=_EVERY)
            answer.step(n)
            return answer

        return step

    def failing(self, status: int, retry_after: float) -> Step:
        return lambda _: Failure(status, "overloaded, by the script", retry_after)

    def held(self, answer: Answer) -> Step:
        return lambda _: answer

    def calls(self, *calls: Mapping[str, Any]) -> Step:
        """These calls in one answer; each says its tool and what it is called with."""

        def step(request: Request) -> Reply:
            made: list[Call] = []
            for call in calls:
                name, arguments = self._named(request, call)
                if not name:
                    return Answer(Say("no such tool"))
                made.append(Call(name, arguments))
            return Answer(*made)

        return step

    def _named(self, request: Request, wanted: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """What the target calls the tool, and what it wants to be told."""
        tools = offered(request)
        if "line" in wanted:
            shell = next((s for s in map(_as_shell, tools) if s), None)
            if shell is None:
                self.missing.add("a shell")
                return "", {}
            name, key, rest = shell
            return name, {key: wanted["line"], **rest}
        own = next((one["name"] for one in tools if wanted["tool"] in one["name"]), "")
        if not own:
            self.missing.add(wanted["tool"])
        return own, {key: value for key, value in wanted.items() if key != "tool"}


def _words(run: str, n: int) -> list[str]:
    return [f"w{run}n{k:04d} " for k in range(n)]


def offered(request: Request) -> list[dict[str, Any]]:
    """The tools of a request, whatever its format calls them: name and schema."""
    given = cast("list[dict[str, Any]]", request.body.get("tools") or [])
    flat: list[dict[str, Any]] = []
    for tool in given:
        flat += tool.get("functionDeclarations") or [tool.get("function") or tool]
    keys = ("parameters", "input_schema", "parametersJsonSchema")
    empty: dict[str, Any] = {}
    return [
        {"name": str(one["name"]), "schema": next((one[k] for k in keys if one.get(k)), empty)}
        for one in flat
        if one.get("name")
    ]


def _as_shell(tool: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]] | None:
    """The name, the key of the line and the other things that must be said; None if it is none."""
    properties = cast("dict[str, dict[str, Any]]", tool["schema"].get("properties") or {})
    key = next((one for one in _LINES if one in properties), None)
    if key is None or not _SHELLS.search(tool["name"]):
        return None
    required = cast("list[str]", tool["schema"].get("required") or [])
    rest = {one: _filler(properties.get(one, {})) for one in required if one != key}
    return tool["name"], key, rest


def _filler(schema: Mapping[str, Any]) -> object:
    kind = str(schema.get("type", "string")).lower()
    if schema.get("enum"):
        return schema["enum"][0]
    return {"boolean": False, "integer": 60000, "number": 60000}.get(kind, "a check")
