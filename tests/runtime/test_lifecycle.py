"""Closing, deleting, retrying: at any moment, from anywhere, and nothing half done."""

import asyncio
from contextlib import suppress

import pytest

from lastword import Outcome, Run, Runtime
from lastword.core.entries import Finished
from lastword.core.model import SessionId
from lastword.errors import StoreError, Undurable, UnknownSession
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, OneAtATime, a_while, answer, check_log, runtime, talk


async def nothing(run: Run) -> None:
    return


@pytest.mark.parametrize("later", [0, 0.05, 0.15, 0.25, 0.35])
def test_closing_leaves_no_message_without_an_outcome_and_nothing_unwritten(
    later: float, schedules: int
) -> None:
    class Slow(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.closed = False

        async def commit(self, write: Write) -> None:
            await asyncio.sleep(0.1)
            assert not self.closed
            await super().commit(write)

        async def close(self) -> None:
            self.closed = True

    async def story() -> None:
        store = Slow()
        async with runtime(nothing, store=store) as r:
            ticket = await r.session("s").send("go")
            await asyncio.sleep(later)  # preparing, going, or ended and on its way to the store
        await a_while()

        assert ticket.done
        assert store.closed
        log = await store.entries(SessionId("s"))
        assert [type(entry) for entry in log].count(Finished) == 1

    explore(story, schedules)


def test_a_runtime_can_be_closed_from_inside_a_run_and_by_several_at_once(schedules: int) -> None:
    async def story() -> None:
        made: list[Runtime] = []

        async def engine(run: Run) -> None:
            await made[0].close()

        async with runtime(engine) as r:
            made.append(r)
            ticket = await r.session("s").send("close yourself")
            await asyncio.gather(r.close(), r.close())
            assert await ticket.outcome() in {Outcome.SHUTDOWN, Outcome.COMPLETED}
        await a_while()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    explore(story, schedules)


def test_a_sender_who_meets_a_closing_runtime_is_told_so(schedules: int) -> None:
    async def story() -> None:
        answers: list[str] = []

        async with runtime(answer) as r:

            async def send(number: int) -> None:
                try:
                    await (await r.session(f"s{number}").send("x")).outcome()
                    answers.append("ok")
                except Exception as error:  # noqa: BLE001 - a CancelledError would get past this
                    answers.append(type(error).__name__)

            sending = [asyncio.create_task(send(number)) for number in range(4)]
            await asyncio.sleep(0)
        await asyncio.gather(*sending)

        assert set(answers) <= {"ok", "RuntimeClosed"}
        assert len(answers) == 4

    explore(story, schedules)


class Fragile(MemoryStore):
    """A store whose next deletion or commits fail as told."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[BaseException] = []

    async def commit(self, write: Write) -> None:
        await asyncio.sleep(0)
        if self.errors:
            raise self.errors.pop()
        await super().commit(write)

    async def delete(self, session: SessionId) -> None:
        await asyncio.sleep(0.05)
        if self.errors:
            raise self.errors.pop()
        await super().delete(session)


async def test_a_deletion_that_fails_leaves_the_session_as_it_was() -> None:
    store = Fragile()
    async with Runtime(answer, store=store) as r:
        await (await r.session("s").send("go")).outcome()
        store.errors.append(OSError("disk"))
        with pytest.raises(StoreError, match="disk"):
            await r.delete("s")

        assert await (await r.session("s").send("still there")).outcome() == Outcome.COMPLETED
        assert len(await r.session("s").history()) == 4


async def test_a_run_may_delete_its_own_session() -> None:
    made: list[Runtime] = []

    async def forget(run: Run) -> None:
        if run.message.text == "/forget":
            await made[0].delete(run.session)

    async with Runtime(forget) as r:
        made.append(r)
        ticket = await r.session("s").send("/forget")
        assert await ticket.outcome() == Outcome.SHUTDOWN
        with suppress(UnknownSession):  # unless it is done already
            await r.delete("s")
        again = await r.session("s").send("hello")
        assert await again.outcome() == Outcome.COMPLETED


def test_deletions_at_once_are_one_and_what_comes_after_stands(schedules: int) -> None:
    async def story() -> None:
        store = Fragile()

        async def work(run: Run) -> None:
            await (answer(run) if run.message.text == "new" else talk(run))

        async with runtime(OneAtATime(work), store=store, queue_on_stop="keep") as r:
            session = r.session("d")
            await session.send("one")
            waiting = await session.send("two", on_message="queue")
            deleting = [asyncio.create_task(r.delete("d")) for _ in range(3)]
            receipts = [await one for one in deleting]

            assert await waiting.outcome() == Outcome.SHUTDOWN
            assert len({receipt.generation for receipt in receipts}) == 1
            new = await r.session("d").send("new")
            assert await new.outcome() == Outcome.COMPLETED
            await check_log(r.session("d"))

    explore(story, schedules)


@pytest.mark.parametrize("error", [OSError("full"), asyncio.CancelledError(), StoreError("no")])
async def test_whatever_a_store_raises_the_sender_is_told_and_the_retry_is_new(
    error: BaseException,
) -> None:
    store = Fragile()
    async with Runtime(answer, store=store) as r:
        session = r.session("s")
        store.errors.append(error)
        with pytest.raises(Undurable, match="message a could not be stored"):
            await session.send("a", id="a")
        assert not session.busy
        ticket = await session.send("a", id="a")

        assert await ticket.outcome() == Outcome.COMPLETED
        await check_log(session)


async def test_the_same_request_is_acknowledged_when_the_first_is_durable_and_not_before() -> None:
    store = Fragile()
    async with Runtime(answer, store=store) as r:
        session = r.session("s")
        store.errors.append(OSError("full"))
        both = await asyncio.gather(
            session.send("a", id="a"), session.send("a", id="a"), return_exceptions=True
        )
        assert [type(one) for one in both] == [Undurable, Undurable]

        ticket = await session.send("b", id="b")
        ticket.close()
        again = await session.send("b", id="b")
        assert again.message.text == "b"
        assert await again.outcome() == Outcome.COMPLETED
        old = await session.send("b", id="b")
        assert await old.outcome() == Outcome.COMPLETED
        assert old.message.text == "b"


async def test_an_id_of_lastwords_own_form_is_not_for_senders() -> None:
    async with Runtime(answer) as r:
        for id in ("m2", ""):  # noqa: A001 - what it is
            with pytest.raises(ValueError, match="must not be empty, nor like m1, m2"):
                await r.session("s").send("mine", id=id)


async def test_a_store_that_hangs_delays_no_stop_and_is_asked_for_nothing_more() -> None:
    class Hanging(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.latch: Latch | None = None

        async def commit(self, write: Write) -> None:
            if self.latch:
                await self.latch.wait()
            await super().commit(write)

    store = Hanging()
    async with Runtime(talk, store=store, deadline=0.2) as r:
        session = r.session("s")
        ticket = await session.send("go")
        await ticket.started()
        store.latch = Latch()
        receipt = await session.stop()

        assert not receipt.durable
        assert not ticket.done  # the next process would not know
        with pytest.raises(Undurable, match="has not answered since a stop"):
            await session.send("more")
        store.latch.open.set()
        assert await ticket.outcome() == Outcome.STOPPED
        assert await (await session.send("more")).started()


def test_a_kept_child_of_a_child_comes_home_to_the_person(schedules: int) -> None:
    async def story() -> None:
        finish = Latch()
        heard: list[str] = []

        async def grand(run: Run) -> None:
            await finish.wait()
            await run.emit("found it")

        async def child(run: Run) -> None:
            await run.child("look", engine=grand, keep=True)

        async def engine(run: Run) -> None:
            heard.append(run.message.text)
            if run.message.text == "go":
                await (await run.child("help", engine=child)).outcome()

        async with runtime(engine) as r:
            session = r.session("s")
            await (await session.send("go")).outcome()
            finish.open.set()
            await a_while()

            assert heard == ["go", "found it"]
            assert not session.busy

            await session.send("go")
            await a_while()
            finish.open.clear()
            await session.send("go")
            await a_while()
            await r.delete("s")
            finish.open.set()
            await a_while()
            assert await r.sessions() == ()

    explore(story, schedules)


async def test_a_child_that_could_not_be_stored_never_was() -> None:
    store = Fragile()

    async def engine(run: Run) -> None:
        store.errors.append(OSError("full"))
        with pytest.raises(Undurable):
            await run.child("help", engine=talk)
        await talk(run)

    async with Runtime(engine, store=store) as r:
        session = r.session("s")
        events = session.events()
        await session.send("go")
        while (await anext(events)).kind != "text":
            pass
        receipt = await session.stop()

        assert receipt.children == ()
        assert await r.sessions() == ("s",)


async def test_an_eager_loop_changes_nothing() -> None:
    factory = getattr(asyncio, "eager_task_factory", None)
    if factory is None:
        pytest.skip("this Python has no eager tasks (3.12 has)")
    asyncio.get_running_loop().set_task_factory(factory)
    async with Runtime(answer) as r:
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED
        assert [item.text for item in await session.history()] == ["go", "re: go"]
        await check_log(session)
