"""What has gone wrong once: hosts, tools and names that nobody had thought of."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from lastword.processes import Completed, Level, Processes, Warden, command, isolated
from tests.processes.helping import a_warden, heard, our_children, sh
from tests.processes.strict import AT_EACH, BEST
from tests.scenarios import ROOT

STUBBORN = sh("trap '' TERM INT HUP; echo up; while :; do sleep 0.05; done")
SOON = 20.0  # seconds: a guard, on a machine that does other things as well

CALLING = """
import asyncio, os, sys
from lastword import Runtime

with open({log!r}, "a") as log:
    print(__name__, file=log)

def tool():
    return 1

async def engine(run):
    try:
        print("gave", await run.gate({tool}, isolated=True)({argument}))
    except Exception as error:
        print(type(error).__name__, error)

async def main():
    async with Runtime(engine) as runtime:
        ticket = await runtime.session("s").send("go")
        print(await ticket.outcome())

{before}
asyncio.run(main())
"""

FEW_FILES = """
import asyncio, sys
from lastword.processes import Processes, isolated

async def main():
    async with Processes() as processes:
        print(processes.level, processes.why_not)
        warden = await processes.warden()
        print(await isolated.call(warden, divmod, (17, 5), {}, name="it"))

asyncio.run(main())
"""

NO_FILES = """
import asyncio, os, resource, signal
from lastword.processes import Processes, command
from tests.processes.household import held, state, the_warden

async def main():
    async with Processes("tree") as processes:
        warden = await processes.warden()
        process = await warden.spawn(command("sleep", "330"))
        with held(the_warden(os.getpid(), "tree")):
            await stop(warden, process)

async def stop(warden, process):
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
        held = []
        try:
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            pass
        async with asyncio.timeout(20):
            ending = await asyncio.shield(warden.stop(0.1))
        for fd in held:
            os.close(fd)
        print(ending.proven, [p.pid for p in ending.processes] == [process.pid], end=" ")
        print(state(process.pid) in ("", "Z"))

asyncio.run(main())
"""

NO_ROOM = """
import os, resource, socket
from lastword.processes.inside import wire

ours, theirs = socket.socketpair()
inbox = wire.WireInbox(theirs)
wire.send(ours, {"a": 1}, (0, 1, 2))
wire.send(ours, {"b": 2})
most = theirs.fileno() + 2  # room for one
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
print(inbox.receive() + inbox.receive())
"""

FEW_FILES_MANY_CHILDREN = """
import asyncio
from lastword.processes import Processes, command

async def main():
    async with Processes("tree") as processes:
        warden = await processes.warden()
        line = "for i in $(seq 150); do setsid sleep 50 & done; echo up; wait"
        process = await warden.spawn(command(shell=line))
        async for _ in process.stdout:
            break
        said = await asyncio.gather(*(words(warden) for _ in range(20)))
        await process.end(0.0)
        last = await warden.spawn(command("true"))
        await last.wait()
        print(set(said), len(warden.living()))

async def words(warden):
    process = await warden.spawn(command("echo", "words"))
    return process.code or (await process.communicate()).output

asyncio.run(main())
"""

WITH_A_FORK = """
import asyncio, os, sys
from lastword.processes import Processes, command
from tests.processes.household import zygotes

async def main():
    async with Processes("tree") as processes:
        warden = await processes.warden()
        await warden.spawn(command("sleep", "331"))
        if os.fork() == 0:
            sys.stdin.read()
            os._exit(0)
    print("left:", zygotes(os.getpid()), flush=True)

