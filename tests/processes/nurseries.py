"""Calls in wardens that a nursery forks, and the module that they are found in."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lastword.processes import Level, Processes, Warden, isolated
from lastword.processes.inside.family import Procfs, Relative
from tests.meter import open_files
from tests.processes.helping import our_children

TOOLS = """
import os, sys
from pathlib import Path

HERE = Path(__file__).parent
with open(HERE / "imports", "a") as imports: print(os.getpid(), file=imports)
calls = []
def add(a, b=0): return a + b
def counted(): calls.append(1); return len(calls)
def about():
    later = "put_there_later" in sys.path
    return os.getcwd(), os.environ.get("SET_LATER"), sys.argv, later
def hold(canary):
    holder = open(canary, "w")
    print("x", end="", file=holder, flush=True)
    while True: pass
"""


def some_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Callable[[str], Any]]:
    """Have a module with tools, and this besides when it is imported elsewhere."""

    def written(more: str = "") -> ModuleType:
        elsewhere = f"\nif os.getpid() != {os.getpid()}:\n    {more or 'pass'}\n"
        (tmp_path / "some_tools.py").write_text(TOOLS + elsewhere)
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        return importlib.import_module("some_tools")

    yield written
    sys.modules.pop("some_tools", None)


class Household:
    """Calls in wardens that a nursery forks, as a run makes them."""

    def __init__(self, processes: Processes) -> None:
        self.processes = processes
        self.importing: list[Warden] = []

    async def warden(self, function: Any, *args: Any) -> tuple[Warden, isolated.Prepared]:
        work = await isolated.prepared(function, args, {}, "it")
        nursery = await self.processes.nursery(work.home, work.command.order, self._lend)
        return await self.processes.warden(nursery), work

    async def call(self, function: Any, *args: Any) -> Any:
        warden, work = await self.warden(function, *args)
        try:
            return await isolated.make(warden, work)
        finally:
            await warden.stop(0)

    def _lend(self, keeper: Warden) -> Callable[[], None]:
        self.importing.append(keeper)
        return lambda: self.importing.remove(keeper)

    @property
    def unfit(self) -> list[str]:
        return list(self.processes.nurseries.unfit.values())


@asynccontextmanager
async def a_household(level: Level = "tree") -> AsyncGenerator[Household]:
    """When it has gone, no descriptor and no child is left."""
    files, children = open_files(), our_children()
    async with Processes(level=level) as processes:
        yield Household(processes)
    left = open_files().items() - files.items()
    assert not left, left
    assert our_children() == children


def descendants(pid: int) -> list[Relative]:
    proc = Procfs()
    try:
        return list(proc.descendants(pid))
    finally:
        proc.close()


def the_nursery() -> Relative:
    """The nearest: those that it has forked are called the same."""
    return next(kin for kin in descendants(os.getpid()) if kin.name == "nursery")
