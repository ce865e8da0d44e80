"""Command lines of an agent: bounded for the model, and gone with the run."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from lastword import Outcome, Run, Runtime
from lastword.agent.tools.roots import Roots
from lastword.agent.tools.shell import Shell
from lastword.agent.tools.shell_tools import description
from lastword.agent.tools.told import plain
from tests.promise.stories import heard_by
from tests.promise.workshop import gone, until

STUBBORN_FAMILY = """trap '' TERM
sh -c 'trap "" TERM; echo $$ > child.pid; while :; do sleep 0.05; done' &
setsid sh -c 'trap "" TERM; echo $$ > escaped.pid; while :; do sleep 0.05; done' &
echo $$ > own.pid; while :; do sleep 0.05; done"""


async def given(
    work: Callable[[Run], Awaitable[str]], check: Callable[[], Awaitable[None]] | None = None
) -> str:
    """What one run's work comes to; checked, if need be, while the run is still there."""
    results: list[str] = []

    async def engine(run: Run) -> None:
        results.append(await work(run))
        if check is not None:
            await check()

    async with Runtime(engine, level="tree") as r:  # in which a process knows its own number
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    return results[0]


async def test_a_model_is_given_what_was_written_and_how_it_ended(tmp_path: Path) -> None:
    shell = Shell(tmp_path, env={"PATH": "/usr/bin:/bin", "WORD": "hello"})

    assert await given(lambda run: shell.run(run, "echo $WORD; pwd; exit 3")) == (
        f"hello\n{tmp_path}\n[exit code 3]"
    )
    assert await given(lambda run: shell.run(run, "echo out; echo bad >&2")) == (
        "out\nbad\n[exit code 0]"
    )
    assert await given(lambda run: shell.run(run, "kill -9 $$")) == (
        "[it wrote nothing]\n[ended by SIGKILL]"
    )


async def test_a_command_has_the_person_s_environment_but_not_the_keys_of_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("GEMINI_API_KEY", "secret")
    monkeypatch.setenv("SHOP_KEY", "theirs")

    text = await given(lambda run: Shell().run(run, "env"))

    assert "SHOP_KEY=theirs" in text
    assert "PATH=" in text
    assert "secret" not in text
    assert "OPENAI_API_KEY" not in text


async def test_of_long_output_the_first_and_the_last_are_given_and_the_cut_is_told() -> None:
    shell = Shell(output_limit=1000)

    text = await given(lambda run: shell.run(run, "seq 100000"))

    assert text.startswith("1\n2\n3\n")
    assert text.endswith("99999\n100000\n[exit code 0]")
    assert "… 587,895 bytes cut …" in text
    assert len(text) < 1200


@pytest.mark.parametrize("wait", [-1, 1e9, float("nan")])
async def test_a_time_that_is_none_is_refused_before_anything_is_started(
    tmp_path: Path, wait: float
) -> None:
    async def work(run: Run) -> str:
        with pytest.raises(ValueError, match="wait must be from 0 to 3600 seconds"):
            await Shell(tmp_path).run(run, "touch made", wait=wait)
        return "refused"

    assert await given(work) == "refused"
    assert not (tmp_path / "made").exists()


async def test_with_a_terminal_it_has_one_and_the_model_sees_no_escapes() -> None:
    line = r"test -t 1 && printf '\033[31mred\033[0m\r\n10%%\r20%%\rdone\n'"

    assert await given(lambda run: Shell().run(run, line, pty=True)) == "red\ndone\n[exit code 0]"
    assert plain("\x1b]0;title\x07a\x1b[2K\x1b(Bb\r\n") == "ab\n"


async def test_a_stop_ends_a_command_with_all_that_it_started(tmp_path: Path) -> None:
    async def engine(run: Run) -> None:
        await Shell(tmp_path).run(run, STUBBORN_FAMILY)

    async with Runtime(engine, level="tree") as r:
        session = r.session("s")
        await session.send("go")
        pids = [tmp_path / f"{name}.pid" for name in ("own", "child", "escaped")]
        await until(lambda: all(pid.exists() and pid.read_text().strip() for pid in pids))
        receipt = await session.stop()

        assert receipt.quiet
        assert all(gone(int(pid.read_text())) for pid in pids)


