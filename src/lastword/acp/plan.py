"""A tool with which a model shows the person its plan; the editor shows it beside the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from pydantic_ai import RunContext
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset
from typing_extensions import TypedDict

from lastword.acp.wire import Params
from lastword.runtime.run import Run

Tell: TypeAlias = Callable[[Params, Callable[[], bool]], None]


class PlanStep(TypedDict):
    """A step of a plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"]
    priority: Literal["high", "medium", "low"]


def planning(telling: Callable[[], Tell]) -> AbstractToolset[Run]:
    """The tool, for the session that is told of plans."""
    tools = FunctionToolset[Run]()

    @tools.tool(metadata={"nature": "idempotent"})
    async def show_plan(ctx: RunContext[Run], steps: list[PlanStep]) -> str:
        """Show the person all steps of your plan; again, whenever one of them changes."""
        update = {"sessionUpdate": "plan", "entries": [dict(step) for step in steps]}
        telling()(update, lambda: ctx.deps.current)
        return "shown"

    return tools
