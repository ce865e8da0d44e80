"""What is wrong is named, and nothing is lost."""

import asyncio
from typing import Any, cast

import pytest

from lastword import (
    Busy,
    Call,
    Outcome,
    Receipt,
    Refused,
    Run,
    Runtime,
    StaleRun,
    Superseded,
)
from lastword.core.model import SessionId
from lastword.errors import (
    ImpossibleMove,
    NotWaiting,
    RuntimeClosed,
    StoreError,
    Undurable,
    UnknownSession,
)
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from lastword.stores.opening import open_store
from lastword.testing.recorder import Recorder
from tests.promise.stories import answer, talk

wrong = cast("Any", object())


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"on_message": "cut"}, "on_message must be one of 'takeover', .*; it is 'cut'"),
        ({"queue_on_stop": "maybe"}, "queue_on_stop must be one of 'drop', 'keep'; it is 'maybe'"),
        ({"partial": "half"}, "partial must be one of 'shown', 'omitted'; it is 'half'"),
        ({"deadline": -1}, "deadline must be more than 0 seconds; it is -1"),
        ({"deadline": "3"}, "deadline must be a number of seconds, not a str"),
        ({"queue_limit": 0}, "queue_limit must be at least 1; it is 0"),
        ({"queue_limit": "5"}, "queue_limit must be a whole number, not a str"),
        ({"feed_limit": None}, "feed_limit must be a whole number, not None"),
        ({"stall_after": 0}, "stall_after must be more than 0 seconds; it is 0"),
        ({"pace": -1}, "pace must be 0 seconds or more; it is -1"),
        ({"pace": float("inf")}, "pace must be 3,600 seconds or less"),
        ({"rest": 10**400}, "rest must be .* seconds or less"),
        ({"hears": "all"}, "hears must be one of 'words', 'effects'; it is 'all'"),
        ({"hears": "effects"}, "hears is for a sink, and there is none"),
        ({"store": None}, "store must be an address or a Store, not a NoneType"),
        ({"clock": 5}, "clock must be callable, and a int is not"),
        ({"before_tool": "ask"}, "before_tool must be callable, and a str is not"),
        ({"stoppers": "ann"}, "stoppers must be a collection of names, not one str"),
        ({"stoppers": 5}, "stoppers must be a collection of names, not a int"),
    ],
)
def test_a_setting_that_cannot_be_is_named_with_what_could_be(
    setting: dict[str, Any], message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Runtime(answer, **setting)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"id": 7}, "a message's id must be a str, not a int"),
        ({"by": None}, "who sends a message, must be a str, not None"),
        ({"attachments": None}, "attachments must be a sequence of Attachments, not None"),
        ({"attachments": "abc"}, "attachments must be Attachments, and one is a str"),
    ],
)
async def test_an_argument_of_send_that_cannot_be_is_named(
    argument: dict[str, Any], message: str
) -> None:
    async with Runtime(answer) as runtime:
        with pytest.raises(TypeError, match=message):
            await runtime.session("s").send("x", **argument)
        assert runtime.session("s").generation == 0


async def test_what_else_cannot_be_is_named_and_touches_nothing() -> None:
    refused: list[str] = []

    async def engine(run: Run) -> None:
        for bad in (
            lambda: run.child("x", engine=cast("Any", 5)),
            lambda: run.child(cast("Any", 5)),
        ):
            try:
                await bad()
            except TypeError as error:
                refused.append(str(error))
        await talk(run)

    async with Runtime(engine) as runtime:
        session = runtime.session("s")
        ticket = await session.send("go")
        await session.send("later", id="later", on_message="queue")
        with pytest.raises(TypeError, match="the place in the queue must be a whole number"):
            await session.move("later", cast("Any", "0"))
        with pytest.raises(ValueError, match="after which to watch must be at least 0"):
            session.events(after=-5)
        with pytest.raises(ValueError, match="session s has no event 99999 yet"):
            session.events(after=99999)
        with pytest.raises(StaleRun, match="run  is neither active nor waiting"):
            await session.stop(run="")
        with pytest.raises(ValueError, match="this is not a receipt's JSON"):
            Receipt.from_json("{}")
        assert not ticket.done
        await session.stop()

    assert refused == [
        "a child's engine must be callable, and a int is not",
        "a child's message must be a str, not a int",
    ]


async def test_a_hook_may_be_async_or_not_and_may_forbid() -> None:
    asked: list[str] = []

    def before(call: Call[Any]) -> None:
        asked.append(call.name)
        raise PermissionError("not today")

    async def engine(run: Run) -> None:
        with pytest.raises(PermissionError, match="not today"):
            await run.call(answer, run)

    async with Runtime(engine, before_tool=before) as runtime:
        ticket = await runtime.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED
    assert asked == ["answer"]