asyncio.run(main())
"""


def ran(script: str, folder: Path, *before: str) -> subprocess.CompletedProcess[str]:
    """What a program of its own said; `before` is what starts it."""
    file = folder / "script.py"
    file.write_text(script, encoding="utf-8")
    return subprocess.run(
        [*before, sys.executable, str(file)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


async def called(warden: Warden, function: Any, *args: Any) -> Any:
    return await isolated.call(warden, function, args, {}, name="it")


# what a tool does does not end more than the tool


@pytest.mark.parametrize(
    "raised", ["KeyboardInterrupt", "GeneratorExit", "CancelledError", "StopIteration"]
)
async def test_what_would_end_more_than_the_tool_comes_back_as_an_ordinary_error(
    raised: str,
) -> None:
    line = f"from asyncio import CancelledError; raise {raised}('from the tool')"
    async with a_warden() as warden:
        with pytest.raises(RuntimeError, match=f"it raised {raised} in its process: from the tool"):
            await called(warden, exec, line)
        assert await called(warden, divmod, 17, 5) == (3, 2)


def test_a_script_that_is_not_guarded_is_not_started_again_by_its_tool(tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = ran(CALLING.format(log=str(log), tool="tool", argument="", before=""), tmp_path)

    assert "RuntimeError this script is being loaded to find an isolated tool in it" in done.stdout
    assert done.stdout.endswith("completed\n"), done.stderr
    # once to have it ready for all calls, once in this call to say what was wrong; no tower of them
    assert log.read_text() == "__main__\n__lastword_worker__\n__lastword_worker__\n"


def test_a_text_that_speaks_of_the_main_module_does_not_have_it_loaded(tmp_path: Path) -> None:
    log = tmp_path / "log"
    argument = """'if __name__ == "__main__": pass'"""
    done = ran(CALLING.format(log=str(log), tool="len", argument=argument, before=""), tmp_path)

    assert done.stdout == "gave 31\ncompleted\n", done.stderr
    assert log.read_text() == "__main__\n"


def test_a_result_is_not_lost_because_nobody_reads_the_log(tmp_path: Path) -> None:
    broken = "end, held = os.pipe(); os.close(end); os.dup2(held, 2)"  # as in `2>&1 | head`
    log = str(tmp_path / "log")
    script = CALLING.format(log=log, tool="print", argument="'words'", before=broken)
    done = ran(script, tmp_path)

    assert done.stdout == "gave None\ncompleted\n"


# a host that is not as others are


@AT_EACH
def test_a_host_that_blocks_the_signal_of_a_childs_end_is_told_of_it(level: Level) -> None:
    came: list[Completed] = []

    async def main() -> None:
        async with asyncio.timeout(SOON), Processes(level) as processes:
            warden = await processes.warden()
            process = await warden.spawn(command(shell="sleep 0.1; echo said; exit 3"))
            came.append(await process.communicate())

    def host() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        asyncio.run(main())

    thread = threading.Thread(target=host)
    thread.start()
    thread.join()

    assert came == [Completed(3, "said\n")]


def test_a_host_that_may_open_few_files_has_its_level_and_its_tools(tmp_path: Path) -> None:
    level = BEST
    done = ran(FEW_FILES, tmp_path, "/bin/sh", "-c", 'ulimit -n 64; exec "$@"', "sh")

    assert done.stdout == f"{level} {{}}\n(3, 2)\n", done.stderr


@pytest.mark.scenario("P17", part="processes")
def test_a_warden_that_may_open_few_files_ends_many_and_loses_no_words(tmp_path: Path) -> None:
    before = ("/bin/sh", "-c", 'ulimit -n 200; exec "$@"', "sh")

    done = ran(FEW_FILES_MANY_CHILDREN, tmp_path, *before)

    assert done.stdout == "{'words\\n'} 0\n", done.stderr


@pytest.mark.scenario("P17", part="processes")
def test_a_message_that_lost_its_descriptors_says_so_and_has_none(tmp_path: Path) -> None:
    done = ran(NO_ROOM, tmp_path)

    assert done.stdout == "[({'a': 1, 'descriptors lost': 3}, []), ({'b': 2}, [])]\n", done.stderr


def test_a_warden_that_hangs_is_killed_though_no_file_can_be_opened(tmp_path: Path) -> None:
    done = ran(NO_FILES, tmp_path)

    assert done.stdout == "True True True\n", done.stderr


def test_a_fork_of_the_host_that_lives_on_does_not_keep_the_zygote(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(WITH_A_FORK, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(file)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "left: []\n"  # and the fork still waits for its input


async def test_nothing_is_started_from_another_event_loop(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    async with a_warden() as warden:
        start = warden.spawn(command("touch", str(marker)))
        with pytest.raises(RuntimeError, match="on the event loop that its warden belongs to"):
            await asyncio.to_thread(asyncio.run, start)
        assert warden.processes == {}
        assert await (await warden.spawn(command("true"))).wait() == 0

    assert not marker.exists()


# an end that is to come sooner than was said


@AT_EACH
async def test_a_long_grace_that_was_given_up_can_be_made_a_short_one(level: Level) -> None:
    async with a_warden(level) as warden:
        process = await warden.spawn(command(*sh("trap '' TERM; sleep 340 & echo up; wait")))
        await heard(process.stdout, b"up")
        warden.stop(100)
        async with asyncio.timeout(SOON):
            ending = await asyncio.shield(warden.stop(0))

    assert ending.proven
    assert [report.fate for report in ending.processes] == ["killed"] * 2  # its own account


@AT_EACH
async def test_one_process_can_be_ended_sooner_than_it_was_told(level: Level) -> None:
    async with a_warden(level) as warden:
        process = await warden.spawn(command(*STUBBORN))
        await heard(process.stdout, b"up")
        first = asyncio.ensure_future(process.end(100))
        await asyncio.sleep(0)  # it has been asked
        async with asyncio.timeout(SOON):
            assert await process.end(0) == -signal.SIGKILL
            assert await first == -signal.SIGKILL


# names and numbers


@pytest.mark.parametrize(
    "words",
    [("cat", os.fsdecode(b"caf\xe9")), ("sleep", "1 # \x1b[31mred\x07"), ("echo", "a\nb\rc\u202e")],
)
def test_a_name_can_be_printed_whatever_is_in_it(words: tuple[str, ...]) -> None:
    name = command(*words).name

    assert name.isprintable()
    assert json.loads(json.dumps(name, ensure_ascii=False).encode()) == name


@pytest.mark.parametrize("most", [0, -1, True, 1.5])
def test_a_limit_of_no_processes_at_all_is_refused(most: Any) -> None:
    before = our_children()
    with pytest.raises(ValueError, match="how many processes a run may have, must be 1 or more"):
        Processes(most=most)
    assert our_children() == before


@pytest.mark.parametrize("grace", ["1", True, None])
async def test_a_grace_that_is_no_number_of_seconds_is_refused_and_nothing_ends(
    grace: object,
) -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command(*STUBBORN))
        with pytest.raises(TypeError, match="grace must be a number of seconds, not a"):
            warden.stop(grace=cast("Any", grace))
        with pytest.raises(TypeError, match="grace must be a number of seconds, not a"):
            await process.end(grace=cast("Any", grace))

        assert process.code is None
