"""What a setting is if nobody says otherwise is written once, in its home."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import lastword
from lastword import Runtime
from lastword.core.model import DEFAULTS, Settings
from lastword.processes.levels import AUTO
from lastword.runtime.settings import USUAL, RuntimeSettings

SOURCE = Path(lastword.__file__).parent
HOMES = (DEFAULTS, USUAL)
NAMES = {field.name for home in HOMES for field in fields(home)}
TOGETHER = {"grace", "deadline"}  # one follows from the other, so neither has a default of its own
FLOORS = ("core", "processes", "runtime", "stores")


def test_a_runtime_has_each_setting_as_its_home_has_it() -> None:
    known = inspect.signature(Runtime).parameters
    homes = {field.name: getattr(home, field.name) for home in HOMES for field in fields(home)}
    said = {name: known[name].default for name in homes if name in known}

    assert said == {name: None if name in TOGETHER else homes[name] for name in said}
    assert said.keys() >= {field.name for field in fields(USUAL)}
    assert known["level"].default == AUTO


def test_nobody_else_writes_a_default_of_a_setting() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {name}"
        for floor in FLOORS
        for path in sorted((SOURCE / floor).rglob("*.py"))
        for name, line in _written(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert found == []


def _written(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Arguments with such a name, and fields outside of the homes, that have a literal."""
    homes = {Settings.__name__, RuntimeSettings.__name__}
    for node in ast.walk(tree):
        pairs, names = list[tuple[str, ast.expr | None]](), NAMES
        if isinstance(node, ast.ClassDef) and node.name not in homes:
            given = [one for one in node.body if isinstance(one, ast.AnnAssign)]
            pairs = [(s.target.id, s.value) for s in given if isinstance(s.target, ast.Name)]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pairs, names = list(_arguments(node.args)), NAMES | {"level"}
        for name, value in pairs:
            if name in names and isinstance(value, ast.Constant) and value.value is not None:
                yield name, value.lineno


def _arguments(given: ast.arguments) -> Iterator[tuple[str, ast.expr | None]]:
    last = given.args[len(given.args) - len(given.defaults) :]
    yield from ((one.arg, value) for one, value in zip(last, given.defaults, strict=True))
    yield from ((a.arg, v) for a, v in zip(given.kwonlyargs, given.kw_defaults, strict=True))
