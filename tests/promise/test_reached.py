"""N. What another process over the same database has is stopped from here, and taken over."""

import asyncio
import json
import logging
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lastword import NotAllowed, Outcome, Receipt, Run, Runtime, Session, StaleRun
from lastword.core.model import SessionId
from lastword.errors import OwnedElsewhere
from lastword.stores.contract import StoredSession
from lastword.stores.postgres import PostgresStore
from lastword.stores.reach import Answer
from tests.promise.stories import OneAtATime, answer, heard_by, runtime
from tests.promise.workshop import STUBBORN, gone, until


async def waits(run: Run) -> None:
    await run.emit("working on it")
    await asyncio.Event().wait()


@asynccontextmanager
async def two(
    address: str, engine: Callable[..., Any] = waits, **settings: Any
) -> AsyncGenerator[tuple[Session, Session]]:
    """A session that runs, as the process that has it sees it, and as another does."""
    async with (
        runtime(engine, store=address, **settings) as mine,
        runtime(answer, store=address, **settings) as theirs,
    ):
        ticket = await mine.session("s").send("go", by="ann")
        await ticket.started()
        await mine.session("s").log()  # until that is durable
        yield mine.session("s"), theirs.session("s")


# a stop


@pytest.mark.scenario("N1", part="postgres")
async def test_a_stop_is_made_where_the_run_is_and_its_receipt_comes_from_there(
    postgres: str,
) -> None:
    async with two(postgres) as (mine, theirs):
        seen = heard_by(mine)
        receipt = await theirs.stop(said="enough")

        assert receipt.quiet
        assert receipt.durable
        assert receipt.runs == ("s#1",)
        assert not mine.busy
        await until(lambda: any(event.kind == "receipt" for event in seen))
        [there] = [event.fact for event in seen if isinstance(event.fact, Receipt)]
        assert there == receipt
        assert [one for one in await theirs.log() if isinstance(one, Receipt)] == [receipt]
        assert "The person said why: enough" in [item.text for item in await theirs.history()]


@pytest.mark.scenario("N1", part="postgres")
async def test_a_stop_of_what_is_idle_elsewhere_says_so_and_touches_nothing(postgres: str) -> None:
    async with two(postgres, answer) as (mine, theirs):
        await until(lambda: not mine.busy)
        receipt = await theirs.stop()
        assert not receipt
        assert receipt.quiet
        assert await (await mine.send("again")).outcome() == Outcome.COMPLETED


@pytest.mark.scenario("N1", part="postgres")
async def test_a_stop_that_names_a_run_or_has_no_right_is_refused_by_the_owner(
    postgres: str,
) -> None:
    async with two(postgres, stoppers={"ann"}) as (mine, theirs):
        with pytest.raises(StaleRun, match="run s#9 is neither active nor waiting"):
            await theirs.stop(run="s#9")
        with pytest.raises(NotAllowed, match="'bob' has no right to stop s#1"):
            await theirs.stop(by="bob")
        assert mine.busy
        assert (await theirs.stop(run="s#1", by="ann")).runs == ("s#1",)


async def test_what_is_still_ending_elsewhere_is_named_and_settles(postgres: str) -> None:
    async def stubborn(run: Run) -> None:
        process = await run.spawn(shell=STUBBORN)
        async for _ in process.stdout:
            break
        pids.append(process.pid)
        await run.emit("it is up")
        await asyncio.Event().wait()

    pids: list[int] = []
    settings = {"grace": 0.2, "deadline": 0.25}
    async with two(postgres, stubborn, **settings) as (_, theirs):
        await until(lambda: pids)
        receipt = await theirs.stop()
        settled = await receipt.settled()
        assert settled.quiet
        assert gone(pids[0])


async def test_a_stop_does_not_wait_for_a_stalled_loop_to_be_made(postgres: str) -> None:
    stalled, woken, current = threading.Event(), threading.Event(), list[bool]()

    async def stalls(run: Run) -> None:
        await run.emit("about to")
        stalled.set()
        woken.wait(60)
        current.append(run.current)

    async with runtime(stalls, store=postgres) as mine:
        ticket = await mine.session("s").send("go")

        def elsewhere() -> Receipt:
            async def stop() -> Receipt:
                async with Runtime(answer, store=postgres, deadline=0.5) as theirs:
                    stalled.wait(60)
                    receipt = await theirs.session("s").stop()
                    woken.set()
                    return await receipt.settled()

            return asyncio.run(stop())

        receipt = await asyncio.to_thread(elsewhere)
        assert current == [False]
        assert receipt.runs == ("s#1",)
        assert await ticket.outcome() == Outcome.STOPPED


