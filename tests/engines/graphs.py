"""LangGraph's graphs for the stories that all engines share: an agent, and one written by hand."""

# the framework's own types are known in part
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_anthropic import _client_utils as anthropic_clients
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models import _client_utils as openai_clients
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import SecretStr, ValidationError

from lastword import FeedEvent, Run
from lastword.core.entries import Called, Entry, Nature, Result
from lastword.engines.langgraph import LangGraph
from lastword.testing.provider import Provider
from tests.engines.told import Written
from tests.engines.watched_saver import WatchedSaver

_CACHED: tuple[Any, ...] = tuple(
    vars(home)[name]
    for home, *names in (
        (anthropic_clients, "_get_default_async_httpx_client", "_get_default_httpx_client"),
        (openai_clients, "_cached_async_httpx_client", "_cached_sync_httpx_client"),
    )
    for name in names
)
GRAPHS = ("chat", "responses", "anthropic", "nodes")


@asynccontextmanager
async def chat_model(
    provider: Provider, format: str, *, retries: int = 0
) -> AsyncGenerator[BaseChatModel]:
    """A model of LangChain's, in one of the formats, whose client is closed at the end."""
    key = SecretStr("k")
    if format == "anthropic":
        name, thinks = "claude-opus-4-8", {"type": "adaptive"}
        more: dict[str, Any] = {"model_name": name, "thinking": thinks, "base_url": provider.url}
        model: Any = ChatAnthropic(api_key=key, max_retries=retries, **more)
    else:
        more = {"model": "gpt-5", "stream_usage": True}
        if format == "responses":
            kept = {"store": False, "include": ["reasoning.encrypted_content"]}
            more |= {"use_responses_api": True, **kept}
        url = f"{provider.url}/v1"
        model = ChatOpenAI(base_url=url, api_key=key, max_retries=retries, **more)
    try:
        yield model
    finally:
        if format == "anthropic":
            await model._async_client.close()
        else:
            await model.root_async_client.close()
            model.root_client.close()
        for cached in _CACHED:  # by address, which another provider may have next
            cached.cache_clear()


def as_tool(function: Callable[..., Any]) -> BaseTool:
    """A function as a tool of LangChain's, async or not."""
    name, made = function.__name__, StructuredTool.from_function
    if inspect.iscoroutinefunction(function):
        return made(coroutine=function, name=name, description=name)
    return made(function, name=name, description=name)


def by_hand(model: BaseChatModel, tools: Sequence[BaseTool], saver: Any = None) -> Any:
    """A graph of one's own: a node that is not async calls tools in its thread, another awaits."""
    known = {tool.name: tool for tool in tools}
    bound = model.bind_tools(list(tools)) if tools else model

    async def think(state: MessagesState) -> Any:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    def in_threads(name: str) -> bool:
        return getattr(known.get(name), "coroutine", None) is None

    async def awaits(state: MessagesState) -> Any:
        calls = [call for call in _calls(state) if not in_threads(call["name"])]
        return {"messages": await asyncio.gather(*map(awaited, calls))}

    async def awaited(call: Any) -> Any:
        try:
            return await known[call["name"]].ainvoke(call)
        except ValidationError as error:
            return _refused(call, error)

    def threads(state: MessagesState) -> Any:
        calls = [call for call in _calls(state) if in_threads(call["name"])]
        return {"messages": [called(call) for call in calls]}

    def called(call: Any) -> Any:
        try:
            return known[call["name"]].invoke(call)
        except (KeyError, ValidationError) as error:
            return _refused(call, error)

    def route(state: MessagesState) -> list[str]:
        nodes = {"threads" if in_threads(c["name"]) else "awaits" for c in _calls(state)}
        return sorted(nodes) or [END]

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("awaits", awaits)
    graph.add_node("threads", threads)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", route, ["awaits", "threads", END])
    graph.add_edge("awaits", "think")
    graph.add_edge("threads", "think")
    return graph.compile(checkpointer=saver or InMemorySaver())


def _refused(call: Any, error: Exception) -> ToolMessage:
    """As the framework's own node has it."""
    return ToolMessage(f"no: {error!r}", tool_call_id=call["id"], status="error")


def graph_of(start: str, nodes: dict[str, Any], *edges: tuple[str, str], state: Any = None) -> Any:
    """A graph of these nodes, not compiled; it goes on from one to the next as the edges say."""
    graph = StateGraph(state or MessagesState)
    for name, node in nodes.items():
        graph.add_node(name, node)
    graph.add_edge(START, start)
    for one, other in edges:
        graph.add_edge(one, other)
    return graph


def looping(think: Any, act: Any, state: Any = None) -> Any:
    """A graph that asks, and acts for as long as there is something to do; not compiled."""
    graph = graph_of("think", {"think": think, "act": act}, ("act", "think"), state=state)

    def to_do(state: Any) -> str:
        return "act" if _calls(state) else END

    graph.add_conditional_edges("think", to_do, ["act", END])
    return graph


def asks(model: BaseChatModel, *tools: BaseTool) -> Any:
    """A node that asks a model which has these tools."""
    bound = model.bind_tools(tools) if tools else model

    async def think(state: Any) -> Any:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    return think


def calls_of(log: Iterable[Entry]) -> list[tuple[str, Nature, str, str]]:
    """What was called, in order: its name, its nature, its status, and what came of it."""
    entries = list(log)
    results = {entry.call: entry for entry in entries if isinstance(entry, Result)}
    called = [entry for entry in entries if isinstance(entry, Called)]
    return [
        (c.name, c.nature, str(results[c.call].status), results[c.call].content) for c in called
    ]


def said(heard: Iterable[FeedEvent]) -> str:
    """What the person was told."""
    return "".join(event.text for event in heard if event.kind == "text")


def _calls(state: MessagesState) -> list[Any]:
    return getattr(state["messages"][-1], "tool_calls", [])


@asynccontextmanager
async def engine(
    kind: str,
    provider: Provider,
    tools: list[Callable[..., Any]],
    writes: list[Written],
    *,
    retries: int = 0,
) -> AsyncGenerator[Callable[[Run], Any]]:
    """An engine over a graph that has these tools, by the time of its first run."""
    made, saver = dict[int, LangGraph](), WatchedSaver(writes)

    async def run(run: Run) -> None:
        if len(tools) not in made:
            own = [as_tool(tool) for tool in tools]
            if kind == "nodes":
                graph: Any = by_hand(model, own, saver)
            else:
                graph = create_agent(model, own, checkpointer=saver)
            made[len(tools)] = LangGraph(graph)
        await made[len(tools)](run)

    spoken = "chat" if kind == "nodes" else kind
    async with chat_model(provider, spoken, retries=retries) as model:
        yield run
