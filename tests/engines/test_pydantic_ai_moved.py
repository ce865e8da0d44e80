"""E35. What is held of pydantic-ai, and of the client of MCP: one that moved is an error at once.

The names of the other frameworks are asked for in `test_agents_held`, `test_langgraph_moved` and
`test_claude`.
"""

import sys
from typing import Any

import pytest
from agents import Agent as OpenAIAgent
from mcp.client.session import ClientSession
from pydantic_ai import Agent, _function_schema, _output
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models import Model
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.toolsets import AbstractToolset

from lastword.engines.openai_agents import OpenAIAgents
from lastword.engines.pydantic_ai import FrameworkMoved, PydanticAI
from tests.engines.scripted import calls_once

pytestmark = pytest.mark.scenario("E35")
NAMES = [
    (Agent, "iter"),
    (FunctionModel, "__init__"),
    (_function_schema.FunctionSchema, "call"),
    (_output, "execute_choice_action"),
    (AbstractToolset, "call_tool"),
    (MCPToolset, "direct_call_tool"),
    (Model, "request"),
    (Model, "request_stream"),
    (AbstractCapability, "wrap_tool_execute"),
    (AbstractCapability, "before_model_request"),
    (AbstractCapability, "handle_deferred_tool_calls"),
]


def engine() -> PydanticAI:
    return PydanticAI(Agent(calls_once()))


@pytest.mark.parametrize(
    ("home", "name", "how"),
    [(*each, "changed") for each in NAMES] + [(*each, "gone") for each in NAMES[2:]],  # not bases'
)
def test_a_framework_that_moved_a_name_makes_no_engine(
    home: Any, name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def other(something: int) -> None: ...

    agent = Agent(calls_once())
    if how == "gone":
        monkeypatch.delattr(home, name)
    else:
        monkeypatch.setattr(home, name, other)
    with pytest.raises(FrameworkMoved) as error:
        PydanticAI(agent)
    monkeypatch.undo()
    told = str(error.value)
    assert (home.__name__.split(".")[-1] if name == "__init__" else name) in told
    assert ("has no" if how == "gone" else "takes no") in told
    assert "is of another make than pydantic-ai-slim 2.66.0" in told
    assert "no engine was made. Run: pip install 'pydantic-ai-slim==2.66.0'" in told
    engine()


class Renamed:
    """A client of MCP of another make."""

    async def send_request(self, message: object) -> None: ...
    async def call_tool(self, name: str, arguments: object) -> None: ...


@pytest.mark.parametrize("makes", [engine, lambda: OpenAIAgents(OpenAIAgent("a"))])
@pytest.mark.parametrize(
    ("client", "why"),
    [
        (object, "mcp.client.session has no ClientSession.send_request"),
        (Renamed, "mcp.client.session.ClientSession.send_request takes no request"),
    ],
)
def test_a_client_of_mcp_that_moved_makes_no_engine(
    makes: Any, client: Any, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules[ClientSession.__module__]
    monkeypatch.setattr(module, "ClientSession", type("Client", (client,), {}))
    with pytest.raises(FrameworkMoved) as error:
        makes()
    monkeypatch.undo()
    assert why in str(error.value)
    assert "mcp 2.3.0" in str(error.value)
    makes()
