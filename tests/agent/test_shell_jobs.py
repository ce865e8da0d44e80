"""P18 to P20, P29. What takes longer goes on under an id: read, told, signalled, ended by that."""

import asyncio
import re
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

import pytest
from pydantic_ai import Agent, RunContext

from lastword import Outcome, Receipt, Run, Runtime, Superseded
from lastword.agent.tools.shell import Shell
from lastword.engines.pydantic_ai import PydanticAI
from lastword.errors import NoSuchJob
from lastword.runtime.jobs import Job
from lastword.testing.provider import Call, Provider
from tests.agent.call_by_call import id_in, shown, talking
from tests.engines.wire import FORMATS, model
from tests.promise.stories import Latch
from tests.promise.workshop import fates, gone, until

ECHOING = "while read -r line; do echo got $line; done; echo over"


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
        assert f"[nothing was sent: {id_} has ended: exit code 0]" in await talk.does(
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


@pytest.mark.scenario("P29", part="processes")
async def test_a_later_process_tells_the_model_of_what_has_ended_with_the_one_before(
    tmp_path: Path,
) -> None:
    shell = Shell()
    store = f"sqlite:{tmp_path / 'store.db'}"
    async with talking(store=store) as (talk, session):
        for line in ("sleep 301", "sleep 302", "sleep 303"):
            await talk.does(lambda run, line=line: shell.run(run, line, wait=0, background=True))
        one, two, three = (job.id for job in session.processes)
        await talk.does(lambda run: shell.end(run, two))  # which it knows
        talk.asked.put_nowait(None)
        await until(lambda: not session.busy)
        await session.process(three).end()
        told = await shown(session)
    assert [note.split(" ")[0] for note in told] == [three]

    for _ in range(2):  # once, however often it is started
        async with talking(store=store) as (_, session):
            assert [note for note in await shown(session) if "has ended" in note] == [
                *told,
                f"{one} has ended: lastword itself had ended, and it with that. It was: sleep 301",
            ]


@pytest.mark.scenario("P19", part="processes")
async def test_what_fails_at_once_in_the_background_is_told_so() -> None:
    async with talking() as (talk, session):
        told = await talk.does(
            lambda run: Shell().run(run, "echo no >&2; exit 7", wait=60, background=True)
        )
        assert told == "no\n[exit code 7]"
        assert await shown(session) == []


@pytest.mark.scenario("P18", part="processes")
@pytest.mark.parametrize("level", ["group", "tree", "auto"])
async def test_a_signal_reaches_what_a_shell_waits_for_as_a_terminals_would(
    level: Literal["group", "tree", "auto"],
) -> None:
    shell = Shell()
    async with talking(level) as (talk, session):
        line = "sh -c 'trap \"echo heard; exit 3\" INT; echo up; while :; do sleep 0.01; done'; :"
        id_ = id_in(await talk.does(lambda run: shell.run(run, line, wait=0)))
        job = session.process(id_)
        await until(lambda: job.output == "up\n")
        await talk.does(lambda run: shell.signal(run, id_, "INT"))
        await until(lambda: job.code is not None)
        assert job.output == "up\nheard\n"


async def _output(job: Job) -> str:
    return job.output


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
                "output": lambda: _output(job),
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
        await until(lambda: len(refused) == 6)

        job = session.process(id_)
        assert refused == ["read", "write", "signal", "end", "job", "output"]
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
