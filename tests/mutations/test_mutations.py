"""Every mistake of the catalogue is found, by a test that is named for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.mutations.catalogue import MUTATIONS
from tests.mutations.mutation import Mutation, file_of
from tests.mutations.warm import Done, WarmProcess

EACH = pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=lambda mutation: mutation.name)
FLOORS = ("hold", "fence", "ledger", "journal", "stop", "owned", "hub", "streams", "outbox")
_LIMITS = ("--idle=5", "--busy=30")  # a broken runtime may wait for what never comes, or spin


@pytest.fixture(scope="session")
def warm() -> Iterator[WarmProcess]:
    """What each mistake's process is forked from: one for all that are tried here."""
    process = WarmProcess()
    yield process
    process.close()


def tried(warm: WarmProcess, *arguments: str) -> Done:
    plugins = ("-ppytest_asyncio.plugin", "-pno:cacheprovider")
    return warm.run(*plugins, *_LIMITS, "--tb=short", *arguments)


@EACH
def test_a_broken_runtime_is_found_out(warm: WarmProcess, mutation: Mutation) -> None:
    planted = ("-ptests.mutations.planting", f"--mutation={mutation.name}")
    done = tried(warm, "-x", "--deep", *planted, mutation.found)

    assert done.code == pytest.ExitCode.TESTS_FAILED, done.said
    assert f"FAILED {mutation.found}" in done.said, done.said  # the test, not an import


def test_a_runtime_that_is_not_broken_is_not_found_out(warm: WarmProcess) -> None:
    done = tried(warm, "--deep", *sorted({mutation.found for mutation in MUTATIONS.values()}))

    assert done.code == pytest.ExitCode.OK, done.said


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
