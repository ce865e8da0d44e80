"""What is on the disk, whoever leaves and however it ends; and what a sender hears if it is not."""

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from lastword import FeedEvent, Outcome, Reason, Receipt, Refused, Run, Runtime, Session
from lastword.core.entries import Finished, Said
from lastword.core.model import SessionId
from lastword.errors import OwnedElsewhere, StoreError
from lastword.stores.sqlite import SqliteStore
from lastword.testing.seeded import Trap, sweep
from tests.core.providers import check_all
from tests.promise.stories import Latch, a_while, answer, check_log, heard_by, runtime, talk
from tests.promise.workshop import until
from tests.stores.files import Heir, by_hand, locked, put

A_WHILE = 2.0  # seconds, after which what follows is taken to wait for the disk


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "lastword.db"


@asynccontextmanager
async def kept_in(file: Path) -> AsyncGenerator[SqliteStore]:
    """The file as the next process finds it."""
    store = SqliteStore(file)
    await store.open()
    yield store
    await store.close()


async def outcomes_in(file: Path) -> list[Outcome]:
    async with kept_in(file) as store:
        [session] = await store.sessions()
        return [e.outcome for e in await store.entries(session) if isinstance(e, Finished)]


@pytest.mark.scenario("A9", part="library")
async def test_a_sender_who_leaves_takes_nothing_along() -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        await latch.wait()
        await run.emit("done")

    async with Runtime(engine) as r:
        session = r.session("s")
        events = heard_by(session)

        async def send() -> None:
            (await session.send("go")).close()
            await asyncio.sleep(3600)

        sender = asyncio.create_task(send())
        await latch.came.wait()
        sender.cancel()
        await asyncio.wait([sender])
        latch.open.set()
        while session.busy:
            await asyncio.sleep(0)
        await session.log()
        assert [event.kind for event in events if event.kind in {"text", "finished"}] == [
            "text",
            "finished",
        ]


@pytest.mark.scenario("A11")
async def test_a_stop_that_nobody_is_left_to_wait_for_is_on_the_disk(file: Path) -> None:
    began = asyncio.Event()

    async def engine(run: Run) -> None:
        began.set()
        await talk(run)

    async with Runtime(engine, store=f"sqlite:{file}") as r:
        session = r.session("s")
        ticket = await session.send("go")
        await began.wait()

        async def stop() -> None:
            await asyncio.sleep(0)
            await session.stop()

        stopping = asyncio.create_task(stop())
        await asyncio.sleep(0)
        stopping.cancel()  # before it has said a word, or right after
        await asyncio.wait([stopping])
        session.stop()  # and one that nobody awaits
        assert await ticket.outcome() == Outcome.STOPPED
    assert await outcomes_in(file) == [Outcome.STOPPED]


@pytest.mark.scenario("A11")
@pytest.mark.scenario("D7")
async def test_an_orderly_shutdown_writes_what_it_ended_and_a_receipt(file: Path) -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        await run.emit("I was going to say ")
        await latch.wait_stubbornly()  # it will not unwind in time

    async with Runtime(engine, store=f"sqlite:{file}", deadline=0.2) as r:
        tickets = [await r.session("s").send("go")]
        await latch.came.wait()
        tickets.append(await r.session("s").send("and then", on_message="queue"))
    assert [await ticket.outcome() for ticket in tickets] == [Outcome.SHUTDOWN] * 2
    latch.open.set()

    async with kept_in(file) as store:
        [session] = await store.sessions()
        log = await store.entries(session)
    [receipt] = [entry for entry in log if isinstance(entry, Receipt)]
    assert receipt.reason is Reason.SHUTDOWN
    assert receipt.runs == (tickets[0].run,)
    assert [one.kind for one in receipt.unconfirmed] == ["run"]
    assert {e.outcome for e in log if isinstance(e, Finished)} == {Outcome.SHUTDOWN}


