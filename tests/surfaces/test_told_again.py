"""W57. What is told to who watches is told to who comes later, too."""

import asyncio

import pytest

from lastword import Run, Runtime
from lastword.acp.showing import told_again
from lastword.core.entries import Finished, LeftOut, Note, Summary
from lastword.core.model import Status
from lastword.core.picture import Picture
from lastword.core.scene import CallPart, TurnItem, Words
from lastword.core.story import FeedEvent
from lastword.server.watching import pictured
from lastword.surfaces.following import Following, whole
from tests.core.picture_laws import lasting
from tests.promise.workshop import until

NOTES = (Note, LeftOut, Summary, Finished)


@pytest.mark.scenario("W57", part="surfaces")
async def test_what_is_noted_is_told_live_as_it_is_after_a_reload() -> None:
    async def engine(run: Run) -> None:
        if run.message.text == "first":
            await run.emit("One.")
            return
        job = run.job(await run.spawn(shell="true", on_stop="keep"))
        await until(lambda: not job.alive)
        run.leave_out(LeftOut(run.id, run.id, "attachments", "a picture of a cat"))
        await run.summarise("There was one.", upto=run.id)
        await run.emit("Two.")
        await asyncio.Event().wait()

    async with Runtime(engine, level="tree", clock=lambda: 7.0) as runtime:
        session = runtime.session("s")
        live, heard = Following(session, await whole(session)), list[FeedEvent]()

        async def follow() -> None:
            async for event, _ in live.heard():
                heard.append(event)

        following = asyncio.create_task(follow())
        await (await session.send("first")).outcome()
        await session.send("second")
        await until(lambda: any(event.text == "Two." for event in heard))
        await session.stop(said="that is enough")
        await until(lambda: live.picture.seen == session.last_event)
        following.cancel()
        again = Following(session, await whole(session))
        log = await session.log()

    told = [event.fact for event in heard if isinstance(event.fact, NOTES)]
    assert told == [entry for entry in log if isinstance(entry, NOTES)]
    assert {type(fact) for fact in told} == set(NOTES)
    assert lasting(live.picture)["items"] == lasting(again.picture)["items"]


@pytest.mark.scenario("W57", part="surfaces")
async def test_a_call_that_is_being_made_is_shown_so_to_who_comes_later() -> None:
    called = asyncio.Event()

    async def engine(run: Run) -> None:
        async def look() -> str:
            called.set()
            await asyncio.Event().wait()
            return "seen"

        def asleep() -> None: ...

        run.intend(asleep)
        await run.call(look)

    async with Runtime(engine, clock=lambda: 7.0) as runtime:
        session = runtime.session("s")
        live = Following(session, await whole(session))
        await session.send("go")
        await called.wait()
        for _ in live.at_once():
            pass
        again = await whole(session)
        page, *_ = await pictured(session, 100)
        editor = list(told_again(again, "/", again.phase.active))
        await session.stop()
        assert not session.begun

    stand = [("asleep", Status.INTENDED, 0.0), ("look", Status.BEGUN, 7.0)]
    assert _calls(live.picture) == _calls(again) == _calls(page) == stand
    assert [one["status"] for one in editor if "toolCallId" in one] == [
        *("pending", "pending"),
        "in_progress",
    ]


def _calls(picture: Picture) -> list[tuple[str, Status, float]]:
    turns = [item for item in picture.items if isinstance(item, TurnItem)]
    calls = [part for turn in turns for part in turn.parts if isinstance(part, CallPart)]
    return [(call.name, call.status, call.began) for call in calls]


@pytest.mark.scenario("W53", part="surfaces")
async def test_what_waited_with_a_message_that_was_taken_back_is_seen_to_be_answered() -> None:
    go = asyncio.Event()

    async def engine(run: Run) -> None:
        if run.message.text == "first":
            await go.wait()
        await run.emit(f"re: {run.message.text}")

    async with Runtime(engine, on_message="collect") as runtime:
        session = runtime.session("s")
        live = Following(session, await whole(session))
        first = await session.send("first")
        await first.started()
        [gone, kept] = [await session.send(text) for text in ("gone", "kept")]
        await session.remove(gone.message.id)
        go.set()
        await kept.outcome()
        for _ in live.at_once():
            pass
        again = Following(session, await whole(session))

    said = [part.text for part in _words(live)]
    assert said == ["re: first", "re: kept"]
    assert said == [part.text for part in _words(again)]


def _words(following: Following) -> list[Words]:
    turns = [item for item in following.picture.items if isinstance(item, TurnItem)]
    return [part for turn in turns for part in turn.parts if isinstance(part, Words)]
