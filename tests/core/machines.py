"""The machines that are explored: the explorations of each, by name, and the ways to break it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

from tests.core import cell_alphabet
from tests.core.asks_alphabet import explore_asks
from tests.core.asks_mutations import ASK_MUTATIONS
from tests.core.bounds import GROUPS
from tests.core.cell_alphabet import explore_cell
from tests.core.cell_mutations import CONTINUING, ENDS, RESUMES
from tests.core.cell_mutations_kept import OBSERVERS, RESTARTS
from tests.core.lease_alphabet import CLOCKS, explore_lease
from tests.core.lease_mutations import LEASE_MUTATIONS
from tests.core.mutations import MUTATIONS
from tests.core.mutations_programs import PROGRAMS
from tests.core.mutations_restart import RESTART
from tests.core.mutations_rights import RIGHTS
from tests.core.mutations_whose import WHOSE
from tests.core.picture_alphabet import explore_picture
from tests.core.picture_mutations import PICTURE_MUTATIONS
from tests.core.session_alphabet import explore_session
from tests.mutations.mutation import Mutation, file_of


@dataclass(frozen=True, slots=True)
class Kind:
    """One machine."""

    modules: tuple[str, ...]  # of core, in which it may be broken; the machine is in the last
    mutations: tuple[Mutation, ...]
    search: Callable[[ModuleType, str], object]  # the module, and which of its explorations


def _sessions(module: ModuleType, found: str) -> None:
    for bounds in GROUPS[found]:
        explore_session(bounds, module.SessionMachine)


def _cells(module: ModuleType, found: str) -> None:
    [bounds] = [bounds for bounds in cell_alphabet.EVERY if bounds.name == found]
    explore_cell(bounds, module.CellMachine)


def _leases(module: ModuleType, found: str) -> None:
    holders, watchers = CLOCKS[found]
    explore_lease(module, holders=holders, watchers=watchers)


def _pictures(module: ModuleType, found: str) -> None:
    explore_picture(found, 5, module.Picture)


def _asks(module: ModuleType, found: str) -> None:
    explore_asks(found, module)


KINDS = {
    "session": Kind(
        ("queue", "rights", "session"),
        MUTATIONS + RIGHTS + WHOSE + RESTART + PROGRAMS,
        _sessions,
    ),
    "cell": Kind(
        ("outlet", "pending", "frontier"),
        RESUMES + ENDS + CONTINUING + OBSERVERS + RESTARTS,
        _cells,
    ),
    "picture": Kind(("turns", "picture"), PICTURE_MUTATIONS, _pictures),
    "ask": Kind(("asks",), ASK_MUTATIONS, _asks),
    "lease": Kind(("lease",), LEASE_MUTATIONS, _leases),
}


@contextmanager
def broken(kind: Kind, mutation: Mutation) -> Generator[ModuleType]:
    """The machine with a mistake in it, loaded beside the real one."""
    names = {f"lastword.core.{name}": f"broken_{name}" for name in kind.modules}
    assert mutation.module in names
    try:
        for name, beside in names.items():
            real = ast.parse(file_of(name).read_text(encoding="utf-8"))
            tree = mutation.planted() if name == mutation.module else real
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.module in names:
                    node.module = names[node.module]
            loaded = ModuleType(beside)
            sys.modules[beside] = loaded  # where its dataclasses look for their types
            exec(compile(tree, beside, "exec"), vars(loaded))  # noqa: S102 - ours
        yield sys.modules[names[f"lastword.core.{kind.modules[-1]}"]]
    finally:
        for beside in names.values():
            sys.modules.pop(beside, None)
