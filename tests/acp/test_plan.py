"""A plan that a model shows: told to the client, as long as the run may act."""

from collections.abc import Callable

from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

from lastword import Outcome, Run, Runtime
from lastword.acp.plan import planning
from lastword.acp.wire import Params
from lastword.engines.pydantic_ai import PydanticAI


async def test_a_plan_is_told_with_all_of_its_steps() -> None:
    told: list[tuple[Params, bool]] = []

    def tell(update: Params, still: Callable[[], bool]) -> None:
        told.append((update, still()))

    keys = {"content", "status", "priority"}
    model = TestModel(call_tools=["show_plan"], custom_output_text="done")
    agent = Agent(model, deps_type=Run, toolsets=[planning(lambda: tell)])
    async with Runtime(PydanticAI(agent, deps=lambda run: run)) as runtime:
        ticket = await runtime.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    [(update, current)] = told
    assert current
    assert update["sessionUpdate"] == "plan"
    assert [set(step) for step in update["entries"]] == [keys]