async def test_a_command_given_up_by_its_own_run_is_ended_too(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def engine(run: Run) -> None:
        task = run.task(Shell(tmp_path).run(run, "echo $$ > pid; exec sleep 300"))
        await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        task.cancel()
        await until(lambda: gone(int((tmp_path / "pid").read_text())))
        go_on.set()
        await asyncio.Event().wait()

    async with Runtime(engine, level="tree") as r:
        await r.session("s").send("go")
        await go_on.wait()


async def test_the_person_sees_what_is_written_while_it_runs_and_nothing_after_a_stop(
    tmp_path: Path,
) -> None:
    line = "n=0; while :; do n=$((n+1)); echo line $n; sleep 0.05; done"

    async def engine(run: Run) -> None:
        await Shell(tmp_path).run(run, line)

    async with Runtime(engine) as r:
        session = r.session("s")
        heard = heard_by(session)
        await session.send("go")
        await until(lambda: [e for e in heard if e.kind == "progress" and "line 12\n" in e.text])
        await session.stop()
        await until(lambda: heard[-1].kind == "receipt")
        told = [event.text for event in heard if event.kind == "progress"]

        assert "".join(told).startswith("line 1\nline 2\n")
        assert len(told) < 5  # and not one for each line
        kinds = [event.kind for event in heard]
        assert "progress" not in kinds[kinds.index("finished") :]


async def test_bash_reads_the_line_where_there_is_one_and_sh_if_that_is_said() -> None:
    assert Shell().name == shutil.which("bash")
    assert Shell(shell="/bin/sh").name == "/bin/sh"
    with pytest.raises(ValueError, match="no shell 'no-such-shell'"):
        Shell(shell="no-such-shell")

    def sh(run: Run) -> Awaitable[str]:
        return Shell(shell="/bin/sh").run(run, "echo $0")

    assert await given(sh) == "/bin/sh\n[exit code 0]"


async def test_a_command_begins_where_it_is_asked_to_and_never_outside(tmp_path: Path) -> None:
    roots = [tmp_path / name for name in ("one", "two")]
    for root in roots:
        (root / "sub").mkdir(parents=True)
    (roots[0] / "out").symlink_to(tmp_path)
    shell = Shell(roots=Roots(roots))

    async def work(run: Run) -> str:
        said = [await shell.run(run, "pwd", workdir=to) for to in ("", "sub", str(roots[1]))]
        for wrong in ("..", "out", "/", "sub/../..", "missing"):
            with pytest.raises(OSError, match=r"out of what may be touched|missing"):
                await shell.run(run, "touch made", workdir=wrong)
        return " ".join(text.split("\n")[0] for text in said)

    assert await given(work) == f"{roots[0]} {roots[0]}/sub {roots[1]}"
    assert not [place for place in (tmp_path, *roots) if (place / "made").exists()]


async def test_a_cd_lasts_if_that_is_set_whatever_the_command_writes(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    shell = Shell(tmp_path, cd_lasts=True)

    async def work(run: Run) -> str:
        first = await shell.run(run, "cd a; echo $#; echo /etc; exit 3")
        assert first == f"0\n/etc\n[exit code 3; in {tmp_path}/a]"
        assert await shell.run(run, "cd b && set -e && false") == (
            f"[it wrote nothing]\n[exit code 1; in {tmp_path}/a/b]"
        )
        assert await shell.run(run, "cat <<'EOF'\n$1\nEOF\npwd", workdir="a") == (
            f"$1\n{tmp_path}/a\n[exit code 0; in {tmp_path}/a]"
        )
        outside = await shell.run(run, "cd /")
        leads_out = f"/ leads out of what may be touched: {tmp_path}"
        assert f"the next begins in {tmp_path}: {leads_out}" in outside
        await shell.run(run, "cd a/b")
        shutil.rmtree(tmp_path / "a")
        with pytest.raises(OSError, match=f"the next one begins in {tmp_path}"):
            await shell.run(run, "touch made")
        return await shell.run(run, "pwd")

    assert await given(work) == f"{tmp_path}\n[exit code 0; in {tmp_path}]"
    assert not (tmp_path / "made").exists()


async def test_without_that_a_cd_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    shell = Shell(tmp_path)

    async def work(run: Run) -> str:
        await shell.run(run, "cd a")
        return await shell.run(run, "pwd")

    assert await given(work) == f"{tmp_path}\n[exit code 0]"


def test_the_description_says_all_that_a_model_has_to_know(tmp_path: Path) -> None:
    said = description(Shell(tmp_path, shell="/bin/sh", limit=90, output_limit=5000))

    for words in ("with /bin/sh", str(tmp_path), "30 if you do not say, at most 90", "5,000 bytes"):
        assert words in said
    for words in ("seconds", "`workdir`", "`background`", "`stdin`", "`pty`", "shell_read"):
        assert words in said
    assert "A `cd` holds for that command line only." in said
    assert "A `cd` lasts" in description(Shell(tmp_path, cd_lasts=True))