def test_what_must_be_callable_is_named_if_it_is_not() -> None:
    with pytest.raises(TypeError, match="sink must be callable, and a str is not"):
        Runtime(answer, sink=cast("Any", "stdout"))
    with pytest.raises(TypeError, match="engine must be callable"):
        Runtime(wrong)
    with pytest.raises(TypeError, match="needs an engine"):
        Runtime(cast("Any", None))


def test_a_store_that_is_not_known_is_named() -> None:
    with pytest.raises(StoreError, match="'redis:'"):
        open_store("redis:")


async def test_a_fence_or_a_gate_around_something_not_callable_says_so_and_the_run_fails() -> None:
    async def engine(run: Run) -> None:
        with pytest.raises(TypeError, match="a tool must be callable"):
            run.gate(wrong)
        with pytest.raises(TypeError, match="a tool must be callable"):
            run.intend(wrong)
        run.fence(cast("Any", "slack"))

    async with Runtime(engine) as runtime:
        ticket = await runtime.session("s").send("go")

        assert await ticket.outcome() == Outcome.FAILED
        assert ticket.error == "TypeError: a sink must be callable, and a str is not"


async def test_an_engine_that_raises_fails_its_own_message_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def engine(run: Run) -> None:
        if run.message.text == "bad":
            raise ValueError("no model of that name")

    async with Runtime(engine, on_message="queue") as runtime:
        session = runtime.session("s")
        bad, good = await session.send("bad"), await session.send("good")

        assert await bad.outcome() == Outcome.FAILED
        assert bad.error == "ValueError: no model of that name"
        assert await good.outcome() == Outcome.COMPLETED
        assert "run failed session=s run=s#1 error=ValueError" in caplog.text
        assert "no model" not in caplog.text, "what an exception says is not for the log"


async def test_an_engine_that_is_not_async_fails_with_the_reason() -> None:
    def engine(run: Run) -> None:
        return

    async with Runtime(cast("Any", engine)) as runtime:
        ticket = await runtime.session("s").send("go")

        assert await ticket.outcome() == Outcome.FAILED
        assert "the engine must be an async function" in ticket.error


async def test_an_engine_that_emits_after_it_returned_is_not_heard() -> None:
    heard, runs, returned = Recorder(), list[Run](), asyncio.Event()

    async def engine(run: Run) -> None:
        runs.append(run)
        await run.emit("all")

    async with Runtime(engine, sink=heard) as runtime:
        session = runtime.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED
        returned.set()
        await runs[0].emit("and one thing")
        with pytest.raises(Superseded, match=r"run s#1 holds generation 1"):
            await runs[0].call(answer, runs[0])
        with pytest.raises(Superseded):
            await runs[0].steering()
        with pytest.raises(Superseded):
            await runs[0].child("late")
        with pytest.raises(Superseded):
            runs[0].task(talk(runs[0]))

    assert heard.texts == ["all"]


async def test_an_engine_cancelled_from_outside_fails_and_the_next_message_runs() -> None:
    async def engine(run: Run) -> None:
        if run.message.text == "cut":
            raise asyncio.CancelledError

    async with Runtime(engine) as runtime:
        session = runtime.session("s")
        cut = await session.send("cut")

        assert await cut.outcome() == Outcome.FAILED
        assert cut.error == "it was cancelled from outside"
        assert await (await session.send("next")).outcome() == Outcome.COMPLETED


async def test_a_closed_runtime_takes_nothing_and_says_so() -> None:
    runtime = Runtime(answer)
    with pytest.raises(RuntimeClosed, match="not open yet"):
        runtime.session("s")
    async with runtime:
        session = runtime.session("s")
    with pytest.raises(RuntimeClosed, match="closed"):
        await session.send("go")
    with pytest.raises(RuntimeClosed):
        runtime.session("other")
    with pytest.raises(RuntimeClosed, match="opened once"):
        await runtime.__aenter__()
    await runtime.close()
    assert not await session.stop()


async def test_closing_ends_what_is_going_with_the_reason() -> None:
    async with Runtime(talk, on_message="queue") as runtime:
        going = await runtime.session("s").send("go")
        waiting = await runtime.session("s").send("more")

    assert await going.outcome() == Outcome.SHUTDOWN
    assert await waiting.outcome() == Outcome.SHUTDOWN


