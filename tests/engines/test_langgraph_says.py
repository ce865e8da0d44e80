"""E39. What a graph says: once, in order, and only what is for the person; steered, too."""

# the framework's own types are known in part
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
import base64
import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.caches import InMemoryCache
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END
from pydantic import BaseModel

from lastword import Attachment, Outcome, Runtime
from lastword.core.entries import Summary, Used
from lastword.engines.kit import Compaction
from lastword.engines.langgraph import LangGraph
from lastword.testing.provider import Answer, Failure, Provider, Request, Say, Think
from lastword.testing.provider import Call as Asks
from tests.engines.graphs import asks, calls_of, chat_model, graph_of, looping, said
from tests.engines.test_refused import PNG
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("E39")
PICTURE = Attachment("image/png", base64.b64encode(PNG).decode(), name="cat.png")


@tool
async def look(n: int) -> str:
    """Look."""
    return f"saw {n}"


async def copies(state: Any) -> Any:
    """It hands on what the model said, as a message of its own."""
    return {"messages": [AIMessage(state["messages"][-1].text, name="copy")]}


async def guard(_: Any) -> Any:
    return {"messages": [AIMessage("Not allowed.")]}


async def test_what_a_node_answers_by_itself_is_said_and_nothing_is_said_twice() -> None:
    heard: list[Any] = []
    async with Provider() as provider, chat_model(provider, "chat") as model:
        inside = graph_of("guard", {"guard": guard}, ("guard", END)).compile()
        nodes = {"think": asks(model), "copies": copies, "inside": inside}
        edges = [("think", "copies"), ("copies", "inside"), ("inside", END)]
        graph = graph_of("think", nodes, *edges).compile(checkpointer=InMemorySaver())
        async with Runtime(LangGraph(graph), sink=heard.append) as r:
            for text in ("Hm. ", "Well. "):
                provider.say(text)
                ticket = await r.session("s").send("go")
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            await check_log(r.session("s"))
    assert said(heard) == "Hm. Not allowed.Well. Not allowed."


class Route(BaseModel):
    """Where to go."""

    to: str


async def test_what_is_asked_for_another_purpose_is_not_said_and_not_in_the_log() -> None:
    heard: list[Any] = []
    async with Provider() as provider, chat_model(provider, "chat") as model:

        async def route(state: Any) -> Any:
            await model.with_config(tags=["nostream"]).ainvoke(state["messages"])
            structured = model.with_structured_output(Route, method="function_calling")
            assert await structured.ainvoke(state["messages"]) == Route(to="here")
            return {}

        provider.say("not for you")
        provider.answer(Asks("Route", {"to": "here"}))
        provider.say("Hello.")
        nodes = {"route": route, "think": asks(model)}
        graph = graph_of("route", nodes, ("route", "think"), ("think", END)).compile()
        async with Runtime(LangGraph(graph), sink=heard.append) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            assert calls_of(await session.log()) == []
            used = [entry for entry in await session.log() if isinstance(entry, Used)]
    assert said(heard) == "Hello."
    assert len(used) == 3


async def test_only_the_nodes_that_are_to_speak_do() -> None:
    heard: list[Any] = []
    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.say("plan")
        provider.say("answer")

        async def plan(state: Any) -> Any:
            await model.ainvoke(state["messages"])
            return {}

        nodes = {"plan": plan, "answer": asks(model)}
        graph = graph_of("plan", nodes, ("plan", "answer"), ("answer", END)).compile()
        async with Runtime(LangGraph(graph, speak={"answer"}), sink=heard.append) as r:
            ticket = await r.session("s").send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert said(heard) == "answer"


async def test_an_answer_from_a_cache_is_said_and_its_calls_are_made() -> None:
    heard: list[Any] = []
    async with Provider() as provider, chat_model(provider, "chat") as model:
        model.cache = InMemoryCache()
        provider.answer("I look. ", Asks("look", {"n": 1}))
        provider.say("One.")
        provider.say("One again.")
        async with Runtime(LangGraph(create_agent(model, [look])), sink=heard.append) as r:
            for name in ("a", "b"):
                session = r.session(name)
                ticket = await session.send("go")
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
                assert calls_of(await session.log()) == [("look", "", "completed", "saw 1")]
    assert said(heard) == "I look. One.I look. One again."


async def test_a_model_in_a_node_that_is_not_async_is_heard_as_it_speaks_and_stopped() -> None:
    heard: list[Any] = []
    async with Provider() as provider, chat_model(provider, "chat") as model:
        bound = model.bind_tools([look])

        def think(state: Any) -> Any:
            return {"messages": [bound.invoke(state["messages"])]}

        async def act(state: Any) -> Any:
            calls = state["messages"][-1].tool_calls
            return {"messages": [await look.ainvoke(call) for call in calls]}

        async with Runtime(LangGraph(looping(think, act).compile()), sink=heard.append) as r:
            session = r.session("s")
            provider.answer("I ", "look. ", Asks("look", {"n": 1}))
            provider.say("Seen.")
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            assert calls_of(await session.log()) == [("look", "", "completed", "saw 1")]
            cut = provider.answer("one ", "two ", "three", paced=True)
            await session.send("count")
            await cut.release()
            await until(lambda: said(heard).endswith("one "))
            stopping = session.stop()
            await stopping.fenced()
            cut.free()
            await (await stopping).settled()
            provider.say("Yes?")
            ticket = await session.send("hey")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            await check_log(session)
    assert said(heard) == "I look. Seen.one Yes?"
    assert provider.refused == []


