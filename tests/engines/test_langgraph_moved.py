"""E40. A framework that has moved what is held is an error at the start, and no tool is unheld."""

# pyright: reportMissingTypeStubs=false
# (langgraph has its types in its parts)

from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool, StructuredTool, Tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END

from lastword import Outcome, Run, Runtime
from lastword.engines.langgraph import FrameworkMoved, LangGraph
from tests.engines.graphs import graph_of

pytestmark = pytest.mark.scenario("E40")
TOOLS = (BaseTool, StructuredTool, Tool)
FIRST_LINES = ("_arun", "_run")  # the class's own, in which the tool's code is


async def answers(_: Any) -> Any:
    return {}


def a_graph() -> Any:
    return graph_of("answers", {"answers": answers}, ("answers", END)).compile()


async def moved(self: object, something: object) -> None:
    """As a framework of another make might have it."""


@pytest.mark.parametrize(
    ("home", "name"),
    [
        (BaseTool, "arun"),
        (BaseTool, "run"),
        *((kind, name) for kind in TOOLS for name in FIRST_LINES),
        (BaseChatModel, "agenerate"),
        (BaseChatModel, "_should_stream"),
        (BaseChatModel, "_astream"),
        (BaseCheckpointSaver, "aput"),
    ],
)
def test_a_framework_that_moved_is_an_error_when_an_engine_is_made(
    home: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, name, moved)
    with pytest.raises(FrameworkMoved, match=f"{name} should take .* langgraph 1") as told:
        LangGraph(a_graph())
    assert "takes self, something" in str(told.value)
    assert "no engine was made. Run: pip install 'langgraph==" in str(told.value)


def test_a_graph_that_is_not_compiled_is_an_error_that_says_so() -> None:
    with pytest.raises(TypeError, match="compiled graph is needed, not a StateGraph"):
        LangGraph(graph_of("answers", {"answers": answers}, ("answers", END)))


@pytest.mark.parametrize("name", ["arun", *FIRST_LINES])
def test_what_is_gone_is_told_as_gone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for home in TOOLS:
        monkeypatch.delattr(home, name, raising=home is BaseTool)
    with pytest.raises(FrameworkMoved, match="is not there"):
        LangGraph(a_graph())


async def test_a_tool_of_a_class_that_was_made_a_moment_ago_is_held_like_any_other() -> None:
    begun = list[str]()

    async def engine(run: Run) -> None:
        class Late(BaseTool):
            name: str = "late"
            description: str = "late"

            def _run(self, n: int) -> str:
                begun.append(f"late {n}")
                return f"late {n}"

        stop = run_session.stop()
        await stop.fenced()
        await Late().ainvoke({"n": 1})

    async with Runtime(engine) as r:
        run_session = r.session("s")
        ticket = await run_session.send("go")
        assert await ticket.outcome() == Outcome.STOPPED
    assert begun == []


def test_what_a_tool_takes_is_read_as_before() -> None:
    def look(n: int) -> str:
        """Look."""
        return str(n)

    class Own(BaseTool):
        name: str = "own"
        description: str = "own"

        def _run(self, n: int) -> str:
            return str(n)

    LangGraph(a_graph())
    for one in (StructuredTool.from_function(look), Own()):
        assert list(one.args) == ["n"]
        assert one.invoke({"n": 1}) == "1"
