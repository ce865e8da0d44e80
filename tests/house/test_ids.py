"""An id is a name, and not a text to be taken apart: what it belongs to is a value beside it."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.scenarios import ROOT

SOURCE = ROOT / "src" / "lastword"
NAMING = SOURCE / "server" / "who.py"  # where a principal's sessions have their names from
PAGE = SOURCE / "server" / "page"
IDS = frozenset({"session", "run", "call", "cell", "above", "parent", "active"})  # named by one
CUTS = frozenset({"partition", "rpartition", "split", "rsplit", "find", "rfind", "index"})
LOOKS = frozenset({"removeprefix", "removesuffix", "startswith", "endswith"})
APART = CUTS | LOOKS
IN_THE_PAGE = re.compile(
    rf"\b(?:{'|'.join(IDS)})(?:Id)?\??\.(?:split|slice|substring|substr|indexOf|lastIndexOf|search"
    r"|match|matchAll|replace|replaceAll|startsWith|endsWith)\("
)


def taken_apart(source: str) -> Iterator[int]:
    """The lines on which what is called as an id is takes a text apart."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=of, attr=method)) if method in APART:
                if _is_an_id(of):
                    yield node.lineno
            case ast.Subscript(value=of, slice=ast.Slice(), ctx=ast.Load()):
                if _is_an_id(of):
                    yield node.lineno
            case ast.Compare(left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()]):
                if any(map(_is_an_id, node.comparators)):
                    yield node.lineno
            case _:
                pass


def _is_an_id(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name.removesuffix("_").removesuffix("_id").lstrip("_") in IDS


@pytest.mark.parametrize(
    "line",
    [
        'found[result.call.rpartition(":")[2]] = 1',
        'session, _, number = run.partition("#")',
        "rest = cell.session[len(space) :]",
        'if "/" not in cell.session: pass',
        'above = self._session_id.rsplit("#", 1)[0]',
        'told = error.active.removeprefix("bob/")',
    ],
)
def test_whoever_takes_an_id_apart_would_be_found(line: str) -> None:
    assert list(taken_apart(line)) == [1]


def test_no_id_is_taken_apart() -> None:
    found = [
        f"{file.relative_to(SOURCE)}:{line}"
        for file in sorted(SOURCE.rglob("*.py"))
        if file != NAMING
        for line in taken_apart(file.read_text(encoding="utf-8"))
    ]

    assert found == []


@pytest.mark.parametrize("line", ['run.slice(run.lastIndexOf("#") + 1)', "call?.split('.')"])
def test_whoever_takes_an_id_apart_on_the_page_would_be_found(line: str) -> None:
    assert IN_THE_PAGE.search(line)


def test_the_page_takes_no_id_apart() -> None:
    found = [
        f"{file.name}:{number}: {line.strip()}"
        for file in sorted(PAGE.glob("*.js"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if IN_THE_PAGE.search(line)
    ]

    assert found == []
