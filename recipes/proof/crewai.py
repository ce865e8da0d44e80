"""An agent of CrewAI behind the scripted provider."""

import os
from contextlib import asynccontextmanager

os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"

from crewai import LLM, Agent
from crewai.tools import tool

from lastword.testing.provider import Provider
from recipes.crewai_engine import CrewAI
from recipes.proof.not_kept import (
    ASKED_AGAIN,
    AT_ONCE,
    IN_A_PROCESS,
    IN_ANY_ORDER,
    REWORDED,
    UNHEARD,
)
from recipes.proof.scripted import Scripted, not_async

NOT_KEPT = ASKED_AGAIN | AT_ONCE | IN_A_PROCESS | IN_ANY_ORDER | REWORDED | UNHEARD


@asynccontextmanager
async def opened():
    async with Provider() as provider:

        def agent(tools):
            url = f"{provider.url}/v1"
            model = LLM(model="openai/scripted", base_url=url, api_key="k", max_retries=0)
            say = {"role": "t", "goal": "t", "backstory": "t", "verbose": False}
            return Agent(llm=model, tools=[*tools], **say)

        def made(function):
            waits = not_async(function)
            waits.__doc__ = waits.__doc__ or "A tool."
            return tool(function.__name__)(waits)

        def inside(function):
            def delegate(task: str) -> str:
                return agent([made(function)]).kickoff(task).raw

            return delegate

        tools = []
        engine = CrewAI(lambda: agent(tools))
        yield Scripted(provider, engine, lambda function: tools.append(made(function)), inside)
        assert provider.refused == []
