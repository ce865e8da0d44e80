"""E38. What a graph asks: it is answered once, in the same run, and a stop withdraws it."""

# the framework's own types are known in part
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, MessagesState
from langgraph.types import interrupt

from lastword import Outcome, Run, Runtime
from lastword.engines.langgraph import LangGraph
from lastword.testing.provider import Call as Asks
from lastword.testing.provider import Provider
from tests.engines.graphs import asks, calls_of, chat_model, graph_of
from tests.promise.stories import Latch, check_log

pytestmark = pytest.mark.scenario("E38")
KEPT = pytest.mark.parametrize("kept", [True, False], ids=["checkpointer", "none"])


class Till:
    """Tools that pay, after a question."""

    def __init__(self) -> None:
        self.paid: list[int] = []
        self.looked: list[int] = []

        @tool
        async def pay(n: int) -> str:
            """Pay."""
            self.looked.append(n)
            if not interrupt({"pay": n}):
                return "not allowed"
            self.paid.append(n)
            return f"paid {n}"

        @tool
        def pay_in_thread(n: int) -> str:
            """Pay, in a thread."""
            if not interrupt({"pay": n}):
                return "not allowed"
            self.paid.append(n)
            return f"paid {n}"

        @tool
        async def look(n: int) -> str:
            """Look."""
            return f"saw {n}"

        self.pay, self.pay_in_thread, self.look = pay, pay_in_thread, look


@KEPT
@pytest.mark.parametrize("name", ["pay", "pay_in_thread"])
async def test_each_question_is_answered_once_and_its_call_is_one(name: str, kept: bool) -> None:
    till, asked = Till(), list[Any]()

    async def ask(run: Run, value: Any) -> bool:
        asked.append((str(run.session), value["pay"]))
        return value["pay"] == 1

    async with Provider() as provider, chat_model(provider, "chat") as model:
        saver = InMemorySaver() if kept else None
        tools = [getattr(till, name), till.look]
        provider.answer(Asks(name, {"n": 1}), Asks(name, {"n": 2}), Asks("look", {"n": 3}))
        provider.say("done")
        graph = create_agent(model, tools, checkpointer=saver)
        async with Runtime(LangGraph(graph, ask=ask)) as r:
            session = r.session("s")
            ticket = await session.send("pay")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            made = calls_of(await session.log())
            await check_log(session)
    assert till.paid == [1]
    assert sorted(asked) == [("s", 1), ("s", 2)]
    done = "completed"
    assert made == [
        (name, "", done, "paid 1"),
        (name, "", done, "not allowed"),
        ("look", "", done, "saw 3"),
    ]
    assert provider.refused == []


@KEPT
async def test_a_stop_withdraws_the_question_and_nothing_answers_it_later(kept: bool) -> None:
    till, latch = Till(), Latch()

    async def ask(_: Run, __: Any) -> bool:
        await latch.wait()
        return True

    async with Provider() as provider, chat_model(provider, "chat") as model:
        saver = InMemorySaver() if kept else None
        graph = create_agent(model, [till.pay, till.look], checkpointer=saver)
        async with Runtime(LangGraph(graph, ask=ask)) as r:
            session = r.session("s")
            provider.answer(Asks("pay", {"n": 1}), Asks("look", {"n": 2}))
            await session.send("pay")
            await latch.came.wait()
            receipt = await session.stop()
            latch.open.set()
            assert receipt.quiet
            provider.say("fine")
            ticket = await session.send("and?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            made = calls_of(await session.log())
    assert till.paid == []
    assert till.looked == [1]  # so it may have executed: what is before the question did
    assert [status for _, _, status, _ in made] == ["may have executed", "completed"]
    assert provider.refused == []


async def test_a_node_that_asks_is_answered() -> None:
    async def guard(_: MessagesState) -> Any:
        return {"messages": [] if interrupt("may it?") == "yes" else [("ai", "no")]}

    async def ask(_: Run, value: Any) -> str:
        return "yes" if value == "may it?" else ""

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.say("fine")
        nodes = {"guard": guard, "think": asks(model)}
        graph = graph_of("guard", nodes, ("guard", "think"), ("think", END)).compile()
        async with Runtime(LangGraph(graph, ask=ask)) as r:
            ticket = await r.session("s").send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            history = await r.session("s").history()
    assert [item.text for item in history] == ["go", "fine"]


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_graph_that_pauses_goes_on_if_that_is_the_answer(allowed: bool) -> None:
    async def ask(_: Run, value: Any) -> bool:
        assert value is None
        return allowed

    till = Till()
    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks("look", {"n": 1}))
        provider.say("done")
        graph = create_agent(model, [till.look], interrupt_before=["tools"])
        async with Runtime(LangGraph(graph, ask=ask)) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            [(_, _, status, _)] = calls_of(await session.log())
    assert status == ("completed" if allowed else "not started")


async def test_the_framework_s_own_approvals_are_asked_of_the_person() -> None:
    asked, till = list[tuple[str, str]](), Till()

    async def approve(run: Run, tool: str, arguments: str) -> bool:
        asked.append((tool, arguments))
        assert run.session == "s"
        return json.loads(arguments)["n"] == 1

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks("look", {"n": 1}), Asks("look", {"n": 2}))
        provider.say("done")
        asks_first = HumanInTheLoopMiddleware({"look": True})
        graph = create_agent(model, [till.look], middleware=[asks_first])
        async with Runtime(LangGraph(graph, approve=approve)) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            made = calls_of(await session.log())
    assert asked == [("look", '{"n": 1}'), ("look", '{"n": 2}')]
    assert [status for _, _, status, _ in made] == ["completed", "not started"]
    assert "did not allow" in made[1][3]


async def test_a_call_that_the_person_changed_is_told_as_it_was_made() -> None:
    till = Till()

    async def ask(_: Run, __: Any) -> Any:
        edited = {"name": "look", "args": {"n": 7}}
        return {"decisions": [{"type": "edit", "edited_action": edited}]}

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks("look", {"n": 1}))
        provider.say("done")
        provider.say("sure")
        asks_first = HumanInTheLoopMiddleware({"look": True})
        graph = create_agent(model, [till.look], middleware=[asks_first])
        async with Runtime(LangGraph(graph, ask=ask)) as r:
            session = r.session("s")
            for text in ("go", "sure?"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            made = calls_of(await session.log())
    assert [(status, content) for _, _, status, content in made] == [
        ("not started", "it was made with other arguments than these, in the next call"),
        ("completed", "saw 7"),
    ]
    assert provider.refused == []


async def test_a_question_that_nobody_answers_ends_the_turn_in_words() -> None:
    till = Till()
    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks("pay", {"n": 1}))
        graph = create_agent(model, [till.pay], checkpointer=InMemorySaver())
        async with Runtime(LangGraph(graph)) as r:
            ticket = await r.session("s").send("pay")
            assert await ticket.outcome() == Outcome.FAILED
            assert "LangGraph(ask=...)" in ticket.error
            provider.say("fine")
            ticket = await r.session("s").send("and?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert till.paid == []
    assert provider.refused == []


async def test_questions_side_by_side_are_asked_side_by_side() -> None:
    till, both = Till(), asyncio.Barrier(2)

    async def ask(_: Run, __: Any) -> bool:
        await both.wait()
        return True

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks("pay", {"n": 1}), Asks("pay", {"n": 2}))
        provider.say("done")
        async with Runtime(LangGraph(create_agent(model, [till.pay]), ask=ask)) as r:
            ticket = await r.session("s").send("pay")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert sorted(till.paid) == [1, 2]
