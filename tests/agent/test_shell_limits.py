"""P22. A limit says who lives on, by numbers that are true where they are used."""

from pathlib import Path
from typing import Literal

import pytest

from lastword import Run, Runtime
from lastword.agent.tools.shell import Shell
from tests.agent.call_by_call import id_in, shown, talking
from tests.promise.workshop import gone, until

DAEMON = """(setsid sh -c 'echo $$ > daemon; exec sleep 300' &)
until [ -s daemon ]; do sleep 0.01; done"""


@pytest.mark.scenario("P22", part="processes")
@pytest.mark.parametrize("level", ["tree", "auto"])
async def test_a_limit_says_who_lives_on_by_the_number_that_is_true_there(
    tmp_path: Path, level: Literal["tree", "auto"]
) -> None:
    shell = Shell(tmp_path, limit=1.0)
    async with talking(level) as (talk, session):
        text = await talk.does(lambda run: shell.run(run, f"{DAEMON}; sleep 302", wait=0.5))
        id_ = id_in(text)
        await until(lambda: session.process(id_).left)
        number = (tmp_path / "daemon").read_text().strip()
        expected = (
            "as it took longer than 1 seconds; "
            f"what has left its command lives on until the run ends: {number} sleep"
        )
        await until(lambda: not session.process(id_).alive)
        assert expected in await talk.does(lambda run: shell.read(run, id_))
        assert await talk.does(lambda run: shell.run(run, f"kill {number} && echo killed")) == (
            "killed\n[exit code 0]"
        )
        await until(lambda: session.spans)
        assert any(expected in note for note in await shown(session))


@pytest.mark.scenario("P22", part="processes")
async def test_a_timeout_of_a_run_s_own_command_says_who_lives_on(tmp_path: Path) -> None:
    done: list[str] = []

    async def engine(run: Run) -> None:
        done.append(str(await run.shell(f"{DAEMON}; sleep 303", cwd=tmp_path, timeout=1.0)))

    async with Runtime(engine, level="tree") as r:
        await (await r.session("s").send("go")).outcome()
    number = (tmp_path / "daemon").read_text().strip()
    assert done == [
        "[ended: it took too long; what has left its command lives on until the run ends: "
        f"{number} sleep]"
    ]
    assert gone(int(number))


@pytest.mark.scenario("P22", part="processes")
async def test_the_number_a_model_is_told_is_the_one_that_its_commands_know() -> None:
    shell = Shell()
    async with talking("auto") as (talk, _):
        text = await talk.does(lambda run: shell.run(run, "echo $$; exec sleep 300", wait=0.5))
        number = text.split("\n")[0]
        assert f"[it goes on as {id_in(text)}, pid {number}," in text
        killed = await talk.does(lambda run: shell.run(run, f"kill -9 {number} && echo done"))
        assert killed == "done\n[exit code 0]"
