"""A process is started as it was asked for, or not at all, and then it is said why."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lastword.errors import SpawnFailed
from lastword.processes import Level, ProcessLimits, Warden, command
from tests.processes.artists import Canary
from tests.processes.helping import a_warden, heard, python, sh, until
from tests.processes.strict import AT_EACH

asked: Any = command  # as a caller whom nobody checks
limited: Any = ProcessLimits
FAR_TOO_LONG = "x" * 10_000_000
SHELL, NUL, FIVE = {"shell": "ls"}, {"shell": "a\0b"}, {"shell": 5}


async def told(warden: Warden, *argv: str, **how: Any) -> str:
    """What a command writes that ends well."""
    done = await (await warden.spawn(asked(*argv, **how))).communicate()
    assert done.code == 0, done
    return done.output


async def works(warden: Warden) -> bool:
    return await told(warden, *sh("echo still here")) == "still here\n"


# what cannot be started


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (asked, TypeError, "either a program with its arguments, or shell="),
        (lambda: asked("ls", **SHELL), TypeError, "either a program"),
        (lambda: asked(""), ValueError, "empty name"),
        (lambda: asked("ls", 5), TypeError, "argument 1 must be a str or a path, not a int"),
        (lambda: asked(b"ls"), TypeError, "the program must be a str or a path, not a bytes"),
        (lambda: asked("ls", "a\0b"), ValueError, "argument 1 holds a NUL"),
        (lambda: asked("ls", "\ud800"), ValueError, "argument 1 holds a character that no"),
        (lambda: asked(**NUL), ValueError, "shell holds a NUL"),
        (lambda: asked(**FIVE), TypeError, "shell must be a str, not a int"),
        (lambda: asked("ls", cwd="a\0b"), ValueError, "cwd holds a NUL"),
        (lambda: asked("ls", cwd=b"/"), TypeError, "cwd must be a str.* not a bytes"),
        (lambda: asked("ls", cwd=5), TypeError, "cwd"),
        (lambda: asked("ls", env={"A": "a\0b"}), ValueError, "environment variable A holds a NUL"),
        (lambda: asked("ls", env={"A\0": "b"}), ValueError, "NUL"),
        (lambda: asked("ls", env={"A=B": "c"}), ValueError, "'A=B' cannot be the name"),
        (lambda: asked("ls", env={"": "c"}), ValueError, "'' cannot be the name"),
        (lambda: asked("ls", env={"A": 5}), TypeError, "variable A must be a str, not a int"),
        (lambda: asked("ls", env={5: "A"}), TypeError, "name of an environment variable"),
        (lambda: asked("ls", env=["A=B"]), TypeError, "env must be a mapping"),
        (lambda: asked("ls", stdin="text"), ValueError, "stdin must be 'none', 'pipe', or bytes"),
        (lambda: asked("ls", stdin=None), ValueError, "stdin must be 'none', 'pipe', or bytes"),
        (lambda: asked("ls", pty=1), TypeError, "pty must be True or False"),
        (lambda: asked("ls", pty=True, stdin=b"keys"), ValueError, "use pty=True and write"),
        (lambda: asked("ls", limits={"cpu": 1}), TypeError, "limits must be ProcessLimits"),
        (lambda: asked("ls", output_limit=0), ValueError, "output_limit"),
        (lambda: asked("ls", output_limit="1M"), ValueError, "output_limit"),
        (lambda: limited(cpu=0), ValueError, "limit cpu must be at least 1; it is 0"),
        (lambda: limited(cpu=0.5), TypeError, "limit cpu must be a whole number, not a float"),
        (lambda: limited(memory=1000), ValueError, "limit memory must be at least 67108864"),
        (lambda: limited(file_size=-1), ValueError, "limit file_size must be at least 0"),
        (lambda: limited(open_files=True), TypeError, "limit open_files must be a whole number"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_starts(
    ask: Callable[[], object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ask()


def script(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


@AT_EACH
@pytest.mark.parametrize(
    ("words", "how", "why"),
    [
        (["no-such-program"], {}, "command not found: 'no-such-program' .PATH is "),
        (["./missing"], {}, "there is no file './missing'"),
        (["./notes"], {}, "'./notes' is not executable"),
        (["/"], {}, "'/' is not executable"),
        (["./lost"], {}, "the interpreter in its first line is missing"),
        (["./bare"], {}, "is not a program .*#!/bin/sh"),
        (["ls"], {"cwd": "gone"}, "the working directory '.*gone': No such file"),
        (["ls"], {"cwd": "notes"}, "the working directory '.*notes': Not a directory"),
        (["ls", FAR_TOO_LONG], {}, "longer than the system allows"),
        (["ls"], {"env": {**os.environ, "A": FAR_TOO_LONG}}, "longer than the system allows"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_what_cannot_be_started_says_why_and_leaves_nothing(
    words: list[str], how: dict[str, Any], why: str, level: Level, tmp_path: Path
) -> None:
    (tmp_path / "notes").write_text("notes")
    script(tmp_path / "lost", "#!/no/such/python\n")
    script(tmp_path / "bare", "echo hello\n")
    how = {**how, "cwd": tmp_path / how.get("cwd", "")}
    async with a_warden(level) as warden:
        with pytest.raises(SpawnFailed, match=f"could not be started: .*{why}"):
            await warden.spawn(asked(*words, **how))

        assert warden.processes == {}
        assert warden.living() == []
        assert await works(warden)


@AT_EACH
async def test_nothing_starts_in_a_warden_that_was_stopped(level: Level) -> None:
    async with a_warden(level) as warden:
        stopping = warden.stop(grace=0)
        with pytest.raises(SpawnFailed, match="is over, so nothing was started"):
            await warden.spawn(command("true"))
        await stopping
        with pytest.raises(SpawnFailed, match="is over, so nothing was started"):
            await warden.spawn(command("true"))


async def test_what_may_not_start_does_not(tmp_path: Path) -> None:
    def never(what: str) -> None:
        raise PermissionError(f"{what} may not start")

    async with a_warden() as warden:
        with pytest.raises(PermissionError, match=r"touch .* may not start"):
            await warden.spawn(command("touch", tmp_path / "it"), may_start=never)

        assert warden.processes == {}
        assert await works(warden)
    assert not (tmp_path / "it").exists()


@AT_EACH
async def test_a_spawn_that_is_given_up_leaves_nothing(level: Level) -> None:
    async with a_warden(level) as warden:
        spawning = asyncio.create_task(warden.spawn(command("sleep", "1000")))
        await asyncio.sleep(0)  # it has been ordered
        spawning.cancel()
        with pytest.raises(asyncio.CancelledError):
            await spawning

        assert warden.processes == {}
        assert await works(warden)  # it is in order, so the other has started before
        await until(lambda: not warden.living())


@pytest.mark.parametrize(
    "limits",
    [
        lambda: ProcessLimits(memory=1 << 62),
        lambda: ProcessLimits(memory=1 << 70),
        lambda: ProcessLimits(cpu=1 << 80),
        lambda: ProcessLimits(file_size=(1 << 64) - 1),
    ],
)
async def test_a_limit_beyond_all_numbers_does_not_cost_the_others_their_warden(
    limits: Callable[[], ProcessLimits],
) -> None:
    async with a_warden() as warden:
        other = await warden.spawn(command("sleep", "1000"))
        try:
            await (await warden.spawn(command("true", limits=limits()))).wait()
        except (ValueError, SpawnFailed) as error:
            assert "limit" in str(error)

        assert other.code is None
        assert await works(warden)


# what it is started with


@AT_EACH
async def test_it_has_the_environment_that_was_given_and_no_other(level: Level) -> None:
    env = {"ONLY": "this", "NOT_UTF_8": "\udcff"}

    async with a_warden(level) as warden:
        assert await told(warden, "/usr/bin/env", env={}) == ""
        process = await warden.spawn(command("/usr/bin/env", env=env))
        await process.communicate()

    assert process.stdout.head == b"ONLY=this\nNOT_UTF_8=\xff\n"


async def test_it_has_ours_as_it_is_now_if_none_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_warden() as warden:
        monkeypatch.setenv("SET_LATER", "yes")

        assert await told(warden, *sh("echo $SET_LATER")) == "yes\n"


async def test_a_program_is_looked_for_on_the_path_that_it_is_given(tmp_path: Path) -> None:
    script(tmp_path / "greet", "#!/bin/sh\necho found\n")
    async with a_warden() as warden:
        assert await told(warden, "greet", env={"PATH": f"/nowhere:{tmp_path}"}) == "found\n"
        with pytest.raises(SpawnFailed, match=f"command not found: 'ls' .PATH is '{tmp_path}'"):
            await warden.spawn(command("ls", env={"PATH": str(tmp_path)}))


async def test_it_is_where_it_was_told_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "greet", "#!/bin/sh\necho found\n")
    async with a_warden() as warden:
        monkeypatch.chdir(tmp_path.parent)

        assert await told(warden, "pwd") == f"{tmp_path.parent}\n"
        assert await told(warden, "pwd", cwd=tmp_path.name) == f"{tmp_path}\n"
        assert await told(warden, "./greet", cwd=tmp_path) == "found\n"


@AT_EACH
async def test_every_signal_is_as_it_is_for_an_ordinary_process(level: Level) -> None:
    ours = signal.getsignal(signal.SIGPIPE)  # Python ignores it, and would hand that down
    async with a_warden(level) as warden:
        status = await told(warden, "cat", "/proc/self/status")

    assert ours is signal.SIG_IGN
    masks = dict(line.split(":\t") for line in status.splitlines() if line.startswith("Sig"))
    the_c_librarys = 0b11 << 31  # two that no program can have an opinion on
    assert {int(masks[name], 16) & ~the_c_librarys for name in ("SigIgn", "SigBlk")} == {0}


@AT_EACH
@pytest.mark.parametrize("pty", [False, True])
async def test_it_has_three_descriptors_and_none_of_ours(level: Level, pty: bool) -> None:
    async with a_warden(level) as warden:
        await warden.spawn(command("cat", stdin="pipe"))  # whose pipes are not for others

        assert (await told(warden, *sh("ls /proc/$$/fd"), pty=pty)).split() == ["0", "1", "2"]


@AT_EACH
async def test_each_leads_a_session_of_its_own(level: Level) -> None:
    async with a_warden(level) as warden:
        words = await told(warden, *sh("echo $$; cut -d' ' -f5,6 /proc/$$/stat"))

    assert len(words.split()) == 3
    assert len(set(words.split())) == 1


async def test_its_umask_is_ours() -> None:
    before = os.umask(0o027)
    try:
        async with a_warden() as warden:
            assert await told(warden, *sh("umask")) == "0027\n"
    finally:
        os.umask(before)


# limits

RAISE_IT = """
import os, resource, sys
sys.stdin.read()  # until we have been told that it has started
kind = getattr(resource, sys.argv[1])
print(*resource.getrlimit(kind))
os.getuid() or os.setuid(65534)  # root may raise any limit
try:
    resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
