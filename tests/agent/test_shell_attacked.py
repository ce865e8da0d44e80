"""P30, P31. What an attack on commands that go on has found: ids, ends, inputs, and who is told."""

import asyncio
import signal
from collections.abc import Awaitable

import pytest

from lastword import Run, Runtime
from lastword.agent.tools.shell import Shell
from lastword.core.entries import Entry, Note
from lastword.core.model import SessionId
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from tests.agent.call_by_call import id_in, shown, talking
from tests.promise.workshop import fates, gone, until

P30 = pytest.mark.scenario("P30", part="processes")
P31 = pytest.mark.scenario("P31", part="processes")
DEAF = "trap '' TERM; echo up; while :; do sleep 0.05; done"


@P30
async def test_those_that_start_at_once_have_an_id_each_and_stay() -> None:
    shell = Shell()
    async with talking() as (talk, session):

        async def several(run: Run) -> list[str]:
            lines = [f"sleep 30{number}" for number in range(4)]
            stay = [shell.run(run, line, wait=0, background=True) for line in lines]
            return await asyncio.gather(*stay, shell.run(run, "sleep 304", wait=0))

        answers: list[str] = []
        await talk.does(lambda run: _extended(answers, several(run)))
        *stay, ends = answers
        ids = [id_in(text) for text in (*stay, ends)]

        assert len(set(ids)) == 5
        assert all("It goes on after your answer" in text for text in stay)
        assert "It ends with your answer" in ends
        assert sorted(job.id for job in session.processes) == sorted(ids)
        receipt = await session.stop()
        assert list(fates(receipt).values()).count("kept") == 4
        assert [job.kept for job in session.processes] == [True] * 4


async def _extended(answers: list[str], work: Awaitable[list[str]]) -> None:
    answers += await work


@P30
async def test_an_id_is_never_given_again_and_who_ended_last_is_remembered() -> None:
    shell = Shell()
    async with talking() as (talk, session):
        first = id_in(await talk.does(lambda run: shell.run(run, "echo one; cat", 0.5, stdin=True)))
        given = [first]
        for _ in range(20):
            text = await talk.does(lambda run: shell.run(run, "sleep 300", wait=0))
            given.append(id_in(text))
            await session.process(given[-1]).end(0)
        await session.process(first).end(0)

        assert len(set(given)) == 21
        assert session.process(first).output == "one\n"
        assert not session.process(given[-1]).alive


@P30
@pytest.mark.parametrize("level", ["tree", "auto"])
async def test_what_a_first_process_leaves_goes_on_under_its_id(level: str) -> None:
    shell = Shell()
    async with talking("auto" if level == "auto" else "tree") as (talk, session):
        line = "(sleep 0.2; echo later; exec sleep 300) & echo up"
        text = await talk.does(lambda run: shell.run(run, line, background=True))
        id_ = id_in(text)
        job = session.process(id_)
        assert "Now its first process has ended (exit code 0), and what it left is still" in text
        assert f"[nothing was sent: {id_} goes on: its first process" in await talk.does(
            lambda run: shell.signal(run, id_, "TERM")
        )
        await until(lambda: job.output == "up\nlater\n")
        receipt = await session.stop()
        assert [(p.command, p.fate) for p in receipt.processes] == [
            (f"sleep, left by {line}", "kept")
        ]
        [left] = receipt.processes
        assert not gone(left.pid)
        assert [span.ended_at for span in session.spans] == [None]
        assert not any("has ended" in note for note in await shown(session))

        await job.end()
        assert gone(left.pid)
        assert [note for note in await shown(session) if "has ended" in note] == [
            f"{id_} has ended: exit code 0, as the person wanted. It was: {line}"
        ]


