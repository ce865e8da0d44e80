"""Puts one mistake into lastword as it is imported: `-p tests.mutations.planting --mutation NAME`.

The source is read, changed and compiled in place of the module; nothing is written. A run in
which the module was not imported has tried nothing, and says so.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from tests.mutations.changes import Change, Function, Lost

SOURCE = Path(__file__).parent.parent.parent / "src" / "lastword"


@dataclass(frozen=True, slots=True)
class Mutation:
    """A mistake, and the test that has to find it."""

    name: str
    where: str  # a module and a function in it: runtime.hold:Hold.begin
    change: Change
    found: str

    @property
    def module(self) -> str:
        return f"lastword.{self.where.partition(':')[0]}"

    @property
    def file(self) -> Path:
        return SOURCE.joinpath(*self.where.partition(":")[0].split(".")).with_suffix(".py")

    def planted(self) -> ast.Module:
        """The module, with the mistake in it."""
        tree = ast.parse(self.file.read_text(encoding="utf-8"))
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


class Planter(MetaPathFinder):
    """Finds the one module, with the mistake in it, before anybody else does."""

    def __init__(self, mutation: Mutation) -> None:
        self.mutation = mutation
        self.planted = False

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname != self.mutation.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec and spec.origin:
            spec.loader = _Loader(fullname, spec.origin, self.mutation)
            self.planted = True
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, mutation: Mutation) -> None:
        super().__init__(fullname, path)
        self._mutation = mutation

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._mutation.planted(), self.path, "exec")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutation", metavar="NAME", help="the mistake to put into lastword")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    from tests.mutations.catalogue import MUTATIONS  # noqa: PLC0415 - it needs what is above

    assert "lastword" not in sys.modules, "it is too late to change anything"
    planter = Planter(MUTATIONS[early_config.known_args_namespace.mutation])
    sys.meta_path.insert(0, planter)
    early_config.pluginmanager.register(Proof(planter))


class Proof:
    """A run of tests that never met the mistake has not shown anything."""

    def __init__(self, planter: Planter) -> None:
        self._planter = planter

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self._planter.planted:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