except ValueError:
    print("refused")
"""


@pytest.mark.parametrize(
    ("limits", "kind", "most"),
    [
        (ProcessLimits(memory=1 << 30), "RLIMIT_AS", 1 << 30),
        (ProcessLimits(cpu=7), "RLIMIT_CPU", 7),
        (ProcessLimits(file_size=1000), "RLIMIT_FSIZE", 1000),
        (ProcessLimits(open_files=20), "RLIMIT_NOFILE", 20),
    ],
)
async def test_a_limit_is_in_force_and_cannot_be_raised(
    limits: ProcessLimits, kind: str, most: int
) -> None:
    async with a_warden() as warden:
        before = await told(warden, *sh("cat /proc/$PPID/limits"))
        raising = command(*python(RAISE_IT), kind, limits=limits, stdin="pipe")
        done = await (await warden.spawn(raising)).communicate()

        assert done.output == f"{most} {most}\nrefused\n", done
        assert await told(warden, *sh("cat /proc/$PPID/limits")) == before  # the warden's own


@pytest.mark.parametrize(
    ("argv", "limits", "ends"),
    [
        (sh("while :; do :; done"), ProcessLimits(cpu=1), "ended: -9"),
        (sh("exec head -c 2000 /dev/zero > it"), ProcessLimits(file_size=1000), "ended: -25"),
        (python("bytearray(1 << 30)"), ProcessLimits(memory=1 << 29), "MemoryError"),
        (
            python("[open('/dev/null') for _ in range(50)]"),
            ProcessLimits(open_files=20),
            "Too many open",
        ),
    ],
)
async def test_whoever_exceeds_a_limit_does_not_get_away_with_it(
    argv: tuple[str, ...], limits: ProcessLimits, ends: str, tmp_path: Path
) -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command(*argv, limits=limits, cwd=tmp_path))
        done = await process.communicate()

    assert ends in f"{done.errors}ended: {done.code}"


# signals, and the end of one


@AT_EACH
async def test_a_signal_reaches_it_and_nobody_else(level: Level) -> None:
    listens = "sleep 1000 & trap 'echo told; kill -0 $! && exit 7' USR1; echo ready; wait"
    async with a_warden(level) as warden:
        process = await warden.spawn(command(*sh(listens)))
        await heard(process.stdout, b"ready")
        process.send_signal(signal.SIGUSR1)

        done = await process.communicate()
        assert (done.output, done.code) == ("ready\ntold\n", 7)
        process.send_signal(signal.SIGUSR1)  # to nobody


async def test_what_is_no_signal_is_refused_and_what_is_one_is_sent() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command("sleep", "1000"))
        with pytest.raises(ValueError, match="4711"):
            process.send_signal(4711)

        process.send_signal(signal.SIGRTMIN + 1)
        assert await process.wait() == -(signal.SIGRTMIN + 1)


HELD = "exec 9> '{canary}'; here() {{ printf x >&9; }}; "  # by it and all that it starts


@AT_EACH
@pytest.mark.parametrize(
    ("family", "grace", "code"),
    [
        ("sleep 1000 & here; sleep 1000", 100, -signal.SIGTERM),
        ("(trap '' TERM; sleep 1000) & trap 'kill -9 $!; exit 7' TERM; here; wait", 100, 7),
        ("trap '' TERM; sleep 1000 & here; sleep 1000; :", 0.05, -signal.SIGKILL),
        ("trap '' TERM; setsid sleep 1000 & here; sleep 1000; :", 0, -signal.SIGKILL),
        ("(trap '' TERM; here; sleep 1000) & here; sleep 1000", 0.05, -signal.SIGTERM),
        ("trap '' TERM; here; while :; do sleep 1000 & done", 0, -signal.SIGKILL),
    ],
    ids=[
        "politely",
        "with its own manners",
        "killed",
        "at once",
        "but a stubborn child",
        "forking",
    ],
)
async def test_an_end_takes_its_descendants_along_and_nobody_else(
    level: Level, family: str, grace: float, code: int, tmp_path: Path
) -> None:
    async with a_warden(level) as warden:
        other = await warden.spawn(command("sleep", "1000"))
        with Canary(tmp_path) as canary:
            process = await warden.spawn(command(*sh(HELD.format(canary=canary.path) + family)))
            await canary.ready(family.count("here"))

            assert await process.end(grace) == code
            assert await canary.dead(timeout=5.0)
        await until(lambda: [kin.pid for kin in warden.living()] == [other.pid])
        assert other.code is None


async def test_a_grace_that_is_no_number_does_not_cost_the_others_their_warden() -> None:
    async with a_warden() as warden:
        process: Any = await warden.spawn(command("sleep", "1000"))
        with pytest.raises(TypeError, match="grace"):
            await process.end("soon")

        assert await works(warden)
