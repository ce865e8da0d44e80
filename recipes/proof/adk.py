"""An agent of ADK behind the scripted provider, by way of LiteLLM."""

import os
from contextlib import asynccontextmanager

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise it fetches a price list

from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.tools.agent_tool import AgentTool

from lastword.testing.provider import Provider
from recipes.adk_engine import ADK
from recipes.proof.not_kept import IN_A_PROCESS, RESULTS_REWORDED, UNCOUNTED, WRONG_AND_COMPLETED
from recipes.proof.scripted import Scripted

NOT_KEPT = IN_A_PROCESS | RESULTS_REWORDED | UNCOUNTED | WRONG_AND_COMPLETED


@asynccontextmanager
async def opened():
    async with Provider() as provider:
        url = f"{provider.url}/v1"
        model = LiteLlm(model="openai/scripted", api_base=url, api_key="k", num_retries=0)
        agent = LlmAgent(name="outer", model=model, tools=[])

        def inside(function):
            return AgentTool(LlmAgent(name="delegate", model=model, tools=[function]))

        one = Scripted(provider, ADK(agent), agent.tools.append, inside)
        one.task = "request"
        yield one
        assert provider.refused == []