@pytest.mark.scenario("I3")
@pytest.mark.parametrize("durable", [False, True])
async def test_a_session_made_again_is_not_the_old_run_s_to_speak_in(
    file: Path, *, durable: bool
) -> None:
    latch = Latch()
    spoke: list[str] = []

    async def engine(run: Run) -> None:
        if run.message.text == "old":
            await latch.wait_stubbornly()
            await run.emit("from the grave")
        spoke.append(run.message.text)
        await run.emit("new")

    address = f"sqlite:{file}" if durable else "memory:"
    async with Runtime(engine, store=address, deadline=0.1) as r:
        await r.session("s").send("old")
        await latch.came.wait()
        before = r.session("s").generation
        await r.delete("s")
        session = r.session("s")
        events = heard_by(session)
        ticket = await session.send("new")
        latch.open.set()
        assert await ticket.outcome() == Outcome.COMPLETED
        while "old" not in spoke:
            await asyncio.sleep(0)
        await session.log()
        assert session.generation > before
        assert [event.text for event in events if event.kind == "text"] == ["new"]
        assert [item.text for item in await session.history()] == ["new", "new"]


@pytest.mark.scenario("S20", part="library")
async def test_who_comes_back_gets_what_was_missed_and_nothing_after_the_end() -> None:
    async with Runtime(talk) as r:
        session = r.session("s")
        await session.send("go")
        seen = [event async for event in first(session, 5)]
        await session.stop()
        missed: list[FeedEvent] = []
        async for event in session.events(after=5):
            missed.append(event)
            if event.kind == "receipt":
                break

        numbers = [event.number for event in (*seen, *missed)]
        assert numbers == list(range(1, len(numbers) + 1))
        kinds = [event.kind for event in missed]
        assert "text" not in kinds[kinds.index("finished") :]
        assert kinds[-1] == "receipt"


async def first(session: Session, count: int, after: int = 0) -> AsyncGenerator[FeedEvent]:
    async for event in session.events(after=after):
        yield event
        count -= 1
        if not count:
            return


@pytest.mark.scenario("X1", part="library")
def test_stopped_at_any_step_of_a_turn_the_next_request_is_valid_for_strict_providers() -> None:
    async def look(number: int) -> str:
        await asyncio.sleep(0.01)
        return f"found {number}"

    async def engine(run: Run) -> None:
        if run.message.text != "go":
            check_all(run.history, request=True)
            return
        await run.emit("Let me see. ")
        calls = [run.intend(look, number) for number in range(3)]
        await asyncio.gather(*(run.task(call()) for call in calls))
        await run.emit("One moment. ")
        await run.call(look, 3)
        await run.emit("Done.")

    async def story(trap: Trap) -> None:
        async with runtime(engine) as r:
            session = r.session("s")
            trap.set("run s#1", lambda _: session.stop())
            await session.send("go")
            await a_while()
            check_all(await session.history())
            again = await session.send("and now?")
            assert await again.outcome() == Outcome.COMPLETED, again.error
            await check_log(session)

    assert sweep(story) > 10


# what a sender hears


async def refused(session: Session) -> str:
    """What the sender is told; and nothing of the message is kept."""
    with pytest.raises(Refused) as error:
        await session.send("is anybody there?", id="lost")
    assert not session.busy
    return str(error.value)


async def said_in(file: Path) -> list[str]:
    async with kept_in(file) as store:
        logs = [await store.entries(session) for session in await store.sessions()]
    return [e.message.text for log in logs for e in log if isinstance(e, Said)]


@pytest.mark.scenario("D6", part="sqlite")
async def test_a_database_that_another_program_locks_takes_nothing_until_it_is_free(
    file: Path,
) -> None:
    async with Runtime(answer, store=SqliteStore(file, patience=0.05)) as r:
        session = r.session("s")
        await (await session.send("first")).outcome()
        with locked(file):
            assert "keeps it locked" in await refused(session)
        assert await (await session.send("second")).outcome() == Outcome.COMPLETED
        await check_log(session)
    assert await said_in(file) == ["first", "second"]


