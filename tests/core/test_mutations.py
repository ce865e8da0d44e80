"""The explorer finds every mistake in `mutations.py`, so what it says of the machine has weight."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType

import pytest

from lastword.core import queue, session
from lastword.core.session import SessionMachine
from tests.core.bounds import GROUPS
from tests.core.explorer import explore
from tests.core.law import Broken
from tests.core.mutations import MUTATIONS, Mutation
from tests.core.mutations_restart import RESTART
from tests.core.mutations_whose import WHOSE

ALL = MUTATIONS + WHOSE + RESTART


@pytest.mark.parametrize("mutation", ALL, ids=lambda mutation: mutation.name)
def test_a_broken_machine_is_found_out(mutation: Mutation) -> None:
    with broken(mutation) as machine, pytest.raises(Broken) as found:
        search(mutation.found, machine)

    sys.stdout.write(f"\n{mutation.name}: {found.value}")


@pytest.mark.parametrize("mutation", ALL, ids=lambda mutation: mutation.name)
def test_a_mutation_changes_one_place(mutation: Mutation) -> None:
    source = inspect.getsource(session if mutation.module == "session" else queue)

    assert source.count(mutation.old) == 1
    assert mutation.old != mutation.new


def search(group: str, machine: type[SessionMachine]) -> None:
    for bounds in GROUPS[group]:
        explore(bounds, machine)


@contextmanager
def broken(mutation: Mutation) -> Generator[type[SessionMachine]]:
    """The machine with a mistake in it, loaded beside the real one."""
    sources = {"session": inspect.getsource(session), "queue": inspect.getsource(queue)}
    sources[mutation.module] = sources[mutation.module].replace(mutation.old, mutation.new)
    sources["session"] = sources["session"].replace("lastword.core.queue", "broken_queue")
    try:
        for name in ("queue", "session"):
            module = ModuleType(f"broken_{name}")
            sys.modules[module.__name__] = module  # where its dataclasses look for their types
            exec(compile(sources[name], module.__name__, "exec"), vars(module))  # noqa: S102 - ours
        yield sys.modules["broken_session"].SessionMachine
    finally:
        for name in ("queue", "session"):
            sys.modules.pop(f"broken_{name}", None)
