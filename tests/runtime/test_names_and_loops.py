"""R11. What nothing could be known by, and who asks from another event loop: said at once."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lastword import Attachment, Outcome, Run, Runtime, Session
from lastword.core.entries import Native
from tests.promise.stories import answer, check_log

HALF = "half \ud83d of one"


NAMED: dict[str, Callable[[Runtime, Session], Awaitable[Any]]] = {
    "send, id": lambda _, s: s.send("x", id=HALF),
    "send, by": lambda _, s: s.send("x", by=HALF),
    "stop, run": lambda _, s: s.stop(run=HALF),
    "stop, by": lambda _, s: s.stop(by=HALF),
    "stop_soon": lambda _, s: asyncio.wrap_future(s.stop_soon(by=HALF)),
    "edit": lambda _, s: s.edit(HALF, "x"),
    "remove": lambda _, s: s.remove("m", by=HALF),
    "move": lambda _, s: s.move(HALF, 0),
    "resume": lambda _, s: s.resume(by=HALF),
    "session": lambda r, _: r.session(HALF).send("x"),
    "delete": lambda r, _: r.delete(HALF),
    "overview": lambda r, _: r.overview(HALF),
}
ELSEWHERE: dict[str, Callable[[Runtime], Awaitable[Any]]] = {
    "send": lambda r: r.session("s").send("x"),
    "a new session": lambda r: r.session("new").send("x"),
    "resume": lambda r: r.session("s").resume(),
    "view": lambda r: r.session("s").view(),
    "delete": lambda r: r.delete("s"),
    "stop_all": lambda r: r.stop_all(),
    "close": lambda r: r.close(),
}


@pytest.mark.scenario("R11")
@pytest.mark.parametrize("ask", NAMED)
async def test_half_a_character_is_no_name_and_nothing_was_done(ask: str) -> None:
    async def wait(_: Run) -> None:
        await asyncio.Event().wait()

    async with Runtime(wait) as r:
        session = r.session("s")
        await (await session.send("go")).started()
        before = session.last_event, session.generation, await session.log()
        with pytest.raises(ValueError, match="half of a character"):
            await NAMED[ask](r, session)
        assert (session.last_event, session.generation, await session.log()) == before
        assert await r.sessions() == ("s",)


@pytest.mark.scenario("R11")
async def test_a_run_is_told_the_same_and_what_somebody_said_is_mended() -> None:
    async def engine(run: Run) -> None:
        with pytest.raises(ValueError, match="half of a character"):
            run.gate(print, name=HALF)
        with pytest.raises(ValueError, match="half of a character"):
            run.outbox(print, name=HALF)
        with pytest.raises(ValueError, match="half of a character"):
            await run.think("x", native=Native("e", HALF))
        run.used(HALF, 1, 1)
        [attached] = run.message.attachments
        assert attached.name == "half � of one"
        await run.emit("done")

    with pytest.raises(ValueError, match="half of a character"):
        Runtime(engine, stoppers=[HALF])
    async with Runtime(engine) as r:
        attached = Attachment("text/plain", data=HALF, name=HALF)
        ticket = await r.session("s").send(HALF, attachments=[attached])
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        await check_log(r.session("s"))


@pytest.mark.scenario("R11")
@pytest.mark.parametrize("ask", ELSEWHERE)
async def test_who_asks_from_another_event_loop_is_told_so(ask: str) -> None:
    errors: list[BaseException] = []

    async def elsewhere(r: Runtime) -> None:
        try:
            await ELSEWHERE[ask](r)
        except RuntimeError as error:
            errors.append(error)

    async with Runtime(answer) as r:
        session = r.session("s")
        await (await session.send("go")).outcome()
        before = session.last_event, session.generation
        thread = threading.Thread(target=lambda: asyncio.run(elsewhere(r)))
        thread.start()
        await asyncio.to_thread(thread.join)

        [error] = errors
        assert "another event loop" in str(error)
        assert (session.last_event, session.generation) == before
        assert [one.id for one in r.at_hand] == ["s"]
        assert await (await session.send("again")).outcome() == Outcome.COMPLETED
