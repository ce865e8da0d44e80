"""S. After a stop nothing of the stopped run leaves, through any sink, from any place in it."""

import asyncio
from contextlib import suppress

import pytest

from lastword import FeedEvent, Outcome, Run, Superseded
from lastword.core.entries import Text
from lastword.testing.recorder import Recorder
from lastword.testing.seeded import Trap, explore, sweep
from tests.promise.stories import Latch, a_while, check_log, heard_by, runtime, stop, talk


@pytest.mark.scenario("S1")
@pytest.mark.parametrize("with_sink", [True, False])
def test_nothing_of_a_streaming_run_is_heard_after_the_fence(
    with_sink: bool, schedules: int
) -> None:
    async def story() -> None:
        heard = Recorder()

        async def engine(run: Run) -> None:
            async with run.typing(every=0.02):
                await run.progress("thinking")
                try:
                    await talk(run)
                finally:
                    await run.emit("and another thing")
                    await run.progress("not done yet")

        async with runtime(engine, sink=heard if with_sink else None) as r:
            session = r.session("s")
            events = heard_by(session)
            ticket = await session.send("go")
            while not any(event.kind == "text" for event in events):
                await asyncio.sleep(0.001)
            stopping = session.stop()
            before = len(heard)
            receipt = await stopping
            await a_while()

            late = [e for e in heard[before:] if e.generation < receipt.generation]
            assert late == []
            kinds = [e.kind for e in events if e.run == ticket.run]
            assert kinds.count("finished") == 1
            assert kinds[-1] == "finished"
            assert receipt.dropped >= 2 * (kinds.count("text") > 0)
            assert receipt.quiet
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("S1")
def test_a_stop_at_any_step_of_a_run_is_the_last_thing_heard_of_it() -> None:
    async def story(trap: Trap) -> None:
        heard: list[str] = []
        fence: list[int] = []

        async def sink(event: FeedEvent) -> None:
            heard.append(event.text)

        async def tool() -> None:
            heard.append("tool")

        async def engine(run: Run) -> None:
            await run.emit("a")
            await run.call(tool)
            async with run.typing():
                await run.emit("b")

        async with runtime(engine, sink=sink) as r:
            session = r.session("s")

            def stop_now(_: object) -> None:
                session.stop()
                fence.append(len(heard))

            trap.set("run", stop_now)
            await session.send("go")
            await a_while()

            if fence:
                assert [text for text in heard[fence[0] :] if text] == []
            await check_log(session)

    assert sweep(story) > 5


@pytest.mark.scenario("S1")
def test_the_first_schedules_of_all_depth_first_hear_nothing_after_the_fence(
    schedules: int,
) -> None:
    async def story() -> None:
        heard: list[bool] = []
        runs: list[Run] = []

        async def sink(event: FeedEvent) -> None:
            heard.append(runs[0].current)

        async def engine(run: Run) -> None:
            runs.append(run)
            await run.emit("a")
            await run.emit("b")

        async with runtime(engine, sink=sink) as r:
            session = r.session("s")
            sending = asyncio.create_task(session.send("go"))
            stopping = asyncio.create_task(stop(session))
            await asyncio.gather(sending, stopping)
            await session.stop()

            assert all(heard)
            await check_log(session)

    explore(story, schedules * 2, depth_first=True)


@pytest.mark.scenario("S3")
def test_of_five_messages_in_the_send_chain_at_most_the_first_lands(schedules: int) -> None:
    async def story() -> None:
        landed, in_chain = list[str](), list[int]()
        first = Latch()

        async def sink(event: FeedEvent) -> None:
            await first.wait()
            landed.append(event.text)

        async def engine(run: Run) -> None:
            async def say(number: int) -> None:
                in_chain.append(number)
                await run.emit(f"{number}")

            await asyncio.gather(*(say(number) for number in range(5)))

        async with runtime(engine, sink=sink) as r:
            session = r.session("s")
            await session.send("go")
            await first.came.wait()
            while len(in_chain) < 5:
                await asyncio.sleep(0)
            stopping = session.stop()
            first.open.set()
            receipt = await stopping
            await a_while()

            assert len(landed) == 1
            assert receipt.dropped == 4
            assert receipt.quiet

    explore(story, schedules)


@pytest.mark.scenario("S4")
def test_a_paced_send_that_sleeps_through_a_stop_is_not_made_on_waking(schedules: int) -> None:
    async def story() -> None:
        sent: list[str] = []
        resting = asyncio.Event()

        async def post(text: str) -> None:
            sent.append(text)
            resting.set()

        async def stubborn(run: Run) -> None:
            paced = run.fence(post, pace=30)
            for text in ("one", "two", "three"):
                with suppress(asyncio.CancelledError):
                    await paced(text)

        async with runtime(stubborn) as r:
            session = r.session("s")
            await session.send("go")
            await resting.wait()
            receipt = await asyncio.create_task(stop(session))
            await a_while()

            assert sent == ["one"]
            assert receipt.dropped == 2

    explore(story, schedules)


@pytest.mark.scenario("S7")
def test_what_was_checked_before_and_would_run_after_is_dropped_at_the_sink(schedules: int) -> None:
    async def story() -> None:
        written: list[tuple[str, bool]] = []
        runs: list[Run] = []

        def write(text: str) -> None:  # not async: it runs in a thread, after a hop
            written.append((text, runs[0].current))

        async def engine(run: Run) -> None:
            runs.append(run)
            post = run.fence(write)
            for number in range(20):
                await post(f"{number}")

        async with runtime(engine) as r:
            session = r.session("s")
            ticket = await session.send("go")
            await ticket.started()
            await asyncio.create_task(stop(session))
            await a_while()

            assert all(current for _, current in written)

    explore(story, schedules)