async def test_a_session_is_known_by_a_name_and_only_if_it_is_there() -> None:
    async with Runtime(answer) as runtime:
        with pytest.raises(ValueError, match="id must be a str that is not empty; it is ''"):
            runtime.session("")
        with pytest.raises(ValueError, match="it is 7"):
            runtime.session(cast("Any", 7))
        with pytest.raises(UnknownSession, match="no session 'nobody'"):
            await runtime.delete("nobody")
        old = runtime.session("s")
        await (await old.send("go")).outcome()
        await runtime.delete("s")
        with pytest.raises(UnknownSession, match="session s has ended"):
            await old.send("again")
        assert await runtime.session("s").log() == ()


async def test_a_message_that_cannot_be_is_refused_and_the_session_goes_on() -> None:
    async with Runtime(talk, on_message="refuse") as runtime:
        session = runtime.session("s")
        await session.send("go")
        with pytest.raises(TypeError, match="a message's text must be a str, not a int"):
            await session.send(cast("Any", 7))
        with pytest.raises(ValueError, match="on_message must be one of"):
            await session.send("x", on_message=cast("Any", "shout"))
        with pytest.raises(ValueError, match="origin must be one of"):
            await session.send("x", origin=cast("Any", "nowhere"))
        with pytest.raises(Busy, match="session s is busy"):
            await session.send("x")
        with pytest.raises(NotWaiting, match="message m1 is not waiting"):
            await session.edit("m1", "y")
        assert session.busy


async def test_a_call_is_made_at_most_once() -> None:
    async def engine(run: Run) -> None:
        call = run.intend(answer, run)
        await call()
        await call()

    async with Runtime(engine) as runtime:
        ticket = await runtime.session("s").send("go")

        assert await ticket.outcome() == Outcome.FAILED
        assert (
            ticket.error == "ImpossibleMove: call s#1.1 of answer was made before; intend another"
        )
        assert ImpossibleMove.__name__ in ticket.error


class Failing(MemoryStore):
    """A store that fails when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = False

    async def commit(self, write: Write) -> None:
        await asyncio.sleep(0)
        if self.broken:
            raise OSError(28, "no space left")
        await super().commit(write)


async def test_a_message_that_the_store_does_not_take_is_not_accepted() -> None:
    store = Failing()
    async with Runtime(answer, store=store) as runtime:
        session = runtime.session("s")
        store.broken = True
        with pytest.raises(Undurable, match=r"message m1 could not be stored in session s.*space"):
            await session.send("lost?")
        assert not session.busy

        store.broken = False
        assert await (await session.send("now")).outcome() == Outcome.COMPLETED
        assert "lost?" not in str(await session.log())


async def test_a_stop_that_cannot_be_stored_stands_and_says_that_it_is_not_durable() -> None:
    store = Failing()
    async with Runtime(talk, store=store, deadline=0.5) as runtime:
        session = runtime.session("s")
        ticket = await session.send("go")
        await ticket.started()
        store.broken = True
        receipt = await session.stop()

        assert not receipt.durable
        assert "not stored yet" in str(receipt)
        assert not session.busy
        with pytest.raises(Refused):
            await session.send("more")

        store.broken = False
        again = await session.send("more")
        stored = await store.message(SessionId("s"), ticket.message.id)
        assert stored is not None
        assert stored.outcome == Outcome.STOPPED
        assert again.run != ticket.run


async def test_what_a_run_says_must_be_text() -> None:
    async def engine(run: Run) -> None:
        with pytest.raises(TypeError, match="what a run says must be a str, not a int"):
            await run.progress(cast("Any", 7))
        await run.emit(cast("Any", None))

    async with Runtime(engine) as runtime:
        ticket = await runtime.session("s").send("go")

        assert await ticket.outcome() == Outcome.FAILED
        assert ticket.error == "TypeError: what a run says must be a str, not None"


async def test_a_tools_odd_arguments_and_results_do_not_break_the_record() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise ValueError("no")

    async def tool(odd: Odd) -> Odd:
        return odd

    async def engine(run: Run) -> None:
        assert isinstance(await run.call(tool, Odd()), Odd)
        deep: list[Any] = []
        deep.append(deep)
        await run.call(asyncio.sleep, 0, deep)

    async with Runtime(engine) as runtime:
        ticket = await runtime.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error


async def test_a_stop_from_the_wrong_thread_says_which_one_to_use() -> None:
    async with Runtime(talk) as runtime:
        session = runtime.session("s")
        ticket = await session.send("go")
        with pytest.raises(RuntimeError, match="stop_soon"):
            await asyncio.to_thread(session.stop)
        assert not ticket.done