async def test_what_steers_stays_where_it_came_in() -> None:
    latch = Latch()

    @tool
    async def waits() -> str:
        """Wait."""
        await latch.wait()
        return "waited"

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks("waits", {}))
        provider.answer(Asks("look", {"n": 1}))
        provider.say("done")
        async with Runtime(LangGraph(create_agent(model, [waits, look]))) as r:
            session = r.session("s")
            ticket = await session.send("go")
            await latch.came.wait()
            for text in ("in red", "and blue"):
                await session.send(text, on_message="steer")
            latch.open.set()
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    before, last = (request.messages for request in provider.requests[-2:])
    assert [m["content"] for m in before] == ["go", None, "waited", "in red\n\nand blue"]
    assert last[: len(before)] == before
    assert provider.refused == []


@pytest.mark.parametrize("format", ["responses", "anthropic"])
async def test_what_a_provider_wants_back_is_given_back_in_the_next_turn(format: str) -> None:
    async with Provider() as provider, chat_model(provider, format) as model:
        provider.answer(Think("I ", "look."), Say("Wait. "), Asks("look", {"n": 3}))
        provider.answer(Think("A cat."), Say("A cat."))
        async with Runtime(LangGraph(create_agent(model, [look]))) as r:
            session = r.session("s")
            ticket = await session.send("look")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            provider.say("Yes.")
            ticket = await session.send("sure?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            await check_log(session)
            thoughts = [i.text for i in await session.history() if i.role == "thinking"]
    _, again, later = provider.requests
    assert later.messages[: len(again.messages)] == again.messages
    own = "signature" if format == "anthropic" else "encrypted_content"
    assert json.dumps(later.messages).count(own) == 2
    assert thoughts == ["I look.", "A cat."]
    assert provider.refused == []


@pytest.mark.parametrize("format", ["chat", "responses", "anthropic"])
async def test_a_picture_is_sent(format: str) -> None:
    async with Provider() as provider, chat_model(provider, format) as model:
        provider.say("A cat.")
        async with Runtime(LangGraph(create_agent(model, []))) as r:
            ticket = await r.session("s").send("what is it?", attachments=(PICTURE,))
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert PICTURE.data in json.dumps(provider.requests[-1].messages)
    assert provider.refused == []


async def test_what_a_provider_refused_twice_is_left_out_and_the_session_goes_on() -> None:
    def script(request: Request) -> Answer | Failure:
        bad = "poison" in json.dumps(request.body)
        return Failure(400, "invalid content") if bad else Answer("fine")

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.always(script)
        graph = create_agent(model, [], checkpointer=InMemorySaver())
        async with Runtime(LangGraph(graph)) as r:
            session = r.session("s")
            first = await session.send("poison")
            assert await first.outcome() == Outcome.FAILED
            assert "did not take the request" in first.error
            for text in ("hello?", "and?"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert "not shown here" in json.dumps(provider.requests[-1].messages)


async def test_an_error_of_a_provider_is_a_line_of_words_and_a_team_s_fallback_sees_its_own() -> (
    None
):
    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.fail(401, "no such key")
        async with Runtime(LangGraph(create_agent(model, []))) as r:
            ticket = await r.session("s").send("go")
            assert await ticket.outcome() == Outcome.FAILED
        provider.fail(500, "busy")
        provider.say("fine")
        again = model.with_retry(stop_after_attempt=2, wait_exponential_jitter=False)

        async def think(state: Any) -> Any:
            return {"messages": [await again.ainvoke(state["messages"])]}

        graph = graph_of("think", {"think": think}, ("think", END)).compile()
        async with Runtime(LangGraph(graph)) as r:
            retried = await r.session("s").send("go")
            assert await retried.outcome() == Outcome.COMPLETED, retried.error
    assert ticket.error == "gpt-5: the provider refused the key (HTTP 401): no such key"


async def test_a_graph_that_does_not_come_to_an_end_is_told_in_words() -> None:
    async def again(_: Any) -> Any:
        return {}

    graph = graph_of("again", {"again": again}, ("again", "again")).compile()
    async with Runtime(LangGraph(graph, config={"recursion_limit": 5})) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.FAILED
    assert "recursion_limit" in ticket.error
    assert "\n" not in ticket.error


async def test_a_long_history_is_summarised_by_the_graph_s_own_model() -> None:
    def script(request: Request) -> Answer:
        return Answer("a summary" if "Summarise" in json.dumps(request.body) else "fine")

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.always(script)
        engine = LangGraph(create_agent(model, []), compaction=Compaction(window=300))
        async with Runtime(engine) as r:
            session = r.session("s")
            for number in range(5):
                ticket = await session.send(f"{number} {'word ' * 60}")
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            log = await session.log()
    assert any(isinstance(entry, Summary) for entry in log)
    assert provider.requests[-1].messages[0]["content"].startswith("[a summary]")
    assert len(provider.requests[-1].messages) < 10
    assert provider.refused == []


async def test_two_answers_at_once_are_both_heard_and_the_next_request_is_taken() -> None:
    heard: list[Any] = []
    async with Provider() as provider, chat_model(provider, "anthropic") as model:

        async def both(state: Any) -> Any:
            answers = await asyncio.gather(*(model.ainvoke(state["messages"]) for _ in range(2)))
            return {"messages": answers}

        provider.answer(Think("hm"), Say("a"))
        provider.answer(Think("ah"), Say("b"))
        graph = graph_of("both", {"both": both}, ("both", END)).compile()
        async with Runtime(LangGraph(graph), sink=heard.append) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            assert sorted(said(heard)) == ["a", "b"]
            provider.always(lambda _: "fine")
            ticket = await session.send("and?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert provider.refused == []
