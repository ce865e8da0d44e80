"""The shape of the house: what tools do not hold, and care would forget."""

import ast
import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import lastword
from tests.scenarios import ROOT

PYTHON = sorted(file for part in ("src", "tests", "bench") for file in (ROOT / part).rglob("*.py"))
SCRIPTS = sorted(file for file in (ROOT / "scripts").iterdir() if file.is_file())
OWN_SLEEP = "# the tool's own"


def text_of(path: str | Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def run(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def the_files() -> list[Path]:
    """What is, or is about to be, in the repository."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("this is not a repository")
    names = run(git, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def test_no_file_is_longer_than_four_hundred_lines() -> None:
    long = {
        str(file.relative_to(ROOT)): lines
        for file in PYTHON
        if (lines := len(file.read_text(encoding="utf-8").splitlines())) > 400
    }

    assert long == {}


def test_no_file_names_a_place_on_somebodys_machine() -> None:
    place = re.compile(r"(?<![\w.}\"'])/(work|root|home|Users)/[\w.]")
    found = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in the_files()
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
        if place.search(line)
    ]

    assert found == []


@pytest.mark.parametrize("script", [*SCRIPTS, ROOT / ".ci" / "run"], ids=lambda file: file.name)
def test_a_script_is_executable_and_plain_sh(script: Path) -> None:
    assert script.stat().st_mode & 0o111 == 0o111
    assert script.read_text(encoding="utf-8").startswith("#!/bin/sh")
    run("/bin/sh", "-n", str(script))


def test_what_is_checked_elsewhere_is_what_is_checked_here() -> None:
    commands = [
        line
        for line in text_of(".ci/run").splitlines()
        if not line.startswith(("#", "cd ", "set "))
    ]

    assert commands == [
        "scripts/check",
        "scripts/docs",
        "scripts/test",
        "scripts/test --deep-only --budget 1200",
    ]


def test_the_tools_are_pinned_and_come_from_anywhere() -> None:
    pin = re.compile(r"[A-Za-z0-9_.-]+==[0-9][A-Za-z0-9.+!]*")
    files = sorted(ROOT.glob("constraints*.txt"))
    pins = [line for file in files for line in text_of(file).splitlines() if line.strip()]

    assert [line for line in pins if not pin.fullmatch(line)] == []


def test_the_version_is_in_the_changelog_or_about_to_be() -> None:
    version = tomllib.loads(text_of("pyproject.toml"))["project"]["version"]
    changes = text_of("CHANGELOG.md")

    assert f"## [{version}]" in changes or "## [Unreleased]" in changes


def test_the_public_names_are_few_sorted_and_there() -> None:
    names = lastword.__all__

    assert len(names) <= 30
    assert list(names) == sorted(set(names))
    assert [name for name in names if not hasattr(lastword, name)] == []


HELP = "from lastword.cli import main; main(['--help'])"


def imported_by(what: str) -> set[str]:
    """What a fresh Python has imported by the end of this."""
    tell = "atexit.register(lambda: print(*(set(sys.modules) - old)))"
    look = f"import atexit, sys; old = set(sys.modules); {tell}; {what}"
    *_, imported = run(sys.executable, "-c", look).splitlines()
    return set(imported.split())


@pytest.mark.parametrize("what", ["from lastword import *", HELP], ids=["import", "help"])
def test_importing_lastword_or_asking_for_help_imports_nothing_but_python(what: str) -> None:
    roots = {name.partition(".")[0] for name in imported_by(what)}

    assert roots - sys.stdlib_module_names == {"lastword"}


def test_importing_the_provider_imports_nothing_but_python_and_itself() -> None:
    alone = "lastword.testing.provider"
    roots = {
        name if name.startswith("lastword") else name.partition(".")[0]
        for name in imported_by(f"import {alone}")
        if not name.startswith(alone)
    }

    assert roots - sys.stdlib_module_names == {"lastword", "lastword.testing"}


@pytest.mark.parametrize(
    "module",
    [
        ".".join(file.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for file in PYTHON
        if file.is_relative_to(ROOT / "src") and file.name != "__main__.py"
    ],
)
def test_every_module_says_what_it_is_for(module: str) -> None:
    assert (importlib.import_module(module).__doc__ or "").strip()


def test_no_test_waits_for_time_to_pass() -> None:
    """An engine, a tool or a sink in a test may sleep; the test itself waits on events."""
    found = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in PYTHON
        if file.is_relative_to(ROOT / "tests")
        for line in sleeps_in(file.read_text(encoding="utf-8"))
    ]

    assert found == []


def test_a_sleeping_test_would_be_found() -> None:
    source = f"""
async def test_it():
    await asyncio.sleep(0)
    async def tool():
        await asyncio.sleep(5)
    time.sleep(0.5)
    sleep(1)  {OWN_SLEEP}
"""
    assert list(sleeps_in(source)) == [6]


def sleeps_in(source: str) -> Iterator[int]:
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and node.name.startswith("test_"):
            yield from (n for n in own_sleeps(node) if OWN_SLEEP not in lines[n - 1])


def own_sleeps(function: ast.AST) -> Iterator[int]:
    """The lines on which a function itself, and no function in it, sleeps for some seconds."""
    for node in ast.iter_child_nodes(function):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                continue
            case ast.Call(
                func=ast.Name(id="sleep") | ast.Attribute(attr="sleep"),
                args=[ast.Constant(value=int(seconds) | float(seconds)), *_],
            ) if seconds > 0:
                yield node.lineno
            case _:
                pass
        yield from own_sleeps(node)


def test_no_literal_is_unpacked_where_it_is_written() -> None:
    """`f(*(a, b), *(c, d))` hides which argument is which, to save a line."""
    found = [
        f"{path.name}:{node.lineno}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple | ast.List)
    ]

    assert found == []


SET = 18  # public attributes that a class sets on what is made of it
NAMED = 43  # and all that can be read, called or set: as many as what a stop has to end has


def test_nothing_of_the_runtime_is_a_hub() -> None:
    """What has many public names is reached into by everybody, and knows everything. Those that
    have the most are what a program holds (`Session`), its other side (`Conversation`) and what a
    stop has to end (`ActiveRun`): none may have more than that."""
    classes = [
        (f"{file.name}: {node.name}", node)
        for file in (ROOT / "src" / "lastword" / "runtime").glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]

    assert {name for name, node in classes if len(set_by(node)) > SET} == set()
    assert {name for name, node in classes if len(set_by(node) | named_in(node)) > NAMED} == set()


def set_by(made: ast.ClassDef) -> set[str]:
    """The public attributes that a class sets on what is made of it."""
    return {
        node.attr
        for node in ast.walk(made)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and node.value.id == "self"
        if not node.attr.startswith("_")
    }


def named_in(made: ast.ClassDef) -> set[str]:
    """Its public methods, properties and fields."""
    functions = [
        node.name for node in made.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    fields = [
        node.target.id
        for node in made.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    return {name for name in (*functions, *fields) if not name.startswith("_")}
