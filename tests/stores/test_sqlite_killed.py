"""Several processes on one file: killed, paused, or all at once."""

import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from lastword.core.model import SessionId
from lastword.errors import OwnedElsewhere
from lastword.stores.sqlite import SqliteStore
from tests.promise.workshop import until
from tests.stores.files import S, known_to, numbers, opened, write
from tests.stores.writer_to_kill import WRITERS

PROGRAM = Path(__file__).with_name("writer_to_kill.py")
ROUNDS = 20


@asynccontextmanager
async def program(what: str, path: Path | str) -> AsyncGenerator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(PROGRAM), what, str(path), stdin=PIPE, stdout=PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@contextmanager
def unattended(what: str, path: Path) -> Generator[subprocess.Popen[bytes]]:
    """One that nobody buries before the end."""
    command = [sys.executable, str(PROGRAM), what, str(path)]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE) as process:
        yield process


async def line(process: Process, said: str = "") -> str:
    """What it prints next, once it was told something."""
    assert process.stdin
    assert process.stdout
    if said:
        process.stdin.write(f"{said}\n".encode())
    return (await process.stdout.readline()).decode().strip()


async def taken(store: SqliteStore, session: SessionId) -> None:
    """Load it as soon as it is there to be had."""
    while True:
        try:
            await store.load(session)
        except OwnedElsewhere:
            await asyncio.sleep(0.01)
        else:
            return


async def test_every_acknowledged_commit_is_there_after_a_kill_at_any_instant(
    tmp_path: Path,
) -> None:
    path = tmp_path / "it.db"
    acknowledged = dict.fromkeys((f"s{n}" for n in range(WRITERS)), 0)
    for turn in range(ROUNDS):
        async with program("writes", path) as process:
            assert process.stdout
            lines = [await process.stdout.readline() for _ in range(1 + turn * 3)]
            process.kill()
            lines += (await process.stdout.read()).splitlines(keepends=True)
            await process.wait()
        for told in lines:
            if told.endswith(b"\n"):
                session, number = told.decode().split()
                acknowledged[session] = int(number)

        async with opened(path) as store:
            for session, last in acknowledged.items():
                await store.load(SessionId(session))  # at once: it is known that its owner died
                found = numbers(await store.entries(SessionId(session)))
                assert found == list(range(1, len(found) + 1))
                assert last <= len(found) <= last + 1  # one may have been under way
                acknowledged[session] = len(found)
            assert await store.check() == []

    assert sum(acknowledged.values()) >= ROUNDS


async def test_who_has_died_owns_nothing_even_before_it_is_buried(tmp_path: Path) -> None:
    path = tmp_path / "it.db"
    with unattended("waits", path) as process:
        assert process.stdout
        assert await asyncio.to_thread(process.stdout.readline) == b"ready\n"
        process.kill()
        await asyncio.to_thread(os.waitid, os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        async with opened(path) as store:
            await store.load(S)


@pytest.mark.scenario("D5", part="sqlite")
async def test_a_process_that_was_paused_can_write_nothing_to_what_another_took_over(
    tmp_path: Path,
) -> None:
    path = tmp_path / "it.db"
    async with program("waits", path) as old:
        assert await line(old) == "ready"
        async with opened(path) as patient:
            with pytest.raises(OwnedElsewhere, match=rf"session s belongs to process {old.pid} on"):
                await patient.load(S)

        os.kill(old.pid, signal.SIGSTOP)
        async with opened(path, lease=1.0) as new:
            await taken(new, S)
            await new.commit(write(10))
            os.kill(old.pid, signal.SIGCONT)
            for _ in range(3):
                assert f"OwnedElsewhere: session s belongs to process {os.getpid()}" in await line(
                    old, "write"
                )
            await new.commit(write(11))
            assert numbers(await new.entries(S)) == [1, 10, 11]

        assert "OwnedElsewhere: session s belongs to another store" in await line(old, "write")
    async with opened(path) as later:
        assert numbers(await later.entries(S)) == [1, 10, 11]
        assert await later.check() == []


@pytest.mark.scenario("L3", part="sqlite")
async def test_a_process_that_was_paused_and_lost_nothing_goes_on_writing(tmp_path: Path) -> None:
    path = tmp_path / "it.db"
    async with program("waits", path) as old:
        assert await line(old) == "ready"
        async with opened(path, lease=1.0) as watching:
            os.kill(old.pid, signal.SIGSTOP)
            await until(lambda: known_to(path) == [2])  # who watches has found it dead
            os.kill(old.pid, signal.SIGCONT)
            assert await line(old, "write") == "written"
            await until(lambda: known_to(path) == [1, 2])
            with pytest.raises(OwnedElsewhere, match=rf"process {old.pid} on"):
                await watching.load(S)


async def test_all_who_open_a_new_file_at_the_same_moment_have_it(tmp_path: Path) -> None:
    async with program("opens", "a") as a, program("opens", "b") as b, program("opens", "c") as c:
        for one in (a, b, c):
            assert await line(one) == "ready"
        for n in range(5):
            path = tmp_path / f"{n}.db"
            answers = await asyncio.gather(*(line(one, str(path)) for one in (a, b, c)))

            assert answers == ["opened"] * 3
            async with opened(path) as store:
                assert sorted(await store.sessions()) == ["a", "b", "c"]
                assert await store.check() == []
