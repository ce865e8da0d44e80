"""E37. Checkpoints: a stale run writes none, and state other than messages is kept."""

# the framework's own types are known in part
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
import operator
from collections.abc import Iterator, Sequence
from contextvars import copy_context
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, MessagesState
from typing_extensions import TypedDict

from lastword import Outcome, Run, Runtime, Superseded
from lastword.engines.langgraph import LangGraph
from lastword.testing.provider import Call as Asks
from lastword.testing.provider import Provider
from tests.engines.graphs import asks, chat_model, graph_of, said
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("E37")
THREAD: RunnableConfig = {"configurable": {"thread_id": "s", "checkpoint_ns": ""}}


class Counting(MessagesState):
    steps: Annotated[int, operator.add]


class Plain(TypedDict):  # with a reducer that only ever adds
    messages: Annotated[list[Any], operator.add]
    steps: Annotated[int, operator.add]


async def count(_: Any) -> Any:
    return {"steps": 1}


@pytest.mark.parametrize("state", [Counting, Plain])
async def test_of_messages_the_log_is_the_truth_and_of_other_state_the_checkpoint(
    state: Any,
) -> None:
    heard: list[Any] = []
    async with Provider() as provider, chat_model(provider, "chat") as model:
        nodes = {"count": count, "think": asks(model)}
        flow = graph_of("count", nodes, ("count", "think"), ("think", END), state=state)
        graph = flow.compile(checkpointer=InMemorySaver())
        async with Runtime(LangGraph(graph), sink=heard.append) as r:
            session = r.session("s")
            provider.say("one")
            await (await session.send("a")).outcome()
            cut = provider.answer("two ", "words", paced=True)
            await session.send("b")
            await cut.release()
            await until(lambda: said(heard) == "onetwo ")
            assert (await session.stop()).quiet
            cut.free()
            provider.say("three")
            ticket = await session.send("c")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            await check_log(session)
        kept = (await graph.aget_state(THREAD)).values
    assert kept["steps"] == 3
    shown = [message["content"] for message in provider.requests[-1].messages]
    note = "[The person stopped this answer here. Do not resume it unless they ask.]"
    assert shown == ["a", "one", "b", "two ", f"{note}\n\nc"]
    assert [message.text for message in kept["messages"]] == [*shown, "three"]
    assert provider.refused == []


