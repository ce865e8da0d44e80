"""P18 to P20, P22. What takes longer goes on under an id: read, told, signalled, ended by that."""

import asyncio
import re
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest
from pydantic_ai import Agent, RunContext

from lastword import Outcome, Receipt, Run, Runtime, Session, Superseded
from lastword.agent.tools.shell import Shell
from lastword.engines.pydantic_ai import PydanticAI
from lastword.errors import NoSuchJob
from lastword.processes import Level
from lastword.testing.provider import Call, Provider
from tests.engines.wire import FORMATS, model
from tests.promise.stories import Latch
from tests.promise.workshop import fates, gone, until

ECHOING = "while read -r line; do echo got $line; done; echo over"
DAEMON = """(setsid sh -c 'echo $$ > daemon; exec sleep 300' &)
until [ -s daemon ]; do sleep 0.01; done"""


class Talk:
    """A run that does what it is told, call by call, until it is told to end."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[Callable[[Run], Awaitable[object]] | None] = asyncio.Queue()
        self.answers: asyncio.Queue[object] = asyncio.Queue()
        self.notes: list[str] = []
        self.runs: list[Run] = []

    async def engine(self, run: Run) -> None:
        self.runs.append(run)
        while work := await self.asked.get():
            try:
                self.answers.put_nowait(await work(run))
            except Exception as error:  # noqa: BLE001 - for whoever asked
                self.answers.put_nowait(error)

    async def does(self, work: Callable[[Run], Awaitable[object]]) -> str:
        self.asked.put_nowait(work)
        answer = await self.answers.get()
        if isinstance(answer, Exception):
            raise answer
        return str(answer)


@asynccontextmanager
async def talking(level: Level | Literal["auto"] = "tree") -> AsyncGenerator[tuple[Talk, Session]]:
    talk = Talk()
    async with Runtime(talk.engine, level=level, grace=0.2) as runtime:
        session = runtime.session("s")
        await session.send("go")
        yield talk, session


def id_in(text: str) -> str:
    found = re.search(r"\[it goes on as (p[\d-]+)", text)
    assert found, text
    return found[1]


async def shown(session: Session) -> list[str]:
    return [item.text for item in await session.history() if item.role == "note"]


@pytest.mark.scenario("P18", part="processes")
async def test_what_takes_longer_goes_on_and_is_read_written_to_signalled_and_ended() -> None:
    shell = Shell()
    async with talking() as (talk, session):
        first = await talk.does(
            lambda run: shell.run(run, f"echo up; {ECHOING}", wait=0.5, stdin=True)
        )
        id_ = id_in(first)
        assert first.startswith("up\n")
        assert f'shell_read("{id_}", 3)' in first
        assert "It ends with your answer" in first
        assert [job.id for job in session.processes] == [id_]

        nothing = await talk.does(lambda run: shell.read(run, id_, 3))
        assert nothing == f"[bytes 3 to 3 of 3; {id_} goes on; read on from 3]"
        written = await talk.does(lambda run: shell.write(run, id_, "one\ntwo\n"))
        assert "has been given it" in written
        await until(lambda: session.process(id_).output.endswith("got two\n"))
        assert (await talk.does(lambda run: shell.read(run, id_, 3, wait=60))).startswith(
            "got one\ngot two\n[bytes 3 to 19 of 19"
        )
        assert await talk.does(lambda run: shell.signal(run, id_, "stop")) == (
            f"[SIGSTOP was sent to {id_}]"
        )
        await talk.does(lambda run: shell.signal(run, id_, "SIGCONT"))
        await talk.does(lambda run: shell.write(run, id_, "", end=True))
        await until(lambda: session.process(id_).code == 0)
        assert await talk.does(lambda run: shell.read(run, id_, 19)) == (
            f"over\n[bytes 19 to 24 of 24; {id_} has ended: exit code 0]"
        )
        assert "has ended, so nothing was sent: exit code 0" in await talk.does(
            lambda run: shell.signal(run, id_, "TERM")
        )

        second = id_in(await talk.does(lambda run: shell.run(run, "sleep 300", wait=0)))
        assert second != id_
        assert await talk.does(lambda run: shell.end(run, second)) == (
            f"[{second} has ended: ended by SIGTERM]"
        )
        assert session.processes == ()
        assert await shown(session) == [f"{id_} has ended: exit code 0. It was: echo up; {ECHOING}"]


@pytest.mark.scenario("P18", part="processes")
@pytest.mark.parametrize("how", ["answered", "stopped", "taken over"])
async def test_it_ends_with_the_answer_and_the_model_is_told(how: str) -> None:
    shell = Shell()
    async with talking() as (talk, session):
        id_ = id_in(await talk.does(lambda run: shell.run(run, "sleep 301", wait=0)))
        job = session.process(id_)
        receipt: Receipt | None = None
        if how == "answered":
            talk.asked.put_nowait(None)
        elif how == "stopped":
            receipt = await session.stop()
        else:
            ticket = await session.send("now this", on_message="takeover")
            receipt = await ticket.receipt()
        await until(lambda: gone(job.pid))
        await until(lambda: job.code is not None)

        assert receipt is None or fates(receipt) == {"sleep 301": "ended"}
        assert session.processes == ()
        notes = [note for note in await shown(session) if id_ in note]
        assert notes == [
            f"{id_} has ended: ended by SIGTERM, with the answer that started it. It was: sleep 301"
        ]


@pytest.mark.scenario("P19", part="processes")
async def test_what_was_declared_to_stay_outlives_a_stop_and_later_answers_go_on_with_it(
    tmp_path: Path,
) -> None:
    shell = Shell(tmp_path)
    async with talking("auto") as (talk, session):
        text = await talk.does(
            lambda run: shell.run(run, f"echo up; {ECHOING}", stdin=True, background=True)
        )
        id_ = id_in(text)
        job = session.process(id_)
        assert "It goes on after your answer" in text
        receipt = await session.stop()
        assert receipt.quiet
        assert fates(receipt) == {f"echo up; {ECHOING}": "kept"}
        assert not gone(job.pid)

        await session.send("again")
        await talk.does(lambda run: shell.write(run, id_, "later\n"))
        await until(lambda: job.output == "up\ngot later\n")
        assert (await talk.does(lambda run: shell.read(run, id_))).startswith("up\ngot later\n")
        talk.asked.put_nowait(None)
        await until(lambda: not session.busy)
        assert await shown(session) == [
            "The person stopped this answer here. Do not resume it unless they ask."
        ]

        before = session.generation
        await job.end()  # by the person
        assert gone(job.pid)
        assert (session.generation, session.busy) == (before, False)  # its end starts no turn
        assert (await shown(session))[-1].startswith(
            f"{id_} has ended: ended by SIGTERM, as the person wanted. It was: echo up;"
        )
        assert not any("got later" in note for note in await shown(session))


@pytest.mark.scenario("P19", part="processes")
async def test_what_fails_at_once_in_the_background_is_told_so() -> None:
    async with talking() as (talk, session):
        told = await talk.does(
            lambda run: Shell().run(run, "echo no >&2; exit 7", wait=60, background=True)
        )
        assert told == "no\n[exit code 7]"
        assert await shown(session) == []


@pytest.mark.scenario("P20", part="processes")
async def test_a_run_that_was_stopped_does_nothing_to_what_it_had_going() -> None:
    shell = Shell()
    refused: list[str] = []

    async def late(run: Run, id_: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:  # in its last words
            job = run.jobs[id_]
            acts: dict[str, Callable[[], Awaitable[object]]] = {
                "read": lambda: shell.read(run, id_),
                "write": lambda: shell.write(run, id_, "late\n"),
                "signal": lambda: shell.signal(run, id_, "KILL"),
                "end": lambda: shell.end(run, id_),
                "job": job.end,
            }
            for name, act in acts.items():
                try:
                    await act()
                except Superseded:
                    refused.append(name)

    async with talking() as (talk, session):
        text = await talk.does(lambda run: shell.run(run, ECHOING, stdin=True, background=True))
        id_ = id_in(text)
        talk.asked.put_nowait(lambda run: late(run, id_))
        await until(talk.asked.empty)
        await session.stop()
        await until(lambda: len(refused) == 5)

        job = session.process(id_)
        assert refused == ["read", "write", "signal", "end", "job"]
        assert job.alive
        assert job.output == ""
        assert await job.write(b"mine\n")  # the person may
        await until(lambda: job.output == "got mine\n")


@pytest.mark.scenario("P20", part="processes")
async def test_what_was_written_and_not_read_when_the_run_was_stopped_is_never_read() -> None:
    shell = Shell()
    async with talking() as (talk, session):
        line = "until [ -e /dev/fd/9 ]; do read -r -t 300 line || break; echo ${#line}; done"
        line = f"kill -STOP $$; {line}"
        text = await talk.does(lambda run: shell.run(run, line, stdin=True, background=True))
        job = session.process(id_in(text))
        long = "x" * 200_000 + "\n"  # more than a pipe holds
        assert "the rest waits" in await talk.does(lambda run: shell.write(run, job.id, long))
        await session.stop()
        await job.signal(signal.SIGCONT)
        await job.write(b"\nnow\n")
        await until(lambda: job.output.endswith("3\n"))

        read = [int(count) for count in job.output.split()]
        assert read[-1] == 3
        assert sum(read[:-1]) <= 1 << 17  # as much as was in the pipe, and not all of it


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
            f"what has left it lives on until the run ends: {number} sleep"
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
        f"[ended: it took too long; what has left it lives on until the run ends: {number} sleep]"
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


async def test_an_id_that_nothing_has_is_told_with_those_that_go_on() -> None:
    shell = Shell()
    async with talking() as (talk, session):
        id_ = id_in(await talk.does(lambda run: shell.run(run, "sleep 300", wait=0)))
        with pytest.raises(NoSuchJob, match=f"the id 'p0'.*These go on: {id_}"):
            await talk.does(lambda run: shell.read(run, "p0"))
        with pytest.raises(NoSuchJob):
            session.process("p0")
        with pytest.raises(ValueError, match="started without an input; nothing was written"):
            await talk.does(lambda run: shell.write(run, id_, "x"))
        with pytest.raises(ValueError, match="no signal 'LOUD'"):
            await talk.does(lambda run: shell.signal(run, id_, "LOUD"))


async def test_of_what_is_not_kept_any_more_it_is_said_how_much() -> None:
    shell = Shell(output_limit=1000)
    async with talking() as (talk, session):
        text = await talk.does(lambda run: shell.run(run, "seq 500000; sleep 300", wait=0.2))
        job = session.process(id_in(text))
        await until(lambda: job.output.endswith("500000\n"))
        total = job.read().total
        middle = await talk.does(lambda run: shell.read(run, job.id, total // 2))
        missing, line = middle.split("\n")[:2]
        assert re.fullmatch(r"… [\d,]+ bytes were not kept …", missing)
        assert line.isdecimal() or line == ""
        end = await talk.does(lambda run: shell.read(run, job.id, total - 7))
        assert end.startswith(f"500000\n[bytes {total - 7:,} to {total:,} of {total:,};")


async def test_half_a_character_is_left_for_the_next_reading() -> None:
    shell = Shell()
    async with talking() as (talk, session):
        line = r"printf 'a\303'; read x; printf '\244'; read x"
        text = await talk.does(lambda run: shell.run(run, line, wait=0.2, stdin=True))
        job = session.process(id_in(text))
        await until(lambda: job.read().total == 2)
        assert (job.read().text, job.read().end) == ("a", 1)
        await job.write(b"\n")
        await until(lambda: job.read().total == 3)
        assert job.read(1).text == "ä"


@pytest.mark.scenario("P19", part="processes")
@pytest.mark.parametrize("format", FORMATS)
async def test_the_end_of_one_is_told_with_the_next_request(format: str) -> None:
    shell, latch, ids = Shell(), Latch(), list[str]()
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own, deps_type=Run)

        @agent.tool
        async def start(ctx: RunContext[Run]) -> str:
            text = await shell.run(ctx.deps, "read -r x; exit 3", wait=0, stdin=True)
            ids.append(id_in(text))
            return "started"

        @agent.tool_plain
        async def look() -> str:
            await latch.wait()
            return "seen"

        provider.answer(Call("start", {}))
        provider.answer(Call("look", {}))
        provider.say("So it ended.")
        provider.say("Bye.")
        async with Runtime(PydanticAI(agent, deps=lambda run: run)) as r:
            session = r.session("s")
            ticket = await session.send("go")
            await latch.came.wait()
            job = session.process(ids[0])
            await job.write(b"\n")
            await until(lambda: job.code == 3)
            latch.open.set()
            assert await ticket.outcome() == Outcome.COMPLETED
            note = f"[{job.id} has ended: exit code 3. It was: read -r x; exit 3]"
            asked = await provider.asked(3)
            assert asked.results == ["seen"]
            assert asked.prompt == note
            await (await session.send("bye")).outcome()
            assert str((await provider.asked(4)).messages).count(note) == 1
        assert provider.refused == []
