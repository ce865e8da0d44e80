"""R3. A tool whose lines would run after it was told as completed is refused with a sentence."""

from collections.abc import AsyncGenerator, Callable, Generator
from functools import partial, wraps
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai, whose tools these are, is not installed")

from pydantic_ai import Agent

from lastword import Outcome, Run, Runtime, Status
from lastword.core.entries import Called, Entry, Result
from lastword.engines.pydantic_ai import PydanticAI
from tests.engines.scripted import calls_once

pytestmark = pytest.mark.scenario("R3")
ran: list[str] = []


def lines() -> Generator[str]:
    ran.append("line")
    yield "line"


async def async_lines():  # noqa: ANN201 - pydantic has no schema for it
    ran.append("line")
    yield "line"


class Lines:
    def __call__(self) -> Generator[str]:
        yield from lines()

    def method(self) -> Generator[str]:
        yield from lines()


class AsyncLines:
    async def __call__(self) -> AsyncGenerator[str]:
        async for line in async_lines():
            yield line


@wraps(lines)
def decorated() -> Any:
    return lines()


async def decorated_and_async() -> Any:
    return async_lines()


@wraps(lines)
def collected() -> list[str]:
    return [*lines()]


GENERATORS: list[Callable[..., Any]] = [
    lines,
    async_lines,
    partial(lines),
    partial(partial(async_lines)),
    Lines(),
    Lines().method,
    AsyncLines(),
]


@pytest.mark.parametrize("way", ["call", "intend", "gate"])
@pytest.mark.parametrize("tool", GENERATORS)
async def test_a_generator_is_no_tool_and_nothing_is_recorded_of_it(
    way: str, tool: Callable[..., Any]
) -> None:
    async def used(run: Run) -> None:
        if way == "call":
            await run.call(tool)
        elif way == "intend":
            run.intend(tool)
        else:
            run.gate(tool)

    async def engine(run: Run) -> None:
        with pytest.raises(TypeError, match="is a generator: calling it runs none of its lines"):
            await used(run)

    assert await told(engine) == []
    assert ran == []


@pytest.mark.parametrize("tool", [decorated, decorated_and_async])
async def test_a_call_that_gave_a_generator_is_not_told_as_completed(tool: Any) -> None:
    given: list[BaseException] = []

    async def engine(run: Run) -> None:
        try:
            await run.call(tool)
        except TypeError as error:
            given.append(error)

    called, result = await told(engine)

    assert isinstance(called, Called)
    assert isinstance(result, Result)
    assert (result.status, result.error) == (Status.MAY_HAVE_EXECUTED, True)
    assert "gave a generator, whose lines have not run and will not" in result.content
    assert str(given[0]) == result.content
    assert ran == []


async def test_a_function_around_a_generator_that_gives_all_of_it_is_a_tool() -> None:
    async def engine(run: Run) -> None:
        assert await run.call(collected) == ["line"]

    [_, result] = await told(engine)
    assert isinstance(result, Result)
    assert (result.status, result.content) == (Status.COMPLETED, '["line"]')


@pytest.mark.parametrize("tool", [lines, async_lines])
async def test_a_generator_is_no_tool_of_an_agent_either(tool: Callable[..., Any]) -> None:
    agent: Agent[None, str] = Agent(calls_once("say"))
    agent.tool_plain(name="say")(tool)

    [_, result] = await told(PydanticAI(agent), Outcome.FAILED)

    assert isinstance(result, Result)
    assert result.status == Status.NOT_STARTED
    assert "is a generator" in result.content
    assert ran == []


@pytest.mark.parametrize("tool", [decorated, decorated_and_async])
async def test_what_an_agent_s_tool_gave_and_did_not_run_is_told_so(tool: Any) -> None:
    agent: Agent[None, str] = Agent(calls_once("say"))
    agent.tool_plain(name="say")(tool)

    [_, result] = await told(PydanticAI(agent), Outcome.FAILED)

    assert isinstance(result, Result)
    assert result.status == Status.MAY_HAVE_EXECUTED
    assert "gave a generator" in result.content
    assert ran == []


async def told(engine: Any, outcome: Outcome = Outcome.COMPLETED) -> list[Entry]:
    """What the log has of the calls of one run."""
    ran.clear()
    async with Runtime(engine) as runtime:
        session = runtime.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == outcome, ticket.error
        log = await session.log()
    return [entry for entry in log if isinstance(entry, Called | Result)]