async def test_after_a_stop_in_a_tool_the_next_turn_is_valid() -> None:
    latch = Latch()

    @tool
    async def waits() -> str:
        """Wait."""
        await latch.wait()
        return ""

    async with Provider() as provider, chat_model(provider, "chat") as model:
        graph = create_agent(model, [waits], checkpointer=InMemorySaver())
        async with Runtime(LangGraph(graph)) as r:
            session = r.session("s")
            provider.answer(Asks("waits", {}))
            await session.send("go")
            await latch.came.wait()
            await session.stop()
            provider.say("fine")
            ticket = await session.send("and?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    roles = [message["role"] for message in provider.requests[-1].messages]
    assert roles == ["user", "assistant", "tool", "user"]
    assert provider.refused == []


async def test_where_a_graph_keeps_messages_of_its_own_no_call_is_without_its_result() -> None:
    latch = Latch()

    @tool
    async def waits() -> str:
        """Wait."""
        await latch.wait()
        return ""

    async with Provider() as provider, chat_model(provider, "anthropic") as model:
        own = create_agent(model, [waits], checkpointer=True)
        graph = graph_of("own", {"own": own}, ("own", END)).compile(checkpointer=InMemorySaver())
        async with Runtime(LangGraph(graph)) as r:
            session = r.session("s")
            provider.answer("Hm. ", Asks("waits", {}))
            await session.send("go")
            await latch.came.wait()
            await session.stop()
            provider.say("fine")
            ticket = await session.send("and?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert "[may have executed]" in str(provider.requests[-1].messages)
    assert provider.refused == []


class Gated(InMemorySaver):
    """A checkpointer whose writes take a while."""

    def __init__(self, latch: Latch) -> None:
        super().__init__()
        self.latch = latch
        self.begun, self.ended = 0, 0

    async def aput(self, *args: Any, **more: Any) -> RunnableConfig:
        self.begun += 1
        await self.latch.wait()
        written = await super().aput(*args, **more)
        self.ended += 1
        return written


async def test_a_write_that_began_is_waited_for_whole_and_no_other_begins() -> None:
    latch = Latch()
    saver = Gated(latch)
    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.always(lambda _: "fine")
        graph = create_agent(model, [], checkpointer=saver)
        async with Runtime(LangGraph(graph)) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            stopping = session.stop()
            await stopping.fenced()
            begun = saver.begun
            latch.open.set()
            receipt = await stopping
            assert receipt.quiet
            assert (saver.begun, saver.ended) == (begun, begun)
            ticket = await session.send("and?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert saver.ended == saver.begun > begun


async def test_a_write_that_does_not_end_is_named() -> None:
    latch = Latch()
    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.always(lambda _: "fine")
        graph = create_agent(model, [], checkpointer=Gated(latch))
        async with Runtime(LangGraph(graph), grace=0.01, deadline=0.1) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            receipt = await session.stop()
            assert "write checkpoint" in str(receipt)
            assert not receipt.quiet
            latch.open.set()
            assert (await receipt.settled()).quiet


async def test_a_run_that_has_lost_its_session_writes_nothing() -> None:
    saver, late = InMemorySaver(), list[Any]()

    async def stale(_: Run) -> None:
        late.append(copy_context())
        await asyncio.Event().wait()

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.say("fine")
        async with Runtime(LangGraph(create_agent(model, [], checkpointer=saver))) as r:
            await (await r.session("s").send("go")).outcome()
    written = await saver.aget_tuple(THREAD)
    assert written
    async with Runtime(stale) as r:
        await r.session("s").send("go")
        await until(lambda: late)
        await r.session("s").stop()

        async def write() -> None:
            await saver.aput(THREAD, written.checkpoint, written.metadata, {})

        loop = asyncio.get_running_loop()
        with pytest.raises(Superseded, match="write: checkpoint"):
            await loop.create_task(write(), context=late[0])
        with pytest.raises(Superseded):
            late[0].run(saver.put, THREAD, written.checkpoint, written.metadata, {})
        with pytest.raises(Superseded):
            late[0].run(saver.delete_thread, "s")
    assert len(list(saver.list(THREAD))) == len(list(InMemorySaver.list(saver, THREAD))) > 0
    saver.put(THREAD, written.checkpoint, written.metadata, {})  # outside of runs, as it was


class Sync(BaseCheckpointSaver[Any]):
    """A checkpointer that is not async."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = InMemorySaver()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self.kept.get_tuple(config)

    def list(self, config: RunnableConfig | None, **more: Any) -> Iterator[CheckpointTuple]:
        return self.kept.list(config, **more)

    def put(self, *args: Any, **more: Any) -> RunnableConfig:
        return self.kept.put(*args, **more)

    def put_writes(self, *args: Any, **more: Any) -> None:
        self.kept.put_writes(*args, **more)

    def get_next_version(self, current: Any, channel: None) -> Any:
        return self.kept.get_next_version(current, channel)


class Refusing(Sync):
    """The same, which says so itself, as the framework's own for SQLite does."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        raise NotImplementedError("use the async one")

    async def aput(self, *args: Any, **more: Any) -> RunnableConfig:
        raise NotImplementedError("use the async one")

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        raise NotImplementedError("use the async one")


@pytest.mark.parametrize("saver", [Sync(), Refusing()])
async def test_a_checkpointer_that_is_not_async_is_asked_in_a_thread(saver: Sync) -> None:
    async with Provider() as provider, chat_model(provider, "chat") as model:
        nodes = {"count": count, "think": asks(model)}
        flow = graph_of("count", nodes, ("count", "think"), ("think", END), state=Counting)
        async with Runtime(LangGraph(flow.compile(checkpointer=saver))) as r:
            for text in ("a", "b"):
                provider.say("fine")
                ticket = await r.session("s").send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    written = saver.get_tuple(THREAD)
    assert written
    assert written.checkpoint["channel_values"]["steps"] == 2


async def test_a_graph_is_given_what_a_team_gives_it_for_each_run() -> None:
    seen: list[Any] = []

    class Asked(TypedDict):
        question: str
        answer: str

    async def answers(state: Asked, config: RunnableConfig) -> Any:
        seen.append((state["question"], config.get("configurable", {}).get("user")))
        return {"answer": "yes"}

    graph = graph_of("answers", {"answers": answers}, ("answers", END), state=Asked).compile()
    with pytest.raises(ValueError, match="say what it is given"):
        LangGraph(graph)
    engine = LangGraph(
        graph,
        state=lambda run: {"question": run.message.text},
        config=lambda run: {"configurable": {"user": run.by}},
    )
    async with Runtime(engine) as r:
        ticket = await r.session("s").send("is it?", by="ada")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert seen == [("is it?", "ada")]
