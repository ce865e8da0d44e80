"""A machine of core is moved by what it is told, and by nothing else."""

import ast
from collections.abc import Iterator

import pytest

from lastword.core.model import Settings
from lastword.core.session import SessionMachine
from tests.scenarios import ROOT

SOURCE = ROOT / "src" / "lastword"
FIELDS = frozenset(vars(SessionMachine(Settings())))


def set_from_outside(source: str) -> Iterator[int]:
    """The lines on which something sets a field of what is called a machine."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=of, attr=field, ctx=ast.Store() | ast.Del()):
                if _is_a_machine(of) and field in FIELDS:
                    yield node.lineno
            case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[of, *_]):
                if _is_a_machine(of):
                    yield node.lineno
            case _:
                pass


def _is_a_machine(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name.endswith("machine")


@pytest.mark.parametrize(
    "line",
    [
        "self.machine.generation = 1",
        "driver.machine.generation += 1",
        "machine.known, machine.hushed = 1, 2",
        "known = self._machine.hushed = False",
        "setattr(self._machine, 'hushed', False)",
        "del machine.active",
    ],
)
def test_whoever_sets_a_machines_field_would_be_found(line: str) -> None:
    assert list(set_from_outside(line)) == [1]


def test_nothing_but_what_it_is_told_moves_a_sessions_machine() -> None:
    found = [
        f"{file.relative_to(SOURCE)}:{line}"
        for file in sorted(SOURCE.rglob("*.py"))
        if file.relative_to(SOURCE).parts[0] != "core"
        for line in set_from_outside(file.read_text(encoding="utf-8"))
    ]

    assert found == []