@pytest.mark.scenario("N2", part="postgres")
async def test_who_asks_is_answered_at_the_deadline_though_the_owner_is_not_heard_of(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = list[str]()

    def deaf(_: object, __: str, asked: str, ___: Answer) -> None:
        heard.append(asked)

    monkeypatch.setattr("lastword.runtime.asked_here.AskedHere.asked", deaf)
    async with two(postgres, deadline=0.5, grace=0.1) as (mine, theirs):
        receipt = await theirs.stop()
        assert not receipt.quiet
        assert not receipt.durable
        assert "has not answered; nothing of it acts once its lease has ended" in str(receipt)
        assert heard
        assert mine.busy


@pytest.mark.scenario("N4", part="postgres")
async def test_a_stop_needs_no_notification(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(_: object, *__: object) -> None: ...

    monkeypatch.setattr("lastword.stores.postgres.control.Control._heard", deaf)
    async with two(postgres, lease=1.0) as (mine, theirs):
        receipt = await theirs.stop()
        assert receipt.quiet
        assert receipt.runs == ("s#1",)
        assert not mine.busy


async def test_to_stop_all_here_stops_nothing_that_another_has(postgres: str) -> None:
    async with two(postgres) as (mine, _), runtime(answer, store=postgres) as theirs:
        handle = theirs.session("s")
        receipts = await theirs.stop_all()

        assert mine.busy
        assert not receipts["s"].runs
        assert "belongs to another" in str(receipts["s"])
        assert (await handle.stop()).runs == ("s#1",)


class Late(PostgresStore):
    """It looked before a quicker heir took what was left."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.looks = self.loads = 0

    async def unfinished(self) -> tuple[SessionId, ...]:
        self.looks += 1
        return (SessionId("s"),) if self.looks == 1 else ()

    async def load(self, session: SessionId) -> StoredSession | None:
        self.loads += 1
        return await super().load(session)


async def test_an_heir_that_was_slower_tries_once_and_leaves_it_to_the_other(
    postgres: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = Late(postgres)
    async with two(postgres) as (mine, _), runtime(answer, store=store) as theirs:
        await until(lambda: store.looks == 3)
        assert store.loads == 1
        assert not any(one.runs for one in (await theirs.stop_all()).values())
        assert mine.busy
    assert "not recovered" not in caplog.text


async def test_what_is_asked_in_words_of_a_newer_lastword_is_answered_and_does_nothing(
    postgres: str,
) -> None:
    async with two(postgres) as (mine, _):
        store = PostgresStore(postgres)
        await store.open()
        try:
            assert store.reach
            for asked in ('{"pause": 1}', "no JSON", '{"stop": 1}'):
                answer = await store.reach.ask(SessionId("s"), asked, 30.0)
                assert answer
                assert json.loads(answer) == {"failed": "what was asked is not known there"}
        finally:
            await store.close()
        assert mine.busy


# a takeover


@pytest.mark.scenario("N1", part="postgres")
async def test_a_message_that_takes_over_is_answered_where_it_was_sent(postgres: str) -> None:
    async with two(postgres) as (mine, theirs):
        ticket = await theirs.send("something else")
        taken = await ticket.receipt()

        assert taken
        assert taken.runs == ("s#1",)
        assert await ticket.outcome() == Outcome.COMPLETED
        texts = [item.text for item in await theirs.history()]
        assert "The person's next message took over here. The rest was left undone." in texts
        assert texts[-2:] == ["something else", "re: something else"]
        back = await mine.send("and back")
        assert await back.started()


async def test_what_would_be_left_behind_keeps_the_session_where_it_is(postgres: str) -> None:
    async def keeps(run: Run) -> None:
        await run.spawn("sleep", "300", on_stop="keep")
        await run.emit("kept")
        await asyncio.Event().wait()

    async with two(postgres, keeps) as (mine, theirs):
        await until(lambda: mine.processes)
        with pytest.raises(OwnedElsewhere):
            await theirs.send("something else")
        assert mine.busy  # and nothing was stopped


async def test_a_takeover_without_the_right_to_it_stops_nothing(postgres: str) -> None:
    async with two(postgres, stoppers={"ann"}) as (mine, theirs):
        with pytest.raises(OwnedElsewhere):
            await theirs.send("mine first", by="bob")
        assert mine.busy


async def test_a_message_that_was_accepted_elsewhere_takes_nothing_over_when_it_is_sent_again(
    postgres: str,
) -> None:
    async with two(postgres) as (mine, theirs):
        ticket = await mine.send("once", id="once")
        await ticket.started()
        with pytest.raises(OwnedElsewhere):
            await theirs.send("once", id="once")
        assert mine.busy
        assert not ticket.done


@pytest.mark.scenario("N5", part="postgres")
async def test_of_two_who_send_at_once_one_has_the_session(
    postgres: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    work = OneAtATime(answer)
    async with runtime(work, store=postgres) as a, runtime(work, store=postgres) as b:
        for turn in range(20):
            sending = [r.session(f"s{turn}").send("go", on_message="queue") for r in (a, b)]
            came = await asyncio.gather(*sending, return_exceptions=True)
            [error] = [one for one in came if isinstance(one, BaseException)] or [None]
            if error:  # the other may have ended, and be at rest, before it was asked
                assert isinstance(error, OwnedElsewhere)
            for ticket in came:
                if not isinstance(ticket, BaseException):
                    assert await ticket.outcome() == Outcome.COMPLETED
    assert work.broken == []
