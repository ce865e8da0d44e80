"""Every engine there is can be found by who has what it is for: in the README, and in a recipe."""

from __future__ import annotations

import importlib
import inspect

import pytest

from tests.docs.pages import DOCS
from tests.scenarios import ROOT

ENGINES = ROOT / "src" / "lastword" / "engines"
README = (ROOT / "README.md").read_text(encoding="utf-8")
RECIPES = sorted((DOCS / "how-to").glob("*.md"))


def engines() -> list[str]:
    """The name of each: what a run is given to."""
    stems = sorted(path.stem for path in ENGINES.iterdir() if path.stem not in ("__init__", "kit"))
    modules = [importlib.import_module(f"lastword.engines.{one}") for one in stems if one[0] != "_"]
    found = {
        name
        for module in modules
        for name, one in vars(module).items()
        if inspect.isclass(one) and not name.startswith("_") and _is_engine(one)
        if one.__module__.startswith(module.__name__)
    }
    return sorted(found | {"function"})


def _is_engine(kind: type[object]) -> bool:
    if inspect.isabstract(kind) or "__call__" not in dir(kind):
        return False
    function = inspect.getattr_static(kind, "__call__", None)
    return inspect.isfunction(function) and list(inspect.signature(function).parameters) == [
        "self",
        "run",
    ]


def test_there_are_engines_to_be_found() -> None:
    assert {"Anthropic", "OpenAI", "OpenAIResponses", "PydanticAI", "function"} <= set(engines())


@pytest.mark.parametrize("engine", engines())
def test_the_readme_says_what_to_write_for_each_engine(engine: str) -> None:
    assert f"({engine}(" in README


@pytest.mark.parametrize("engine", engines())
def test_a_recipe_shows_each_engine(engine: str) -> None:
    assert any(engine in page.read_text(encoding="utf-8") for page in RECIPES)
