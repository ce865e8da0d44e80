"""AG-UI's interrupts: a question ends the client's run, ours waits, and one answer moves it on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lastword import Engine, Run, Runtime
from lastword.agent.permission import Questions
from lastword.server import ApiToken, Right
from tests.server.agui_node import Node, clients
from tests.server.agui_stories import OTHER, SUCCESS, body, gone, told, user
from tests.server.client import SECRET, Client, served

W61 = pytest.mark.scenario("W61", part="server")


class Payer:
    """Asks before it pays; and one that stays is not done then."""

    def __init__(self, *, stays: bool = False) -> None:
        self.paid: list[int] = []
        self._stays = stays

    async def __call__(self, run: Run) -> None:
        async def pay(amount: int) -> str:
            self.paid.append(amount)
            return f"paid {amount}"

        await run.emit("I pay. ")
        try:
            await run.emit(await run.call(pay, 7))
        except PermissionError as error:
            await run.emit(f"not paid: {error}")
        if self._stays:
            await asyncio.Event().wait()


@asynccontextmanager
async def asking(
    engine: Engine, rights: tuple[Right, ...] = ("read", "send", "stop"), **settings: Any
) -> AsyncGenerator[tuple[Client, Node]]:
    questions = Questions()
    tokens = (ApiToken(SECRET, "ann", principal="home"), ApiToken(OTHER, "bob", rights, "home"))
    async with (
        Runtime(engine, before_tool=questions.as_before_tool(), **settings) as runtime,
        served(runtime, questions=questions, tokens=tokens) as client,
        clients(client.port) as node,
    ):
        yield client, node


def interrupt(end: Any) -> Any:
    """What a run waits for that ended so."""
    assert end["last"]["outcome"]["type"] == "interrupt", end
    [one] = end["last"]["outcome"]["interrupts"]
    return one


def yes(one: Any, **more: object) -> Any:
    return [{"interruptId": one["id"], "status": "resolved", "payload": {"approved": True, **more}}]


@W61
async def test_a_question_is_an_interrupt_and_the_answer_lets_the_same_run_go_on() -> None:
    engine = Payer()
    async with asking(engine) as (client, node):
        agent = node.agent("a", "t")
        asked = interrupt(await agent.said("pay"))
        call = next(one for one in agent.events if one["type"] == "TOOL_CALL_START")
        assert (asked["reason"], asked["toolCallId"]) == ("tool_call", call["toolCallId"])
        assert "amount: 7" in asked["message"]
        assert engine.paid == []
        assert (await client.get("/v1/sessions/t")).json["state"] == "asking", "it waits"
        end = await agent.said(resume=yes(asked))

        assert engine.paid == [7]
        assert agent.kinds[2:4] == ["TOOL_CALL_RESULT", "TEXT_MESSAGE_START"]
        assert (agent.text, end["last"]["outcome"]) == ("paid 7", SUCCESS)
        assert (await client.get("/v1/sessions/t/receipts")).json["receipts"] == []


@W61
@pytest.mark.parametrize(
    "no", [{"status": "cancelled"}, {"status": "resolved", "payload": {"approved": False}}]
)
async def test_a_refusal_is_an_answer_too(no: dict[str, object]) -> None:
    engine = Payer()
    async with asking(engine) as (_, node):
        agent = node.agent("a", "t")
        asked = interrupt(await agent.said("pay"))
        end = await agent.said(resume=[{"interruptId": asked["id"], **no}])

        assert engine.paid == []
        assert agent.text.startswith("not paid")
        assert end["last"]["outcome"] == SUCCESS


@W61
async def test_of_two_resumes_one_is_taken_and_the_other_is_refused() -> None:
    engine = Payer()
    async with asking(engine) as (_, node):
        first, second, third = (node.agent(name, "t") for name in "abc")
        asked = interrupt(await first.said("pay"))
        assert interrupt(await second.said())["id"] == asked["id"], "who joins is asked the same"
        ends = await asyncio.gather(first.said(resume=yes(asked)), second.said(resume=yes(asked)))
        late = await third.said(resume=yes(asked))

        errors = [end["last"] for end in ends if end["last"]["type"] == "RUN_ERROR"]
        assert [one["code"] for one in errors] == ["answered"]
        assert (late["last"]["type"], late["last"]["code"]) == ("RUN_ERROR", "answered")
        assert third.kinds == ["RUN_ERROR"]
        assert engine.paid == [7]


@W61
async def test_a_stop_withdraws_the_interrupt_and_a_later_resume_does_nothing() -> None:
    engine = Payer()
    async with asking(engine) as (client, node):
        agent = node.agent("a", "t")
        asked = interrupt(await agent.said("pay"))
        await client.stop("t")
        late = await agent.said(resume=yes(asked))

        assert (late["last"]["type"], late["last"]["code"]) == ("RUN_ERROR", "answer-late")
        assert engine.paid == []


@W61
async def test_who_leaves_after_an_interrupt_has_stopped_nothing() -> None:
    engine = Payer()
    async with asking(engine) as (_, node):
        asked = interrupt(await node.agent("a", "t").said("pay"))
        end = await node.agent("b", "t").said(resume=yes(asked))

        assert (engine.paid, end["last"]["outcome"]) == ([7], SUCCESS)


@W61
async def test_who_resumed_a_run_stops_it_by_leaving_as_who_began_it_would() -> None:
    engine = Payer(stays=True)
    async with asking(engine) as (client, node):
        agent = node.agent("a", "t")
        asked = interrupt(await agent.said("pay"))
        await agent.run(resume=yes(asked))
        await agent.upto("TEXT_MESSAGE_CONTENT")
        await agent.abort()
        await agent.end()
        await gone(client)

        [receipt] = (await client.get("/v1/sessions/t/receipts")).json["receipts"]
        assert (receipt["reason"], receipt["runs"]) == ("stopped", ["t#1"])


@W61
async def test_new_words_take_over_from_a_run_that_asks_whatever_is_answered_with_them() -> None:
    engine = Payer()
    async with asking(engine) as (_, node):
        agent = node.agent("a", "t")
        asked = interrupt(await agent.said("pay"))
        await agent.run("never mind", resume=[{"interruptId": asked["id"], "status": "cancelled"}])
        again = interrupt(await agent.end())

        assert again["id"] != asked["id"]
        assert engine.paid == []


@W61
@pytest.mark.parametrize("id_", ["nothing@1", "nothing", "@", "x@99999999999999999999999"])
async def test_an_interrupt_that_never_was_is_refused(id_: str) -> None:
    async with asking(Payer()) as (_, node):
        end = await node.agent("a", "t").said(resume=yes({"id": id_}))

        assert (end["last"]["type"], end["last"]["code"]) == ("RUN_ERROR", "unknown-question")


@W61
async def test_an_answer_counts_for_the_generation_at_which_it_was_seen_and_no_other() -> None:
    engine = Payer()
    async with asking(engine) as (_, node):
        agent = node.agent("a", "t")
        asked = interrupt(await agent.said("pay"))
        id_, _, generation = asked["id"].rpartition("@")
        stale = await node.agent("b", "t").said(resume=yes({"id": f"{id_}@{int(generation) + 1}"}))
        assert stale["last"]["code"] == "stale-answer"
        assert engine.paid == []
        await agent.said(resume=yes(asked))

        assert engine.paid == [7]


@W61
async def test_of_several_answers_none_is_used_if_one_is_refused() -> None:
    engine = Payer()
    async with asking(engine) as (_, node):
        asked = interrupt(await node.agent("a", "t").said("pay"))
        both = [*yes(asked), *yes({"id": "nothing@1"})]
        refused = await node.agent("b", "t").said(resume=both)
        assert refused["last"]["code"] == "unknown-question"

        assert engine.paid == []


@W61
async def test_who_may_not_approve_resumes_nothing() -> None:
    engine = Payer()
    async with asking(engine) as (_, node):
        asked = interrupt(await node.agent("a", "t").said("pay"))
        end = await node.agent("b", "t", OTHER).said(resume=yes(asked))

        assert "HTTP 403" in end["failed"]
        assert engine.paid == []


# all of a request, or nothing


@W61
@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"id": "x", "role": "user", "content": [{"type": "tune"}]}, "bad-request"),
        ({"id": "m7", "role": "user", "content": "x"}, "bad-request"),
        (user("more"), "busy"),
    ],
)
async def test_an_answer_beside_words_that_are_refused_is_none(said: object, why: str) -> None:
    engine = Payer()
    async with asking(engine, on_message="refuse") as (client, node):
        agent = node.agent("a", "t")
        asked = interrupt(await agent.said("pay"))
        refused = await client.post("/v1/agui", body(messages=[said], resume=yes(asked)))
        assert refused.problem == why
        end = await agent.said(resume=yes(asked))

        assert end["last"]["outcome"] == SUCCESS, "it was still to be answered"
        assert engine.paid == [7]


@W61
async def test_an_answer_beside_words_for_which_there_is_no_room_is_none() -> None:
    engine = Payer()
    async with asking(engine, on_message="queue", queue_limit=1) as (client, node):
        agent = node.agent("a", "t")
        asked = interrupt(await agent.said("pay"))
        both = body(messages=[user("one"), user("two")], resume=yes(asked))
        refused = await client.post("/v1/agui", both)
        assert refused.problem == "queue-full"
        end = await agent.said(resume=yes(asked))

        assert end["last"]["outcome"] == SUCCESS, "it was still to be answered"


@W61
@pytest.mark.parametrize("first", ["cancelled", "resolved"])
async def test_two_answers_to_one_interrupt_are_refused_and_neither_is_used(first: str) -> None:
    engine = Payer()
    async with asking(engine) as (client, node):
        agent = node.agent("a", "t")
        asked = interrupt(await agent.said("pay"))
        [good] = yes(asked)
        refused = await client.post("/v1/agui", body(resume=[{**good, "status": first}, good]))
        assert refused.problem == "bad-request"
        assert "answered twice" in refused.json["detail"]
        await agent.said(resume=yes(asked))

        assert engine.paid == [7]


class Parent:
    """Has two others pay, who both ask."""

    def __init__(self) -> None:
        self.payer = Payer()

    async def __call__(self, run: Run) -> None:
        both = [await run.child(name, engine=self.payer) for name in ("one", "two")]
        for child in both:
            await child.outcome()


@W61
async def test_of_several_answers_none_is_used_if_one_has_a_scope_that_is_not_offered() -> None:
    engine = Parent()
    async with asking(engine) as (client, node):
        await node.agent("a", "t").said("pay")
        both: list[Any] = []
        while len(both) < 2:  # who joins is asked all that is open by then
            both = told(await client.post("/v1/agui", body()))[-1]["outcome"]["interrupts"]
        good = [*yes(both[0]), *yes(both[1])]
        bad = [*yes(both[0]), *yes(both[1], always=True, scope="everything")]
        refused = await client.post("/v1/agui", body(resume=bad))
        assert refused.problem == "bad-request"
        end = told(await client.post("/v1/agui", body(resume=good)))[-1]

        assert end["outcome"] == SUCCESS
        assert engine.payer.paid == [7, 7]


@W61
@pytest.mark.parametrize("policy", ["queue", "steer", "collect"])
async def test_words_that_wait_for_a_run_that_asks_are_told_the_question(policy: str) -> None:
    engine = Payer()
    async with asking(engine, on_message=policy) as (client, node):
        agent = node.agent("a", "t")
        asked = interrupt(await agent.said("pay"))
        again = interrupt(await node.agent("b", "t").said("more"))
        assert again["id"] == asked["id"]
        await gone(client)
        queue = (await client.get("/v1/sessions/t/queue")).json["messages"]
        assert [one["text"] for one in queue] == ["more"], "they wait all the same"
        end = await agent.said(resume=yes(asked))

        assert end["last"]["outcome"] == SUCCESS
        assert engine.paid == [7]
