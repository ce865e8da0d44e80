"""A workflow of a FunctionAgent behind the scripted provider."""

from contextlib import asynccontextmanager

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

from lastword.testing.provider import Provider
from recipes.llama_index_engine import LlamaIndex
from recipes.proof.not_kept import ASKED_AGAIN, IN_A_PROCESS, UNCOUNTED
from recipes.proof.scripted import Scripted

NOT_KEPT = ASKED_AGAIN | IN_A_PROCESS | UNCOUNTED


@asynccontextmanager
async def opened():
    async with Provider() as provider:
        speaks = {"is_chat_model": True, "is_function_calling_model": True, "max_retries": 0}
        url = f"{provider.url}/v1"
        model = OpenAILike(model="scripted", api_base=url, api_key="k", **speaks)

        def made(function):
            named = {"name": function.__name__, "description": "a tool"}
            return FunctionTool.from_defaults(function, **named)

        def inside(function):
            async def delegate(task: str) -> str:
                return str(await FunctionAgent(tools=[made(function)], llm=model).run(task))

            return delegate

        def add(function):
            agent.tools.append(made(function))

        agent = FunctionAgent(tools=[], llm=model)
        yield Scripted(provider, LlamaIndex(AgentWorkflow([agent])), add, inside)
        assert provider.refused == []
