"""The explorer finds every mistake in `cell_mutations.py`, so what it says of a cell has weight."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType

import pytest

from lastword.core import frontier, outlet, pending
from lastword.core.frontier import CellMachine
from tests.core.cell_explorer import EVERY, explore
from tests.core.cell_law import Broken
from tests.core.cell_mutations import ALL
from tests.core.mutations import Mutation

WITHIN = {bounds.name: bounds for bounds in EVERY}
MODULES = {"outlet": outlet, "pending": pending, "frontier": frontier}


@pytest.mark.parametrize("mutation", ALL, ids=lambda mutation: mutation.name)
def test_a_broken_cell_is_found_out(mutation: Mutation) -> None:
    with broken(mutation) as machine, pytest.raises(Broken) as found:
        explore(WITHIN[mutation.found], machine)

    sys.stdout.write(f"\n{mutation.name}: {found.value}")


@pytest.mark.parametrize("mutation", ALL, ids=lambda mutation: mutation.name)
def test_a_mutation_of_a_cell_changes_one_place(mutation: Mutation) -> None:
    source = inspect.getsource(MODULES[mutation.module])

    assert source.count(mutation.old) == 1
    assert mutation.old != mutation.new


@contextmanager
def broken(mutation: Mutation) -> Generator[type[CellMachine]]:
    """The machine with a mistake in it, loaded beside the real one."""
    names = {f"lastword.core.{name}": f"broken_{name}" for name in MODULES}
    try:
        for name, module in MODULES.items():
            source = inspect.getsource(module)
            if name == mutation.module:
                source = source.replace(mutation.old, mutation.new)
            for whole, other in names.items():
                source = source.replace(f"from {whole} import", f"from {other} import")
            loaded = ModuleType(f"broken_{name}")
            sys.modules[loaded.__name__] = loaded  # where its dataclasses look for their types
            exec(compile(source, loaded.__name__, "exec"), vars(loaded))  # noqa: S102 - ours
        yield sys.modules["broken_frontier"].CellMachine
    finally:
        for name in names.values():
            sys.modules.pop(name, None)
