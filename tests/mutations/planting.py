"""Puts one mistake into lastword as it is imported: `-p tests.mutations.planting --mutation NAME`.

The source is read, changed and compiled in place of the module; nothing is written. A run in
which the module was not imported has tried nothing, and says so.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

import pytest

from tests.mutations.mutation import Mutation


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
