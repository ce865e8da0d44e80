"""An agent of agent-framework behind the scripted provider."""

from contextlib import asynccontextmanager

from agent_framework import Agent, tool
from agent_framework_openai import OpenAIChatCompletionClient

from lastword.testing.provider import Provider
from recipes.agent_framework_engine import AgentFramework
from recipes.proof.not_kept import ASKED_AGAIN, IN_A_PROCESS
from recipes.proof.scripted import Scripted

NOT_KEPT = ASKED_AGAIN | IN_A_PROCESS


@asynccontextmanager
async def opened():
    async with Provider() as provider:
        url = f"{provider.url}/v1"
        client = OpenAIChatCompletionClient(model="scripted", base_url=url, api_key="k")
        client.client.max_retries = 0

        def add(function):
            agent.default_options["tools"].append(tool(function, name=function.__name__))

        def inside(function):
            async def delegate(task: str) -> str:
                return (await inner.run(task)).text

            inner = Agent(client, name="inner", tools=[tool(function, name=function.__name__)])
            return delegate

        agent = Agent(client, name="outer", tools=[])
        yield Scripted(provider, AgentFramework(agent), add, inside)
        assert provider.refused == []
        await client.client.close()
