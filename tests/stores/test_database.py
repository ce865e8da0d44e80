"""The tests' own PostgreSQL: it is theirs alone, and gone when they are."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.database import Cluster
from tests.promise.workshop import until

PROGRAM = """
import pytest
def test(cluster):
    print(cluster.folder, int((cluster.folder / "data/postmaster.pid").read_text().split()[0]))
    import os, signal
    os.kill(os.getpid(), signal.SIGKILL)
"""


async def test_a_database_is_made_for_each_test(cluster: Cluster, postgres: str) -> None:
    name = postgres.partition("?")[0].rpartition("/")[2]
    connection = await cluster.connect(name)
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname !~ '^(pg_|information_schema)'"
    assert await connection.fetchval(tables) == 0
    await connection.close()


async def test_a_server_ends_with_the_tests_that_were_killed(
    tmp_path: Path, cluster: Cluster
) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(PROGRAM)
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider"]
    command += ["-p", "tests.database", "-c", os.devnull, f"--rootdir={tmp_path}", str(file)]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr
    folder, pid = done.stdout.split()[-2:]

    await until(lambda: not Path(folder).exists() and not Path("/proc", pid).exists())