@pytest.mark.scenario("S8")
def test_cancel_handlers_and_finally_blocks_are_not_heard_and_are_counted(schedules: int) -> None:
    async def story() -> None:
        heard, called = Recorder(), list[str]()
        refused: list[str] = []

        async def tool(name: str) -> None:
            called.append(name)

        async def engine(run: Run) -> None:
            try:
                await talk(run)
            except asyncio.CancelledError:
                await run.emit("in the handler")
                with pytest.raises(Superseded, match=r"run s#1 holds generation 1, .* at 2"):
                    await run.call(tool, "handler")
                refused.append("handler")
                raise
            finally:
                await run.emit("in the end")

        async with runtime(engine, sink=heard) as r:
            session = r.session("s")
            ticket = await session.send("go")
            await ticket.started()
            while not heard:
                await asyncio.sleep(0)
            receipt = await asyncio.create_task(stop(session))
            await a_while()

            assert not [text for text in heard.texts if text.startswith("in ")]
            assert called == []
            assert refused == ["handler"]
            assert receipt.dropped >= 3
            assert receipt.calls == ()  # what is asked for after the fence is only counted

    explore(story, schedules)


@pytest.mark.scenario("S9")
@pytest.mark.parametrize("parts", range(5))
def test_a_reply_in_parts_is_cut_between_parts_and_the_log_agrees(
    parts: int, schedules: int
) -> None:
    async def story() -> None:
        sent: list[str] = []
        enough = asyncio.Event()

        async def post(part: str) -> None:
            await asyncio.sleep(0.01)
            sent.append(part)
            if len(sent) >= parts:
                enough.set()

        async def hear(event: FeedEvent) -> None:
            await post(event.text)

        async def engine(run: Run) -> None:
            attach = run.fence(post)
            await run.emit("one")
            await attach("picture")
            await run.emit("two")
            await run.emit("three")
            await asyncio.sleep(1000)

        async with runtime(engine, sink=hear) as r:
            session = r.session("s")
            await session.send("go")
            if parts:
                await enough.wait()
            receipt = await session.stop()
            landed = list(sent)
            await a_while()

            assert receipt.quiet
            assert sent == landed  # the receipt was waited for, so nothing is under way
            assert parts <= len(sent) <= parts + 1  # that one was under way
            assert sent == ["one", "picture", "two", "three"][: len(sent)]
            text = "".join(e.text for e in await session.log() if isinstance(e, Text))
            assert text == "".join(part for part in sent if part != "picture")

    explore(story, schedules)


@pytest.mark.scenario("S12")
def test_a_sink_that_never_returns_is_named_and_delays_no_stop_beyond_its_deadline(
    schedules: int,
) -> None:
    async def story() -> None:
        stuck = Latch()

        async def black_hole(event: FeedEvent) -> None:
            await stuck.wait_stubbornly()

        async def engine(run: Run) -> None:
            await run.emit("hello")

        async with runtime(engine, sink=black_hole, deadline=3.0) as r:
            session = r.session("s")
            events = heard_by(session)
            await session.send("go")
            await stuck.came.wait()
            receipt = await session.stop()

            assert not receipt.quiet
            assert [str(one) for one in receipt.unconfirmed] == ["delivery black_hole"]
            assert receipt.took == pytest.approx(3.0)
            assert "still ending: delivery black_hole" in str(receipt)

            stuck.open.set()
            later = await receipt.settled()
            await a_while()
            assert later.quiet
            assert [e.kind for e in events if e.kind in {"receipt", "settled"}] == [
                "receipt",
                "settled",
            ]

    explore(story, schedules)


@pytest.mark.scenario("S16")
def test_helpers_of_a_stopped_run_write_and_emit_nothing(schedules: int) -> None:
    async def story() -> None:
        heard, titles = Recorder(), list[str]()

        async def save(title: str) -> None:
            titles.append(title)

        async def name_it(run: Run) -> None:
            for number in range(100):
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.01)
                with suppress(Superseded):
                    await run.call(save, f"title {number}")
                await run.emit("named")

        async def engine(run: Run) -> None:
            run.task(name_it(run))
            await talk(run)

        async with runtime(engine, sink=heard) as r:
            session = r.session("s")
            ticket = await session.send("go")
            await ticket.started()
            await asyncio.sleep(0.05)
            stopping = session.stop()
            saved = len(titles)
            receipt = await stopping
            with heard.silence_after(receipt):
                await a_while()

            assert len(titles) == saved
            assert saved > 0
            assert (await receipt.settled()).quiet
            await check_log(session)

    explore(story, schedules)


def test_a_loop_of_refused_emits_does_not_stall_the_event_loop(schedules: int) -> None:
    async def story() -> None:
        async def deaf(run: Run) -> None:
            deadline = asyncio.get_running_loop().time() + 5
            while asyncio.get_running_loop().time() < deadline:
                try:
                    await run.emit("still here")
                    await asyncio.sleep(0.5)
                except asyncio.CancelledError:
                    await run.emit("what?")

        async with runtime(deaf) as r:
            session = r.session("s")
            ticket = await session.send("go")
            receipt = await session.stop()

            assert await ticket.outcome() == Outcome.STOPPED
            assert (await receipt.settled()).quiet

    explore(story, schedules)
