"""`--engine MODULE:FUNCTION`: a team's own engine in place of lastword's own agent."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lastword.cells import engine as with_cells
from lastword.cli import settings
from lastword.core.model import DEFAULTS

if TYPE_CHECKING:
    from lastword.core.model import Policy
    from lastword.runtime.run import Engine


def option(parser: argparse.ArgumentParser) -> None:
    """For every place where people talk."""
    about = "talk to this engine instead of lastword's own agent: a function, or what is called so"
    parser.add_argument("--engine", metavar="MODULE:FUNCTION", help=about)


def engine_named(named: str) -> Engine:
    """The engine of that name, in a module that is found from here; it serves resumes, too."""
    name, _, attribute = named.partition(":")
    if not name or not attribute:
        raise ValueError(f"--engine is MODULE:FUNCTION; it is {named!r}")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0] and error.name != name:
            why = f"{name!r} needs {error.name}, which is not installed"
            raise ValueError(f"--engine: {why}") from error
        raise ValueError(f"--engine: there is no module {name!r} here") from error
    engine = getattr(found, attribute, None)
    if engine is None:
        raise ValueError(f"--engine: the module {name!r} has no {attribute!r}")
    if not callable(engine):
        why = "is no function, so it cannot be an engine"
        raise ValueError(f"--engine: {named} {why}")  # noqa: TRY004 - a mistake in typing
    return with_cells(cast("Engine", engine))


def store_of(asked: argparse.Namespace) -> str:
    """Where its sessions are kept; no lastword.toml is read for it."""
    named = asked.store or os.environ.get("LASTWORD_STORE")
    return named or settings.store_here(settings.STORE, lambda _: asked.trust)


def mode_of(asked: argparse.Namespace) -> Policy:
    """What a new message does."""
    return asked.mode or DEFAULTS.on_message
