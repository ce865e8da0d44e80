"""What is not Python's own comes with an extra, and whoever misses it is told which."""

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lastword import extras
from lastword.errors import ExtraMissing
from tests.scenarios import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_PEOPLE = PROJECT["optional-dependencies"].keys() - {"all", "check", "test"}
COME_ALONG = {"anyio", "httpx2", "pydantic", "pydantic_core", "typing_extensions"}  # pydantic-ai's
LOADED_BY_ITSELF = {"pytest"}  # which has what is a plugin of it


def imported() -> Iterator[str]:
    """What the package imports that is neither Python's nor its own."""
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            yield from (name.partition(".")[0] for name in names)


def test_every_extra_is_known_and_whatever_is_imported_comes_with_one() -> None:
    brought = {name.partition(".")[0] for names in extras.BRINGS.values() for name in names}

    assert extras.BRINGS.keys() == FOR_PEOPLE
    ours = {"lastword", "inside"} | sys.stdlib_module_names
    assert set(imported()) - ours - COME_ALONG - LOADED_BY_ITSELF <= brought


def installed_with(needs: Iterable[str]) -> set[str]:
    """The distributions that pip would bring for these, as those that are here say it."""
    found, left = set[tuple[str, str]](), [Requirement(need) for need in needs]
    while left:
        need = left.pop()
        for extra in {"", *need.extras}:
            if (need.name, extra) not in found:
                found.add((need.name, extra))
                more = [Requirement(line) for line in requires(need.name) or ()]
                left += [
                    one for one in more if not one.marker or one.marker.evaluate({"extra": extra})
                ]
    return {canonicalize_name(name) for name, _ in found}


@pytest.mark.parametrize("extra", sorted(FOR_PEOPLE))
def test_an_extra_brings_what_it_is_said_to(extra: str) -> None:
    brought = installed_with(PROJECT["optional-dependencies"][extra])
    from_where = packages_distributions()
    for module in extras.BRINGS[extra]:
        there = {canonicalize_name(name) for name in from_where[module.partition(".")[0]]}
        assert there & brought, f"{module} is of {there}"

    assert extras.is_installed(extra)


@pytest.mark.scenario("B7")
def test_what_is_missing_is_told_at_once_and_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in ("pydantic_ai", "uvicorn", "google.genai"):
        monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(ExtraMissing, match="a server needs the extras agent and server, which are"):
        extras.need("a server", "agent", "chat", "server")
    with pytest.raises(ExtraMissing) as raised:
        extras.need("model google:x", "google")
    command = str(raised.value).partition(" Run: ")[2]
    assert command == f"{ROOT / 'scripts' / 'install'} google"  # as these tests are run by scripts

    monkeypatch.setattr(sys, "prefix", "elsewhere")

    assert extras.how_to_install(["agent", "chat"]) == "pip install 'lastword[agent,chat]'"
