"""What a program pays for an engine at its start, beside the framework alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from statistics import median

from bench.turns import heading, row

TIMES = 5
_OPENAI = "from openai import AsyncOpenAI; c = AsyncOpenAI(api_key='k')"
_GRAPH = """
from langgraph.graph import END, START, MessagesState, StateGraph
from langchain_openai import ChatOpenAI
g = StateGraph(MessagesState)
g.add_node("a", lambda state: state)
g.add_edge(START, "a")
g.add_edge("a", END)
g = g.compile()
"""
_STARTS = {
    "pydantic-ai": (
        "from pydantic_ai import Agent; from pydantic_ai.models.openai import OpenAIChatModel;"
        "a = Agent()",
        "from lastword.engines.pydantic_ai import PydanticAI; e = PydanticAI(a)",
    ),
    "sdk chat": (_OPENAI, "from lastword.engines.openai import OpenAI; e = OpenAI(c, 'm')"),
    "sdk anthropic": (
        "from anthropic import AsyncAnthropic; c = AsyncAnthropic(api_key='k')",
        "from lastword.engines.anthropic import Anthropic; e = Anthropic(c, 'm')",
    ),
    "langgraph": (_GRAPH, "from lastword.engines.langgraph import LangGraph; e = LangGraph(g)"),
    "openai-agents": (
        "from agents import Agent, Runner; a = Agent('a')",
        "from lastword.engines.openai_agents import OpenAIAgents; e = OpenAIAgents(a)",
    ),
    "claude": (
        "from claude_agent_sdk import ClaudeAgentOptions; o = ClaudeAgentOptions()",
        "from lastword.engines.claude import ClaudeAgent; e = ClaudeAgent(o)",
    ),
}


async def main(*_: int, only: Collection[str] = ()) -> None:
    heading("a program's start, until the engine is there: processor time")
    for name, (alone, engine) in _STARTS.items():
        if only and not any(name.startswith(one) for one in only):
            continue
        bare = median(_took(alone) for _ in range(TIMES))
        held = f"{alone}\nfrom lastword import Runtime\n{engine}\nRuntime(e)"
        row(f"{name}, alone", bare)
        row(f"{name}, held", median(_took(held) for _ in range(TIMES)), ("alone", bare))


def _took(program: str) -> float:
    """Seconds of the processor."""
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", program], os.environ)
    _, status, used = os.wait4(pid, 0)
    if status:
        raise AssertionError(program)
    return used.ru_utime + used.ru_stime
