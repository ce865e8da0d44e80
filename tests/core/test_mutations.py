"""The explorer finds every mistake that is planted, so what it says of the machines has weight."""

from __future__ import annotations

import ast
import sys

import pytest

from tests.core.explorer import Broken
from tests.core.machines import KINDS, Kind, broken
from tests.mutations.mutation import Mutation, file_of

EACH = pytest.mark.parametrize(
    ("kind", "mutation"),
    [
        pytest.param(kind, mutation, id=f"{name}: {mutation.name}")
        for name, kind in KINDS.items()
        for mutation in kind.mutations
    ],
)


@EACH
def test_a_broken_machine_is_found_out(kind: Kind, mutation: Mutation) -> None:
    with broken(kind, mutation) as module, pytest.raises(Broken) as found:
        kind.search(module, mutation.found)

    sys.stdout.write(f"\n{mutation.name}: {found.value}")


@EACH
def test_a_mutation_changes_what_it_names(kind: Kind, mutation: Mutation) -> None:
    source = ast.parse(file_of(mutation.module).read_text(encoding="utf-8"))

    assert ast.dump(mutation.planted()) != ast.dump(source)
