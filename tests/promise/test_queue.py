"""T. Messages that wait: in order, in windows, within a limit, and all accounted for."""

import asyncio

import pytest

from lastword import (
    Attachment,
    NotWaiting,
    Outcome,
    QueueFull,
    Run,
)
from lastword.core.entries import Said
from lastword.testing.seeded import explore
from tests.promise.stories import (
    Latch,
    OneAtATime,
    a_while,
    answer,
    check_log,
    runtime,
    stop,
    talk,
)


@pytest.mark.scenario("T8")
def test_a_queue_keeps_strict_order_with_one_turn_and_one_outcome_each(schedules: int) -> None:
    async def story() -> None:
        engine = OneAtATime(answer)
        async with runtime(engine, on_message="queue") as r:
            session = r.session("s")
            tickets = [await session.send(f"{n}") for n in range(6)]
            ended = [await ticket.outcome() for ticket in tickets]

            assert ended == [Outcome.COMPLETED] * 6
            assert engine.order == [f"{n}" for n in range(6)]
            assert len({ticket.run for ticket in tickets}) == 6
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("T9")
def test_collect_makes_one_turn_of_what_came_in_a_quiet_window(schedules: int) -> None:
    async def story() -> None:
        turns: list[tuple[float, list[tuple[str, str]], list[int]]] = []
        now = asyncio.get_running_loop().time

        async def engine(run: Run) -> None:
            said = [(message.text, message.by) for message in run.messages]
            attached = [len(message.attachments) for message in run.messages]
            turns.append((now(), said, attached))
            assert len(run.message.attachments) == sum(attached)
            assert run.message.text == "\n\n".join(text for text, _ in said)
            await asyncio.sleep(0.1)

        async with runtime(engine, on_message="collect") as r:
            session = r.session("s")
            picture = Attachment("image/png", uri="file:a.png")
            await session.send("first")
            b = await session.send("b", by="ann")
            await asyncio.sleep(0.9)
            await session.send("c", by="bob", attachments=(picture,))
            await asyncio.sleep(0.9)
            d = await session.send("d", by="ann", attachments=(picture, picture))

            assert await d.outcome() == await b.outcome() == Outcome.COMPLETED
            assert d.run == b.run
            assert [said for _, said, _ in turns] == [
                [("first", "")],
                [("b", "ann"), ("c", "bob"), ("d", "ann")],
            ]
            assert turns[1][0] == pytest.approx(2.8)  # a second after the last of them
            assert turns[1][2] == [0, 1, 2]
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("T9")
def test_a_collecting_window_closes_ten_seconds_after_its_first_message(schedules: int) -> None:
    async def story() -> None:
        starts: list[float] = []
        now = asyncio.get_running_loop().time

        async def engine(run: Run) -> None:
            starts.append(now())
            await asyncio.sleep(0.5)

        async with runtime(engine, on_message="collect") as r:
            session = r.session("s")
            await session.send("first")
            for _ in range(14):
                await session.send("more")
                await asyncio.sleep(0.9)
            await a_while()

            assert starts[1] == pytest.approx(10)

    explore(story, schedules)