class Gated(MemoryStore):
    """Reads nothing until it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may, self.noted = asyncio.Event(), asyncio.Event()
        self.may.set()

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        await self.may.wait()
        return await super().entries(session, after)

    async def commit(self, write: Write) -> None:
        await super().commit(write)
        if any(isinstance(entry, Note) for entry in write.entries):
            self.noted.set()


@P31
async def test_what_is_in_the_history_of_a_new_run_it_is_not_told_again() -> None:
    shell, store, told = Shell(), Gated(), list[str]()

    async def engine(run: Run) -> None:
        if run.messages[0].text == "go":
            await shell.run(run, "sleep 300", wait=0)
            await asyncio.Event().wait()
        told.extend(item.text for item in run.history if item.role == "note")
        told.extend(run.notes())

    async with Runtime(engine, level="tree", grace=0.2, store=store) as r:
        await r.session("s").send("go")
        await until(lambda: r.session("s").processes)
        store.may.clear()
        ticket = await r.session("s").send("another", on_message="takeover")
        await store.noted.wait()
        store.may.set()
        await ticket.outcome()

    assert len([text for text in told if "has ended" in text]) == 1


@P31
async def test_who_gives_up_waiting_for_an_end_has_nothing_told_that_is_not_so() -> None:
    shell = Shell()
    async with talking() as (talk, session):
        text = await talk.does(lambda run: shell.run(run, DEAF, wait=0.3, background=True))
        job = session.process(id_in(text))
        await until(lambda: job.output)
        waiting = asyncio.create_task(job.end(300))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert await shown(session) == []
        await job.end(0)

        [note] = await shown(session)
        assert note.startswith(f"{job.id} has ended: ended by SIGKILL, as the person wanted.")


@P31
async def test_what_is_being_ended_when_a_stop_comes_is_not_told_as_kept() -> None:
    shell = Shell(grace=0.5)
    async with talking() as (talk, session):
        text = await talk.does(lambda run: shell.run(run, DEAF, wait=0.3, background=True))
        job = session.process(id_in(text))
        await until(lambda: job.output)
        talk.asked.put_nowait(lambda run: shell.end(run, job.id))
        await until(talk.asked.empty)
        await asyncio.sleep(0)
        receipt = await session.stop()

        assert fates(receipt) == {DEAF: "killed"}
        assert receipt.quiet
        assert gone(job.pid)
        assert any(f"{job.id} has ended: ended by SIGKILL" in n for n in await shown(session))


@P31
async def test_the_end_of_input_of_a_stopped_run_is_never_read() -> None:
    shell = Shell()
    async with talking() as (talk, session):
        line = "kill -STOP $$; cat | wc -c; echo over"
        text = await talk.does(lambda run: shell.run(run, line, stdin=True, background=True))
        job = session.process(id_in(text))
        await talk.does(lambda run: shell.write(run, job.id, "x" * 900_000, end=True))
        await session.stop()
        assert not await job.write(b"mine" * 100_000)  # it does not read yet; the person may
        await job.signal(signal.SIGCONT)
        await job.write(b"", last=True)
        await until(lambda: "over" in job.output)

        count = int(job.output.split()[0])
        assert 400_000 <= count <= 400_000 + (1 << 17)  # what was in the pipe already is read


@P31
async def test_the_end_of_input_at_a_terminal_is_a_key_and_more_can_be_typed() -> None:
    shell = Shell()
    async with talking() as (talk, session):
        line = "cat; echo between; cat; echo over"
        id_ = id_in(await talk.does(lambda run: shell.run(run, line, wait=0, pty=True)))
        job = session.process(id_)
        await talk.does(lambda run: shell.write(run, id_, "one\n", end=True))
        await until(lambda: "between" in job.output)
        await talk.does(lambda run: shell.write(run, id_, "two", end=True))
        await until(lambda: not job.alive)
        assert "over" in job.output


@P30
async def test_a_name_that_comes_after_the_end_leaves_it_ended() -> None:
    async with talking() as (talk, session):

        async def named_late(run: Run) -> None:
            process = await run.spawn("true")
            await process.wait()
            run.job(process)

        await talk.does(named_late)
        assert [span.ended_at is not None for span in session.spans] == [True]


@P30
async def test_half_a_character_and_a_small_piece_get_on() -> None:
    shell = Shell()
    async with talking() as (talk, session):
        line = "printf 'a\\303'; read -r go; printf '\\251b'; read -r go"
        text = await talk.does(lambda run: shell.run(run, line, wait=0.5, stdin=True))
        id_ = id_in(text)
        assert text.startswith("a\n[it goes on")
        assert f'shell_read("{id_}", 1)' in text
        job = session.process(id_)
        await job.write(b"\n")
        await until(lambda: job.read().total == 4)
        assert (await talk.does(lambda run: shell.read(run, id_, 1))).startswith("éb\n")
        read = [job.read(1, 1)]
        while read[-1].end < 4:
            read.append(job.read(read[-1].end, 1))
        assert "".join(piece.text for piece in read) == "éb"

        with pytest.raises(ValueError, match="at most 1,048,576 bytes can be written at once"):
            await job.write(b"x" * (1 << 21))


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (r"\033\000[31mred\033[0m", "red"),
        (r"\033]0;title\007rest", "rest"),
        (r"\033]0;never\nends", "ends"),
        (r"a\033\033[0m[31mb\177", "a[31mb"),
    ],
)
async def test_no_escape_is_left_in_what_a_model_is_told(written: str, told: str) -> None:
    async with talking() as (talk, _):
        answer = await talk.does(lambda run: Shell().run(run, f"printf '{written}'"))
    assert answer == f"{told}\n[exit code 0]"
