"""Every public name is in the Python reference, and nothing else is."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable

import pytest

from tests.docs.pages import DOCS, Directive, Page, site_pages

PUBLIC = (
    "lastword",
    "lastword.types",
    "lastword.server",
    "lastword.cells",
    "lastword.processes",
    "lastword.testing",
    "lastword.testing.provider",
    "lastword.engines",
    "lastword.engines.anthropic",
    "lastword.engines.claude",
    "lastword.engines.function",
    "lastword.engines.isolated",
    "lastword.engines.kit",
    "lastword.engines.langgraph",
    "lastword.engines.openai",
    "lastword.engines.openai_agents",
    "lastword.engines.pydantic_ai",
)
IN_ERRORS = "lastword.errors"  # whose table another test holds
ALSO = {  # what is no public name, and is explained
    "lastword.runtime.framework.ForFrameworks",
    "lastword.agent.permission.Questions",
    "lastword.agent.rules.Rule",
    "lastword.agent.rules.Rules",
}


def public_names() -> set[str]:
    """All names that programs may import, but errors."""
    found: set[str] = set()
    for module in PUBLIC:
        one = importlib.import_module(module)
        told = getattr(one, "__all__", None) or (
            name
            for name, value in vars(one).items()
            if inspect.isfunction(value) and value.__module__ == module
        )
        found |= {f"{module}.{name}" for name in told if not _is_error(getattr(one, name))}
    return found


def _is_error(value: object) -> bool:
    return inspect.isclass(value) and value.__module__ == IN_ERRORS


def _is_told(name: str, told: Iterable[str]) -> bool:
    """Whether it is explained as what another module has under that name."""
    bare = name.rpartition(".")[2]
    others = [other for other in told if other.rpartition(".")[2] == bare]
    return any(value_of(other) is value_of(name) for other in others)


def directives() -> list[Directive]:
    return [one for page in site_pages() for one in page.directives]


def value_of(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def faults(told: Iterable[Directive]) -> list[str]:
    """What is said of names that there are not."""
    wrong: list[str] = []
    for one in told:
        try:
            value = value_of(one.name)
        except (AttributeError, ImportError):
            wrong.append(f"there is no {one.name}")
            continue
        wrong += [f"{one.name} has no {name}" for name in one.members if not _has(value, name)]
    return wrong


def _has(value: object, name: str) -> bool:
    """A member that is there, or that is said to be, or that is set when one is made."""
    if hasattr(value, name) or not inspect.isclass(value):
        return hasattr(value, name)
    every = (inspect.getsource(one) for one in value.__mro__ if one.__module__ != "builtins")
    return any(f"self.{name} " in source or f"self.{name}:" in source for source in every)


def test_every_public_name_is_in_the_reference_once() -> None:
    told = [one.name for one in directives()]

    assert {name for name in public_names() - set(told) if not _is_told(name, told)} == set()
    assert set(told) - public_names() - ALSO == set()
    assert len(told) == len(set(told))


def test_every_name_in_the_reference_is_there_with_its_members() -> None:
    assert faults(directives()) == []


@pytest.mark.parametrize(
    "text",
    [
        "::: lastword.Runtme\n",
        "::: lastword.nothing.Runtime\n",
        "::: lastword.Session\n    options:\n      members: [send, sned]\n",
    ],
)
def test_a_name_that_is_not_there_would_be_found(text: str) -> None:
    assert len(faults(Page(DOCS / "a.md", text).directives)) == 1


def test_what_is_set_when_one_is_made_is_a_member() -> None:
    text = "::: lastword.Ticket\n    options:\n      members: [message, outcome]\n"

    assert faults(Page(DOCS / "a.md", text).directives) == []


def test_every_member_that_the_overviews_name_is_there() -> None:
    """The tables at the top of the pages of Session, Run and Receipt."""
    for name, page in (("Session", "session"), ("Run", "run"), ("Receipt", "receipt")):
        told = Page.read(DOCS / "reference" / "python" / f"{page}.md").prose.partition(":::")[0]
        cells = [line.split("|")[1] for line in told.splitlines() if line.startswith("| `")]
        members = tuple(code for cell in cells for code in cell.split("`")[1::2])

        assert len(members) > 10
        assert faults([Directive(f"lastword.{name}", members)]) == []
