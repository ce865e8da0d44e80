"""A turn of each framework, by itself and held: the same agent, the same client, the same tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import langchain.agents
from agents import Agent as AgentsAgent
from agents import OpenAIResponsesModel, RunConfig, Runner, function_tool
from anthropic import AsyncAnthropic
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI
from pydantic import SecretStr
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from bench import engines_by_hand
from bench.agent import by_hand
from bench.engines_by_hand import Say, Tools
from lastword import Engine
from lastword.engines.anthropic import Anthropic
from lastword.engines.langgraph import LangGraph
from lastword.engines.openai import OpenAI, OpenAIResponses
from lastword.engines.openai_agents import OpenAIAgents
from lastword.engines.pydantic_ai import PydanticAI


@dataclass(frozen=True)
class Pair:
    """One turn of a framework alone, and the engine around the same."""

    alone: Callable[[], Awaitable[object]]
    engine: Engine


Opens: TypeAlias = Callable[[str], AbstractAsyncContextManager[Pair]]


async def look(n: int) -> str:
    """Look at something."""
    return f"seen {n}"


TOOLS: Tools = {"look": look}


@asynccontextmanager
async def openai_client(url: str) -> AsyncGenerator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        yield client


@asynccontextmanager
async def pydantic_ai(url: str) -> AsyncGenerator[Pair]:
    async with openai_client(url) as client:
        agent = Agent(OpenAIChatModel("gpt-5", provider=OpenAIProvider(openai_client=client)))
        agent.tool_plain(look)
        yield Pair(lambda: by_hand(agent, "work", list[str]().append), PydanticAI(agent))


@asynccontextmanager
async def chat(url: str) -> AsyncGenerator[Pair]:
    async with openai_client(url) as client:
        yield Pair(
            lambda: engines_by_hand.chat(client, _asked(), TOOLS, _heard()),
            OpenAI(client, "gpt-5", tools=[look]),
        )


@asynccontextmanager
async def responses(url: str) -> AsyncGenerator[Pair]:
    async with openai_client(url) as client:
        engine = OpenAIResponses(client, "gpt-5", tools=[look])
        yield Pair(lambda: engines_by_hand.responses(client, _asked(), TOOLS, _heard()), engine)


@asynccontextmanager
async def anthropic(url: str) -> AsyncGenerator[Pair]:
    async with AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client:
        engine = Anthropic(client, "claude-opus-4-8", tools=[look])
        yield Pair(lambda: engines_by_hand.anthropic(client, _asked(), TOOLS, _heard()), engine)


@asynccontextmanager
async def langgraph(url: str) -> AsyncGenerator[Pair]:
    key = SecretStr("k")
    address = f"{url}/v1"
    model = ChatOpenAI(model="gpt-5", base_url=address, api_key=key, max_retries=0, streaming=True)
    own = StructuredTool.from_function(coroutine=look, name="look", description="Look.")
    graph: Any = cast("Any", langchain.agents).create_agent(model, [own])
    yield Pair(lambda: langgraph_by_hand(graph), LangGraph(graph))


class _Hears(AsyncCallbackHandler):
    """What a team has to hear a model by, in a graph that tells only what its nodes gave."""

    def __init__(self) -> None:
        self.heard = list[str]()

    async def on_llm_new_token(self, token: Any, **_: Any) -> None:  # noqa: ANN401
        self.heard.append(str(token))


async def langgraph_by_hand(graph: Any) -> None:  # noqa: ANN401 - the framework's
    asked, hears = {"messages": [("user", "work")]}, {"callbacks": [_Hears()]}
    async for _ in graph.astream(asked, hears, stream_mode="updates", subgraphs=True):
        pass


@asynccontextmanager
async def openai_agents(url: str) -> AsyncGenerator[Pair]:
    async with openai_client(url) as client:
        model = OpenAIResponsesModel("gpt-5", client)
        agent = AgentsAgent[Any]("bench", model=model, tools=[function_tool(look)])
        yield Pair(lambda: agents_by_hand(agent), OpenAIAgents(agent))


async def agents_by_hand(agent: AgentsAgent[Any]) -> None:
    heard = list[str]()
    result = Runner.run_streamed(agent, "work", run_config=RunConfig(tracing_disabled=True))
    async for event in result.stream_events():
        data: Any = getattr(event, "data", None)
        if getattr(data, "type", "") == "response.output_text.delta":
            heard.append(data.delta)


def _asked() -> list[Any]:
    return [{"role": "user", "content": "work"}]


def _heard() -> Say:
    heard = list[str]()

    async def say(text: str) -> None:
        heard.append(text)

    return say


SIDES: Mapping[str, Opens] = {
    "pydantic-ai": pydantic_ai,
    "sdk chat": chat,
    "sdk responses": responses,
    "sdk anthropic": anthropic,
    "langgraph": langgraph,
    "openai-agents": openai_agents,
}
