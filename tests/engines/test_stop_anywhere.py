"""X1, G3. A stop at every await of a turn: what the model is asked next is always accepted.

And a tool that the log says has not started did not: its first line is what is recorded here.
"""

import asyncio

import pytest

from lastword import Outcome, Runtime, Status
from lastword.core.entries import Called, Result
from lastword.runtime.call import Call
from lastword.testing.provider import Answer, Request, Say, Think
from lastword.testing.provider import Call as Asks
from tests.engines.subjects import SCRIPTED
from tests.engines.told import Scripted
from tests.engines.wire import StopAt
from tests.promise.stories import check_log

begun: list[str] = []  # the tools whose first line was reached, in the turn that is stopped


async def quick(path: str) -> str:
    begun.append("quick")
    await asyncio.sleep(0)
    return f"what is in {path}"


def slow(path: str) -> str:  # in a thread
    begun.append("slow")
    return f"and in {path}"


async def ask(call: Call[object]) -> None:
    """A question to the person, whose answer takes a moment."""
    if call.name == "quick":
        await asyncio.sleep(0)


def answer(request: Request) -> Answer:
    if request.prompt.endswith("bye"):
        return Answer(Say("Bye."))
    if request.results:
        return Answer(Think("ah"), Say("Two ", "files."))
    looks = [Asks("quick", {"path": "x"}), Asks("slow", {"path": "y"})]
    return Answer(Think("hm"), Say("I ", "look. "), *looks)


async def stopped_at(step: int, one: Scripted) -> bool:
    """One turn, stopped right before that step, and the next; whether there was such a step."""
    begun.clear()
    engine = StopAt(one.engine, step, tasks=one.in_tasks)
    heard: list[str] = []

    async def sink(event: object) -> None:
        heard.append(str(event))

    async with Runtime(engine, sink=sink, before_tool=ask, stall_after=None) as runtime:
        session = runtime.session("s")
        engine.stop = session.stop
        first = await session.send("what is there?")
        outcome = await first.outcome()
        if not engine.sprung:
            assert outcome == Outcome.COMPLETED
            return False
        receipt = await session.stop()
        assert receipt.quiet
        silence = len(heard)
        second = await session.send("bye")
        assert await second.outcome() == Outcome.COMPLETED, (step, second.error)
        assert heard[silence:] == ["Bye."]
        assert one.provider.refused == []
        await check_log(session)
        log = await session.log()
        calls = [entry for entry in log if isinstance(entry, Called)]
        results = [entry for entry in log if isinstance(entry, Result)]
        assert len(results) == len(calls)
        names = {call.call: call.name for call in calls}
        reached = {names[r.call] for r in results if r.status is not Status.NOT_STARTED}
        assert set(begun) - reached == set(), step
        assert {names[r.call] for r in results if r.status is Status.COMPLETED} <= set(begun), step
    return True


@pytest.mark.scenario("X1", part="agent")
@pytest.mark.scenario("G3")
@pytest.mark.parametrize("kind", SCRIPTED)
async def test_whatever_a_stop_leaves_the_next_request_is_accepted(kind: str) -> None:
    step = 1
    async with SCRIPTED[kind]() as one:
        one.tool(quick)
        one.tool(slow)
        one.provider.always(answer)
        while await stopped_at(step, one):
            step += 1
    assert step > 15