@pytest.mark.scenario("D6", part="sqlite")
async def test_a_disk_that_is_full_takes_nothing_and_loses_nothing(
    small_disk: Path, tmp_path: Path
) -> None:
    file = small_disk / "lastword.db"
    accepted: list[str] = []
    async with Runtime(answer, store=f"sqlite:{file}") as r:
        session = r.session("s")
        with pytest.raises(Refused, match="the disk is full"):  # noqa: PT012 - it is, in time
            for number in range(1000):
                await session.send(f"{number} " + "x" * 10_000, on_message="queue")
                accepted.append(f"{number}")
                with suppress(TimeoutError):  # what follows it may wait for the disk, and does
                    async with asyncio.timeout(A_WHILE):
                        await until(lambda: not session.busy)
    elsewhere = shutil.copytree(small_disk, tmp_path / "elsewhere") / file.name
    assert [text.partition(" ")[0] for text in await said_in(elsewhere)] == accepted
    assert accepted


@pytest.mark.scenario("D6", part="sqlite")
async def test_a_file_that_is_no_database_is_not_opened_and_not_touched(file: Path) -> None:
    put(file, b"not a database at all, but a long letter " * 200)
    before = file.read_bytes()  # noqa: ASYNC240 - it is small
    with pytest.raises(StoreError, match=r"lastword\.db"):
        async with Runtime(answer, store=f"sqlite:{file}"):
            pass
    assert file.read_bytes() == before  # noqa: ASYNC240


@pytest.mark.scenario("D6", part="sqlite")
async def test_a_log_that_cannot_be_read_is_said_to_the_sender(file: Path) -> None:
    async with Runtime(answer, store=f"sqlite:{file}") as r:
        await (await r.session("s").send("first")).outcome()
    with by_hand(file) as db:
        db.execute("UPDATE entries SET body = 'no JSON'")
    async with Runtime(answer, store=f"sqlite:{file}") as r:
        ticket = await r.session("s").send("second")
        assert await ticket.outcome() == Outcome.FAILED
        assert "this lastword cannot read" in ticket.error


@pytest.mark.scenario("D5", part="sqlite")
async def test_a_run_whose_session_another_process_took_falls_silent(file: Path) -> None:
    said: list[str] = []

    async def sink(event: FeedEvent) -> None:
        if event.kind == "text":
            said.append(event.text)

    async with Runtime(talk, store=f"sqlite:{file}", sink=sink) as r:
        session = r.session("s")
        ticket = await session.send("go")
        while not said:
            await asyncio.sleep(0)
        other = Heir(file)  # to whom this process seems to have died
        await other.open()
        while await took(other, "s") is None:
            await asyncio.sleep(0)
        assert await ticket.outcome() == Outcome.LOST
        heard = len(said)
        with pytest.raises(Refused, match="belongs to"):
            await session.send("still mine?")
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(said) == heard
        written = await other.entries(SessionId("s"))
        await other.close()
    async with kept_in(file) as store:
        assert await store.entries(SessionId("s")) == written


async def took(store: SqliteStore, session: str) -> object:
    try:
        return await store.load(SessionId(session))
    except OwnedElsewhere:
        return None


async def test_a_session_that_another_process_has_says_whose_it_is(file: Path) -> None:
    async with Runtime(answer, store=f"sqlite:{file}") as first_one:
        await (await first_one.session("s").send("mine")).outcome()
        async with Runtime(answer, store=f"sqlite:{file}") as second:
            with pytest.raises(Refused, match="session s belongs to"):
                await second.session("s").send("mine, too")
            assert await (await second.session("t").send("yours")).outcome() == Outcome.COMPLETED
    async with Runtime(answer, store=f"sqlite:{file}") as third:
        assert await (await third.session("s").send("now")).outcome() == Outcome.COMPLETED
