"""A recipe's page has the very file that is proved, and says what it was proved with."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import Page, page, rows
from tests.scenarios import ROOT

RECIPES = sorted(file.stem for file in (ROOT / "recipes").glob("*.txt"))


def adapter(name: str) -> Path:
    return ROOT / "recipes" / f"{name.replace('-', '_')}_engine.py"


def of(name: str) -> Page:
    return page(f"how-to/other-frameworks/{name}.md")


def test_every_recipe_has_an_adapter_a_proof_and_a_page() -> None:
    pages = sorted(file.stem for file in (ROOT / "docs/how-to/other-frameworks").glob("*.md"))
    files = sorted((ROOT / "recipes").glob("*_engine.py"))
    proofs = [ROOT / "recipes" / "proof" / f"{name.replace('-', '_')}.py" for name in RECIPES]

    assert pages == RECIPES
    assert files == sorted(map(adapter, RECIPES))
    assert [file for file in proofs if not file.exists()] == []


@pytest.mark.parametrize("name", RECIPES)
def test_what_a_page_shows_is_the_file_that_is_proved(name: str) -> None:
    file = adapter(name)

    [shown] = [block.text for block in of(name).blocks if block.title == file.name]

    assert shown == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RECIPES)
def test_a_page_says_with_which_versions_it_was_proved_and_what_came_of_it(name: str) -> None:
    pins = (ROOT / "recipes" / f"{name}.txt").read_text(encoding="utf-8").split()
    overview = page("how-to/other-frameworks.md")
    figures = {row[0]: row[1:] for row in rows(overview.section("Figures"))}

    assert [pin for pin in pins if f"`{pin.replace('[openai]', '')}`" not in of(name).text] == []
    assert pins[0].partition("==")[2] in overview.text
    assert [int(one) for one in figures[name][3:7]] == [0] * 4


def names_of_lastword(file: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(("lastword", "tests")):
            yield from ((str(node.module), name.name) for name in node.names)


@pytest.mark.parametrize("file", sorted((ROOT / "recipes").rglob("*.py")), ids=lambda f: f.stem)
def test_what_a_recipe_imports_of_lastword_is_there(file: Path) -> None:
    found = [
        f"{module}.{name}"
        for module, name in names_of_lastword(file)
        if not hasattr(importlib.import_module(module), name)
    ]

    assert found == []
