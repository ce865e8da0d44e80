"""`--engine MODULE:FUNCTION`: a team's own engine in place of lastword's own agent.

Each of its runs has a process of its own, so that one that blocks, crashes or leaves threads behind
holds up nobody and outlives no stop; this program does not import it. With `--in-process` it does,
and runs it here.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lastword.cells import engine as with_cells
from lastword.cli import settings
from lastword.core.model import DEFAULTS
from lastword.engines.isolated import Isolated
from lastword.engines.named import engine_named
from lastword.runtime.opening import close_engine, open_engine

if TYPE_CHECKING:
    from lastword.core.model import Policy
    from lastword.processes import Processes
    from lastword.runtime.run import Engine

_WARM, _MOST = 2, 200


def option(parser: argparse.ArgumentParser) -> None:
    """For every place where people talk."""
    about = "talk to this engine instead of lastword's own agent: a function, or what is called so"
    parser.add_argument("--engine", metavar="MODULE:FUNCTION", help=about)


def how(parser: argparse.ArgumentParser) -> None:
    """For those where each run of it may have a process."""
    parser.add_argument(
        "--in-process",
        action="store_true",
        help="run it in this process, not each run in one of its own",
    )
    for name, default, about in (
        ("--warm", _WARM, "how many processes for its runs are ready ahead"),
        ("--most", _MOST, "how many of its runs go at a time; one more waits"),
    ):
        parser.add_argument(name, type=int, metavar="N", help=f"{about} ({default})")


class OwnEngine(NamedTuple):
    """What answers, and how it is had."""

    engine: Engine  # serves resumes, too
    isolated: Isolated | None

    @asynccontextmanager
    async def opened(self, processes: Processes) -> AsyncGenerator[None]:
        """For who gives it to a runtime in something else: it is ready, or it is said why not."""
        open_engine(self.engine, processes)
        try:
            if note := await self.ready():
                print(note, file=sys.stderr)
            yield
        finally:
            close_engine(self.engine)

    async def ready(self) -> str:
        """Return when a process has it: what to say of that, if anything. Raises why none has."""
        if self.isolated is None:
            return ""
        await self.isolated.ready()
        why = await self.isolated.why_slow()
        return f"Each run imports the engine for itself, and starts slowly: {why}." if why else ""


def in_process(named: str) -> Engine:
    """The engine of that name, here."""
    must_be_a_name(named)
    try:
        return with_cells(engine_named(named))
    except ValueError as error:
        raise ValueError(f"--engine: {error}") from error


def must_be_a_name(named: str) -> None:
    """In a module that is found from here."""
    module, _, attribute = named.partition(":")
    if not module or not attribute:
        raise ValueError(f"--engine is MODULE:FUNCTION; it is {named!r}")
    sys.path.insert(0, str(Path.cwd()))


def found(asked: argparse.Namespace) -> OwnEngine:
    """The engine that was asked for."""
    named: str = asked.engine
    _must_go_together(asked)
    if asked.in_process:
        return OwnEngine(in_process(named), None)
    must_be_a_name(named)
    warm = _WARM if asked.warm is None else asked.warm
    isolated = Isolated(named, warm=warm, most=asked.most or _MOST)
    return OwnEngine(with_cells(isolated), isolated)


def _must_go_together(asked: argparse.Namespace) -> None:
    if asked.warm is not None and asked.warm < 0:
        raise ValueError(f"--warm must be 0 or more; it is {asked.warm}")
    if asked.most is not None and asked.most < 1:
        raise ValueError(f"--most must be 1 or more; it is {asked.most}")
    if asked.in_process and (asked.warm, asked.most) != (None, None):
        raise ValueError("--warm and --most are of runs that have processes: not with --in-process")


def store_of(asked: argparse.Namespace) -> str:
    """Where its sessions are kept; no lastword.toml is read for it."""
    named = asked.store or os.environ.get("LASTWORD_STORE")
    return named or settings.store_here(settings.STORE, lambda _: asked.trust)


def mode_of(asked: argparse.Namespace) -> Policy:
    """What a new message does."""
    return asked.mode or DEFAULTS.on_message
