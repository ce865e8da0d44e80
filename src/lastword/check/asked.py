"""What is to be judged, as it was said: on a line, or in a file with several."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lastword.check.contract import Target
from lastword.check.recipes import Recipe, recipe
from lastword.check.story import KINDS
from lastword.check.targets.acp import AcpTarget
from lastword.check.targets.agui import agui
from lastword.check.targets.hosted import HostedTarget
from lastword.check.targets.responses import responses
from lastword.check.targets.v1 import v1


@dataclass(frozen=True, slots=True)
class Subject:
    """One target, before it is started."""

    kind: str
    where: str = ""  # a URL, or module:factory
    command: Sequence[str] = ()
    recipe: str = ""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    stop: str = ""  # where an AG-UI server is told to stop

    def maker(self) -> Callable[[], Target]:
        """Makes it, as often as it has to be started. Raises ValueError if something is missing."""
        if self.kind not in KINDS.values():
            raise ValueError(f"{self.kind!r} is none of: {', '.join(KINDS.values())}, all")
        if self.kind == "acp":
            known = self.prepared
            command = list(self.command or known.command)
            if not command:
                raise ValueError("say which command: lastword check acp -- COMMAND …")
            return lambda: AcpTarget(command, known)
        if not self.where:
            what = "module:factory" if self.kind == "python" else "URL"
            raise ValueError(f"say what is to be judged: lastword check {self.kind} {what}")
        if self.kind == "python":
            return lambda: HostedTarget(self.where)
        return self._served()

    def _served(self) -> Callable[[], Target]:
        known = self.prepared
        command = self.command or (known.command if "{port}" in self.where else ())
        if command and "{port}" not in self.where:
            raise ValueError("a server that is started here has a port of its own: say {port}")
        if self.kind == "agui":
            return agui(self.where, command, known, self.headers, self.stop)
        make = responses if self.kind == "responses" else v1
        return make(self.where, command, known, self.headers)

    @property
    def prepared(self) -> Recipe:
        known = recipe(self.recipe) if self.recipe else Recipe()
        return replace(known, env={**known.env, **self.env})


def subjects(file: Path) -> list[Subject]:
    """Those of a file: a table `[[target]]` for each."""
    told: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    try:
        return [Subject(**one) for one in told.get("target", [])]
    except TypeError as error:
        raise ValueError(f"{file}: {error}") from None
