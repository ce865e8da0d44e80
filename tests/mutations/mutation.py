"""What a mistake is: a function, named by its module and its own name, and a change in it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from tests.mutations.changes import Change, Function, Lost

SOURCE = Path(__file__).parent.parent.parent / "src"


def file_of(module: str) -> Path:
    """Where a module of lastword is written."""
    return SOURCE.joinpath(*module.split(".")).with_suffix(".py")


@dataclass(frozen=True, slots=True)
class Mutation:
    """A mistake, and who has to find it: a test, or an exploration."""

    name: str
    where: str  # a module and a function in it: runtime.hold:Hold.begin
    change: Change
    found: str

    @property
    def module(self) -> str:
        return f"lastword.{self.where.partition(':')[0]}"

    def planted(self) -> ast.Module:
        """The module, with the mistake in it."""
        tree = ast.parse(file_of(self.module).read_text(encoding="utf-8"))
        self.change(_function(tree, self.where.partition(":")[2]))
        return ast.fix_missing_locations(tree)


def _function(tree: ast.Module, name: str) -> Function:
    node: ast.AST = tree
    for part in name.split("."):
        named = [
            one
            for one in ast.walk(node)
            if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and one.name == part
            and one is not node
        ]
        if len(named) != 1:
            raise Lost(f"{name}: there are {len(named)}, and one is meant")
        node = named[0]
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        raise Lost(f"{name} is not a function")
    return node