@pytest.mark.scenario("T10")
@pytest.mark.parametrize("queue_on_stop", ["drop", "keep"])
def test_five_queued_messages_are_all_accounted_for_by_a_stop(
    queue_on_stop: str, schedules: int
) -> None:
    async def story() -> None:
        async def work(run: Run) -> None:
            await (talk(run) if run.message.text == "go" else answer(run))

        engine = OneAtATime(work)
        async with runtime(engine, on_message="queue", queue_on_stop=queue_on_stop) as r:
            session = r.session("s")
            await session.send("go")
            tickets = [await session.send(f"{n}") for n in range(5)]
            receipt = await asyncio.create_task(stop(session))
            await a_while()

            fates = {m.message.text: m.fate for m in receipt.messages if m.message.text != "go"}
            if queue_on_stop == "drop":
                assert fates == {f"{n}": "dropped" for n in range(5)}
                assert [await ticket.outcome() for ticket in tickets] == [Outcome.STOPPED] * 5
                assert session.queue == ()
            else:
                assert fates == {f"{n}": "paused" for n in range(5)}
                assert [m.text for m in session.queue] == [f"{n}" for n in range(5)]
                assert not set(engine.order) - {"go"}
                await session.resume()
                assert [await t.outcome() for t in tickets] == [Outcome.COMPLETED] * 5
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("T11")
def test_a_message_sent_while_a_stopped_run_unwinds_runs_next(schedules: int) -> None:
    async def story() -> None:
        wedged = Latch()

        async def engine(run: Run) -> None:
            if run.message.text == "wedge":
                await wedged.wait_stubbornly()

        async with runtime(engine, deadline=1.0) as r:
            session = r.session("s")
            await session.send("wedge")
            await wedged.came.wait()
            session.stop()
            ticket = await session.send("next", on_message="refuse")

            assert await ticket.outcome() == Outcome.COMPLETED
            wedged.open.set()
            await a_while()
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("T11")
def test_after_a_run_failed_with_two_queued_both_run(schedules: int) -> None:
    async def story() -> None:
        async def work(run: Run) -> None:
            if run.message.text == "a":
                raise ValueError("broken")

        engine = OneAtATime(work)
        async with runtime(engine, on_message="queue") as r:
            session = r.session("s")
            tickets = [await session.send(text) for text in "abc"]

            assert [await t.outcome() for t in tickets] == ["failed", "completed", "completed"]
            assert engine.order == ["a", "b", "c"]
            assert tickets[0].error == "ValueError: broken"
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("T12")
@pytest.mark.parametrize("act", ["edit", "remove", "move"])
def test_changing_a_queued_message_races_its_promotion_and_one_wins(
    act: str, schedules: int
) -> None:
    met: set[bool] = set()

    async def story() -> None:
        begun = asyncio.Event()

        async def work(run: Run) -> None:
            begun.set()
            for _ in range(8):  # about as many as the messages behind it take to be accepted
                await asyncio.sleep(0)

        engine = OneAtATime(work)
        async with runtime(engine, on_message="queue") as r:
            session = r.session("s")
            tickets = [await session.send(text, id=text) for text in "abc"]
            await begun.wait()

            async def change() -> bool:
                try:
                    match act:
                        case "edit":
                            await session.edit("c", "C")
                        case "remove":
                            await session.remove("c")
                        case _:
                            await session.move("c", 0)
                except NotWaiting as late:
                    assert late.message == "c"
                    return False
                return True

            waited = "b" in [message.text for message in session.queue]
            won = await asyncio.create_task(change())
            met.add(won)
            ended = [await ticket.outcome() for ticket in tickets]
            match act, won:
                case "edit", True:
                    assert engine.order == ["a", "b", "C"]
                case "remove", True:
                    assert ended[2] == Outcome.WITHDRAWN
                    assert engine.order == ["a", "b"]
                case "move", True:
                    before = [["a", "c", "b"]] if waited else []
                    assert engine.order in [*before, ["a", "b", "c"]]
                case _:
                    assert engine.order == ["a", "b", "c"]
                    assert ended[2] == Outcome.COMPLETED
            await check_log(session)

    explore(story, schedules)
    assert met == {True, False}, "each was to win sometimes"


@pytest.mark.scenario("T12")
@pytest.mark.parametrize(("to", "order"), [(0, "acbd"), (1, "abcd"), (9, "abdc")])
def test_a_moved_message_runs_in_its_new_place(to: int, order: str, schedules: int) -> None:
    async def story() -> None:
        first = Latch()

        async def work(run: Run) -> None:
            await (first.wait() if run.message.text == "a" else asyncio.sleep(0))

        engine = OneAtATime(work)
        async with runtime(engine, on_message="queue") as r:
            session = r.session("s")
            tickets = [await session.send(text, id=text) for text in "abcd"]
            await session.move("c", to)
            first.open.set()
            for ticket in tickets:
                await ticket.outcome()

            assert engine.order == list(order)

    explore(story, schedules)


@pytest.mark.scenario("T13")
def test_a_sender_who_finds_the_queue_full_is_told_and_nothing_is_queued(schedules: int) -> None:
    async def story() -> None:
        async with runtime(talk, on_message="queue", queue_limit=2) as r:
            session = r.session("s")
            await session.send("go")
            await session.send("one")
            await session.send("two")
            with pytest.raises(QueueFull, match="session s has 2 messages waiting") as refused:
                await session.send("three", id="three")

            assert "message three was not accepted" in str(refused.value)
            assert [m.text for m in session.queue] == ["one", "two"]
            said = [e.message.text for e in await session.log() if isinstance(e, Said)]
            assert said == ["go", "one", "two"]

    explore(story, schedules)
