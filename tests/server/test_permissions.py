"""Questions over HTTP: the first answer holds, and a stop withdraws what nobody answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lastword import Run, Runtime
from lastword.agent.permission import Questions
from tests.promise.workshop import until
from tests.server.asking import outcomes
from tests.server.client import SECRET, Answer, ApiToken, Client, served, upto

OTHER = "the token of somebody else"


class Careful:
    """Wants to run two commands at once, and asks before each."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    async def __call__(self, run: Run) -> None:
        async def shell(command: str) -> None:
            self.ran.append(command)

        if run.message.text == "go":
            calls = [run.intend(shell, command) for command in ("make", "make install")]
            await asyncio.gather(*(run.task(call()) for call in calls), return_exceptions=True)


@asynccontextmanager
async def asking(engine: Careful) -> AsyncGenerator[Client]:
    """A server of it."""
    questions = Questions()
    tokens = (ApiToken(SECRET), ApiToken(OTHER, "bob"))
    async with (
        Runtime(engine, before_tool=questions.as_before_tool()) as runtime,
        served(runtime, questions=questions, tokens=tokens) as client,
    ):
        yield client


async def answer(client: Client, question: Any, *, allow: bool, **told: object) -> Answer:
    """Answer a question as it was seen, unless it is told otherwise."""
    said = {"allow": allow, "generation": question["generation"], **told}
    path = f"/v1/sessions/{question['session']}/permissions/{question['id']}"
    return await client.post(path, said)


async def asked(events: Any) -> Any:
    """The next question that is opened."""
    [*_, event] = await upto(events, "question")
    assert event["data"]["news"] == "opened"
    return event["data"]["question"]


@pytest.mark.scenario("G5", part="server")
async def test_a_stop_withdraws_the_question_and_a_late_answer_is_refused() -> None:
    engine = Careful()
    async with asking(engine) as client, client.events("s") as events:
        await client.send("s", "go", id="go")
        question = await asked(events)
        assert (question["subject"], question["tool"]) == ("make", "shell")
        assert (await client.get("/v1/sessions/s")).json["state"] == "asking"
        async with client.events("s") as others:
            [snapshot] = await upto(others, "snapshot")
            assert snapshot["data"]["questions"] == [question]
            await client.stop("s")
            for watched in (events, others):
                seen = await upto(watched, "stopped")
                news = [e["data"]["news"] for e in seen if e["kind"] == "question"]
                assert news == ["withdrawn"], "the second was never asked"
        late = await answer(client, question, allow=True, always=True)

        assert (late.status, late.problem) == (409, "answer-late")
        assert engine.ran == []
        assert await outcomes(client) == {"go": "stopped"}
        async with client.events("s") as after:
            [snapshot] = await upto(after, "snapshot")
        assert snapshot["data"]["questions"] == []
        called = [e["data"]["status"] for e in snapshot["data"]["told"] if e["kind"] == "call"]
        assert called == ["not started", "not started"]


@pytest.mark.scenario("G5", part="server")
async def test_a_takeover_withdraws_the_question_too() -> None:
    engine = Careful()
    async with asking(engine) as client, client.events("s") as events:
        await client.send("s", "go")
        question = await asked(events)
        await client.send("s", "never mind")
        late = await answer(client, question, allow=True)

        assert (late.status, late.problem) == (409, "answer-late")
        seen = await upto(events, "stopped")
        assert [e["data"]["news"] for e in seen if e["kind"] == "question"] == ["withdrawn"]
        assert engine.ran == []


async def test_the_first_answer_holds_and_questions_come_one_at_a_time() -> None:
    engine = Careful()
    async with asking(engine) as client, client.events("s") as events:
        await client.send("s", "go", id="go")
        first = await asked(events)
        assert (await answer(client, first, allow=False)).json == {}
        [*_, told] = await upto(events, "question")
        assert (told["data"]["news"], told["data"]["allowed"]) == ("answered", False)
        again = await answer(client, first, allow=True)
        assert (again.status, again.problem) == (409, "answered")
        second = await asked(events)
        assert second["subject"] == "make install"
        await answer(client, second, allow=True)
        await upto(events, "ended")

        assert engine.ran == ["make install"]


async def test_an_answer_to_another_generation_or_to_nothing_is_refused() -> None:
    engine = Careful()
    async with asking(engine) as client, client.events("s") as events:
        await client.send("s", "go")
        question = await asked(events)
        stale = await answer(client, question, allow=True, generation=question["generation"] + 1)
        assert (stale.status, stale.problem) == (409, "stale-answer")
        nothing = await answer(client, question | {"id": "x"}, allow=True)
        assert (nothing.status, nothing.problem) == (404, "unknown-question")
        half = await client.post(f"/v1/sessions/s/permissions/{question['id']}", {"allow": True})
        assert (half.status, half.problem) == (400, "bad-request")
        assert engine.ran == []


async def test_a_question_is_answered_in_its_own_session_only_and_by_its_principal() -> None:
    engine = Careful()
    async with asking(engine) as client, client.events("s") as events:
        await client.send("s", "go")
        question = await asked(events)
        bob = client.as_(OTHER)
        for stranger, session in ((client, "t"), (bob, "s"), (bob, "t")):
            refused = await answer(stranger, question | {"session": session}, allow=True)
            assert (refused.status, refused.problem) == (404, "unknown-question")
        assert engine.ran == []


async def test_where_nothing_asks_there_is_no_question_to_answer() -> None:
    async with Runtime(Careful()) as runtime, served(runtime) as client:
        told = {"allow": True, "generation": 1}
        answered = await client.post("/v1/sessions/s/permissions/x", told)
        assert (answered.status, answered.problem) == (404, "unknown-question")


@pytest.mark.scenario("W66", part="server")
async def test_who_was_cut_off_is_asked_what_a_kept_run_asked_before_a_stop() -> None:
    asks = asyncio.Event()

    async def pay(amount: int) -> str:
        return f"paid {amount}"

    async def child(run: Run) -> None:
        await asks.wait()
        await run.call(pay, 7)

    async def parent(run: Run) -> None:
        await run.child("pay", engine=child, keep=True)
        await run.emit("It is on its way.")
        await asyncio.Event().wait()

    questions = Questions()
    async with (
        Runtime(parent, before_tool=questions.as_before_tool()) as runtime,
        served(runtime, questions=questions) as client,
    ):
        async with client.events("s") as events:
            await client.send("s", "go")
            [*_, last] = await upto(events, "text")
        asks.set()
        await until(lambda: bool(questions.open()))
        await client.stop("s")

        async with client.events("s", last_event_id=last["id"]) as again:
            told = await asked(again)
        async with client.events("s") as anew:
            first = await anext(anew)

    assert told["tool"] == "pay"
    assert [one["id"] for one in first["questions"]] == [told["id"]]
