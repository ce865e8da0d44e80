"""Recipes: how an agent is pointed at our model without editing it.

Each is a file beside this one, with the version and the date that it was last tried with. What an
agent needs beyond the usual variables is in it: files of its home, a mode, its own names.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

from lastword.check.contract import Premises
from lastword.check.dummies import ASK_US
from lastword.check.inside import witness

_FRESH = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a target is started with, beside its command."""

    name: str = ""
    mode: str = ""  # of an ACP session, in which it asks nothing
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, str] = field(default_factory=dict[str, str])  # below its home
    command: tuple[str, ...] = ()  # the usual one
    package: str = ""  # npm:NAME or pypi:NAME
    version: str = ""  # that it was last tried with
    date: str = ""
    notes: str = ""

    def old(self, today: str) -> str:
        """That it was tried so long ago that its agent may be another by now; nothing if not."""
        oldest = (datetime.fromisoformat(today) - _FRESH).date().isoformat()
        if not self.date or self.date >= oldest:
            return ""
        tried = f"the recipe was last tried on {self.date}, with {self.version or 'some version'}"
        return f"{tried}: more than {_FRESH.days} days ago"

    def settings(self, premises: Premises) -> dict[str, str]:
        """Its environment, filled in."""
        both = {**ASK_US, **self.env}
        return {key: filled(value, premises) for key, value in both.items()}

    def write(self, premises: Premises) -> None:
        """Its files, filled in."""
        for path, text in self.files.items():
            file = premises.home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            file.write_text(filled(text, premises), encoding="utf-8")


def filled(text: str, premises: Premises) -> str:
    """With what a recipe may name: our model, its home, our tools."""
    names = {
        "url": premises.url,
        "home": str(premises.home),
        "python": sys.executable,
        "witness": str(Path(witness.__file__)),
        "journal": str(premises.journal),
    }
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def known() -> list[str]:
    """The names of those that come with the kit."""
    folder = resources.files("lastword.check") / "recipes"
    names = [file.name for file in folder.iterdir()]
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def recipe(named: str) -> Recipe:
    """One of those that come with the kit, or a file of one's own."""
    if named in known():
        text = (resources.files("lastword.check") / "recipes" / f"{named}.toml").read_text("utf-8")
    elif named.endswith(".toml") and Path(named).is_file():
        text = Path(named).read_text(encoding="utf-8")
    else:
        raise ValueError(f"there is no recipe {named!r}; there are: {', '.join(known())}")
    told: dict[str, Any] = tomllib.loads(text)
    told["command"] = tuple(told.get("command", ()))
    try:
        return Recipe(**told)
    except TypeError as error:
        raise ValueError(f"recipe {named!r} has a key that is not known: {error}") from None
