"""Every mistake of the catalogue is found, by a test that is named for it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

import pytest

from tests.mutations.catalogue import MUTATIONS
from tests.mutations.mutation import Mutation, file_of
from tests.scenarios import ROOT

EACH = pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=lambda mutation: mutation.name)
FLOORS = ("hold", "fence", "ledger", "journal", "stop", "owned", "hub", "streams", "outbox")
_LIMITS = ("--idle=5", "--busy=30")  # a broken runtime may wait for what never comes, or spin


def tried(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What pytest says, in a process of its own."""
    plugins = ("-ppytest_asyncio.plugin", "-pno:cacheprovider")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *_LIMITS, "--tb=short", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.deep("one process for each mistake", quick=6)
@EACH
def test_a_broken_runtime_is_found_out(mutation: Mutation) -> None:
    planted = ("-ptests.mutations.planting", f"--mutation={mutation.name}")
    done = tried("-x", "--deep", *planted, mutation.found)

    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert f"FAILED {mutation.found}" in done.stdout, done.stdout  # the test, not an import


@pytest.mark.deep("as many tests as there are mistakes")
def test_a_runtime_that_is_not_broken_is_not_found_out() -> None:
    done = tried("--deep", *sorted({mutation.found for mutation in MUTATIONS.values()}))

    assert done.returncode == pytest.ExitCode.OK, done.stdout + done.stderr


@EACH
def test_a_mutation_changes_what_it_names(mutation: Mutation) -> None:
    source = ast.parse(file_of(mutation.module).read_text(encoding="utf-8"))

    assert ast.dump(mutation.planted()) != ast.dump(source)


def test_the_files_to_believe_have_their_mistakes() -> None:
    places = [
        mutation.where.partition(":")[0].rpartition(".")[2] for mutation in MUTATIONS.values()
    ]

    assert len(places) >= 60
    assert {name: places.count(name) >= 5 for name in FLOORS} == dict.fromkeys(FLOORS, True)
