"""A process with a terminal of its own: what is typed, what is shown, and how it ends."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from lastword.processes import Level, Process, Warden, command
from tests.processes.artists import Canary
from tests.processes.helping import a_warden, heard, python, sh, state_of, until
from tests.processes.strict import AT_EACH

SHELL = ("bash", "--norc", "--noprofile", "-i")
SIZES = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
while True:
    print(*os.get_terminal_size(), flush=True)
    signal.sigwait({signal.SIGWINCH})
"""


async def at_a_terminal(warden: Warden, *argv: str, **how: Any) -> Process:
    return await warden.spawn(command(*argv, pty=True, **how))


async def type_in(process: Process, keys: str) -> None:
    assert process.stdin is not None
    await process.stdin.write(keys.encode())


@AT_EACH
async def test_it_has_a_terminal_for_everything_and_controls_it(level: Level) -> None:
    look = "test -t 0 -a -t 1 -a -t 2 && echo yes; echo also > /dev/tty; echo errors >&2"
    async with a_warden(level) as warden:
        process = await at_a_terminal(warden, *sh(look))
        done = await process.communicate()

    assert (done.code, done.output) == (0, "yes\r\nalso\r\nerrors\r\n")
    assert process.stderr is None


async def test_without_one_there_is_none() -> None:
    look = "test -t 0 -o -t 1 -o -t 2 || echo no; : < /dev/tty"
    async with a_warden() as warden:
        process = await warden.spawn(command(*sh(look)))
        done = await process.communicate()

        assert done.output == "no\n"
        assert "/dev/tty" in done.errors
        with pytest.raises(ValueError, match="only a process with pty=True has a terminal"):
            process.resize(24, 80)


@AT_EACH
async def test_a_new_size_is_seen_and_told(level: Level) -> None:
    async with a_warden(level) as warden:
        process = await at_a_terminal(warden, *python(SIZES))
        await heard(process.stdout, b"\n")
        process.resize(50, 120)
        await heard(process.stdout, b"120 50")
        process.send_signal(signal.SIGKILL)
        await process.wait()
        process.resize(10, 10)  # of nobody's


@pytest.mark.parametrize(("rows", "columns"), [(-1, 80), (24, 1 << 16), (24, "80")])
async def test_a_size_that_no_terminal_has_is_refused(rows: Any, columns: Any) -> None:
    async with a_warden() as warden:
        process = await at_a_terminal(warden, "cat")
        with pytest.raises((ValueError, TypeError), match=r"rows|columns"):
            process.resize(rows, columns)


async def test_what_is_typed_is_read() -> None:
    async with a_warden() as warden:
        process = await at_a_terminal(warden, "cat")
        await type_in(process, "hello\n")
        await heard(process.stdout, b"hello\r\nhello\r\n")  # the terminal's echo, and its own
        await type_in(process, "\x04")

        assert await process.wait() == 0
        with pytest.raises(BrokenPipeError, match="cat reads no more"):
            await type_in(process, "more")


async def test_control_c_interrupts_it() -> None:
    async with a_warden() as warden:
        process = await at_a_terminal(warden, *sh("echo ready; exec sleep 1000"))
        await heard(process.stdout, b"ready")
        await type_in(process, "\x03")

        assert await process.wait() == -signal.SIGINT


async def test_control_c_interrupts_the_job_in_the_foreground_and_not_the_shell() -> None:
    async with a_warden() as warden:
        process = await at_a_terminal(warden, *SHELL)
        await type_in(process, "sh -c 'echo rea''dy; exec sleep 1000'\n")
        await heard(process.stdout, b"ready")
        await type_in(process, "\x03")
        await type_in(process, "echo code $?; exit 7\n")

        assert "code 130" in (await process.communicate()).output
        assert process.code == 7


@AT_EACH
async def test_all_that_it_showed_is_there_when_it_has_ended(level: Level) -> None:
    async with a_warden(level) as warden:
        process = await at_a_terminal(warden, "seq", "100000")
        done = await process.communicate()

    assert done.output.split() == [str(number) for number in range(1, 100_001)]


async def test_one_that_has_ended_can_still_be_asked_what_it_showed() -> None:
    async with a_warden() as warden:
        process = await at_a_terminal(warden, "echo", "hello")
        await process.wait()

        assert (await process.communicate()).output == "hello\r\n"


async def test_communicating_does_not_wait_for_one_that_does_not_read_its_keys() -> None:
    async with a_warden() as warden:
        process = await at_a_terminal(warden, *sh("stty -echo; echo deaf; exec sleep 0.2"))
        await heard(process.stdout, b"deaf")

        assert (await process.communicate(b"keys\n" * 100_000)).code == 0


async def test_the_last_words_of_what_a_stop_ends_are_kept_though_their_reader_paused(
    tmp_path: Path,
) -> None:
    polite = "trap 'echo goodbye; exit' TERM; printf x > '{}'; while :; do sleep 0.01; done"
    async with a_warden() as warden:
        with Canary(tmp_path) as canary:
            line = polite.format(canary.path)
            process = await at_a_terminal(warden, *sh(line), output_limit=2)
            reading = asyncio.ensure_future(anext(aiter(process.stdout)))
            await canary.ready(1)
        await type_in(process, "shown, but not read on\n")
        await reading
        await warden.stop(grace=10.0)
        shown = b"".join([data async for data in process.stdout])

    assert shown.endswith(b"goodbye\r\n")


async def test_a_job_that_keeps_the_terminal_open_keeps_nobody_waiting() -> None:
    holds_on = "trap '' HUP; sleep 1000 & echo done"
    async with a_warden() as warden:
        process = await at_a_terminal(warden, *sh(holds_on))

        assert (await process.communicate()).output == "done\r\n"
        assert len(warden.living()) == 1


@pytest.mark.scenario("P9", part="terminal")
@AT_EACH
@pytest.mark.parametrize("grace", [0.0, 0.1])
async def test_all_groups_of_an_interactive_shell_die_with_it(
    level: Level, grace: float, tmp_path: Path
) -> None:
    job = "sh -c 'printf x >&9; exec sleep 1000'"
    async with a_warden(level) as warden:
        process = await at_a_terminal(warden, *SHELL)
        with Canary(tmp_path) as canary:
            await type_in(process, f"exec 9> '{canary.path}'; printf x >&9\n")
            await type_in(process, f"{job} &\nnohup {job} > /dev/null &\nsetsid {job} &\n")
            await type_in(process, f"sh -c 'printf x >&9; kill -STOP $$' &\n{job}\n")
            await canary.ready(6)
            # one look may miss who is given to another parent meanwhile, as `setsid` has it
            await until(lambda: len({kin.group for kin in warden.living()}) >= 6)

            ending = await warden.stop(grace)

            assert await canary.dead(timeout=10.0)
    assert ending.proven
    assert {report.fate for report in ending.processes} <= {"ended", "killed"}
    assert process.code is not None


@AT_EACH
async def test_its_jobs_get_a_hangup_from_the_kernel_when_the_shell_ends(
    level: Level, tmp_path: Path
) -> None:
    async with a_warden(level) as warden:
        process = await at_a_terminal(warden, *SHELL)
        with Canary(tmp_path) as canary:
            await type_in(process, f"exec 9> '{canary.path}'; printf x >&9; sleep 1000\n")
            await canary.ready(1)
            await until(lambda: any(kin.name == "sleep" for kin in warden.living()))
            process.send_signal(signal.SIGKILL)

            assert await process.wait() == -signal.SIGKILL
            assert await canary.dead(timeout=5.0)
    assert state_of(process.pid) == ""
