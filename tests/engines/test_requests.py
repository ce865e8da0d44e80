"""E12. A model is not asked after the stop, whatever is around it and asks again."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.concurrency import ConcurrencyLimiter
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ModelHTTPError, RetryModelRequest
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart
from pydantic_ai.models.concurrency import ConcurrencyLimitedModel
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.wrapper import WrapperModel

from lastword import Runtime
from lastword.engines.pydantic_ai import PydanticAI
from lastword.testing import explore
from tests.engines.scripted import calls_once
from tests.promise.stories import runtime
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("E12", part="agent")


@dataclass
class Asked:
    """What models are asked in a thread with a loop of its own, where no cancel comes."""

    names: list[str] = field(default_factory=list[str])
    came: threading.Event = field(default_factory=threading.Event)
    free: threading.Event = field(default_factory=threading.Event)

    async def wait(self) -> None:
        self.came.set()
        while not self.free.is_set():
            await asyncio.sleep(0.001)

    async def first(self, *_: object) -> ModelResponse:
        self.names.append("first")
        await self.wait()
        raise ModelHTTPError(503, "first")

    async def second(self, *_: object) -> ModelResponse:
        self.names.append("second")
        return ModelResponse([TextPart("second")])

    async def both(self, *_: object) -> ModelResponse:
        return await (self.second() if self.names else self.first())


def falls_back(asked: Asked) -> Agent[Any, Any]:
    return Agent(FallbackModel(FunctionModel(asked.first), FunctionModel(asked.second)))


def is_asked_again_by_a_hook(asked: Asked) -> Agent[Any, Any]:
    class Again(AbstractCapability[Any]):
        async def on_model_request_error(self, ctx: Any, **given: Any) -> Any:
            raise RetryModelRequest

    return Agent(FunctionModel(asked.both), capabilities=[Again()])


def asks_again_by_itself(asked: Asked) -> Agent[Any, Any]:
    class Again(WrapperModel):
        async def request(self, *args: Any, **kwargs: Any) -> ModelResponse:
            try:
                return await super().request(*args, **kwargs)
            except ModelHTTPError:
                return await super().request(*args, **kwargs)

    return Agent(Again(FunctionModel(asked.both)))


def waits_for_its_turn(asked: Asked) -> Agent[Any, Any]:
    class Limiter(ConcurrencyLimiter):
        async def acquire(self, source: str) -> None:
            asked.names.append("first")
            await asked.wait()
            await super().acquire(source)

    return Agent(ConcurrencyLimitedModel(FunctionModel(asked.second), Limiter(1)))


def waits_and_is_a_kind_of_its_own(asked: Asked) -> Agent[Any, Any]:
    class Waits(FunctionModel):
        async def request(self, *args: Any, **kwargs: Any) -> ModelResponse:
            asked.names.append("first")
            await asked.wait()
            return await super().request(*args, **kwargs)

    return Agent(Waits(asked.second))


def has_a_request_of_its_own(asked: Asked) -> Agent[Any, Any]:
    model: Any = FunctionModel(asked.second)
    model.request = asked.second
    return Agent(FallbackModel(FunctionModel(asked.first), model))


AROUND: list[Callable[[Asked], Agent[Any, Any]]] = [
    falls_back,
    is_asked_again_by_a_hook,
    asks_again_by_itself,
    waits_for_its_turn,
    waits_and_is_a_kind_of_its_own,
    has_a_request_of_its_own,
]


@pytest.mark.parametrize("around", AROUND, ids=lambda one: one.__name__)
async def test_a_model_in_a_thread_is_not_asked_again_after_the_stop(
    around: Callable[[Asked], Agent[Any, Any]],
) -> None:
    asked = Asked()
    inner = around(asked)

    async def ask() -> str:
        return (await inner.run("hi")).output

    assert await stopped_meanwhile(asked, ask) == ["first"]


async def test_a_model_that_a_tool_asks_without_an_agent_is_not_asked_after_the_stop() -> None:
    asked = Asked()

    async def ask() -> str:
        asked.names.append("first")
        await asked.wait()
        answer = await model_request(
            FunctionModel(asked.second), [ModelRequest.user_text_prompt("")]
        )
        return str(answer)

    assert await stopped_meanwhile(asked, ask) == ["first"]


async def stopped_meanwhile(asked: Asked, ask: Callable[[], Any]) -> list[str]:
    """What was asked of models by a tool's thread that a stop found waiting."""
    outer: Agent[Any, str] = Agent(calls_once("delegate"))
    ended = threading.Event()

    @outer.tool_plain
    def delegate() -> str:
        try:
            return asyncio.run(ask())
        finally:
            ended.set()

    async with Runtime(PydanticAI(outer)) as r:
        session = r.session("s")
        await session.send("go")
        await until(asked.came.is_set)
        receipt = await session.stop()
        asked.free.set()
        await until(ended.is_set)
        assert (await receipt.settled()).quiet
    return asked.names


def test_the_next_model_is_not_asked_after_the_stop_of_the_session_s_own_agent() -> None:
    asked: list[bool] = []
    turns = iter(range(1_000_000))

    async def scene() -> None:
        stopped, came = False, asyncio.Event()

        async def first(*_: object) -> AsyncIterator[str]:
            came.set()
            await asyncio.sleep(0)
            raise ModelHTTPError(503, "first")
            yield ""

        async def second(*_: object) -> AsyncIterator[str]:
            asked.append(stopped)
            yield "hello"

        models = (FunctionModel(stream_function=one) for one in (first, second))
        async with runtime(PydanticAI(Agent(FallbackModel(*models)))) as r:
            session = r.session("s")
            await session.send("go")
            await came.wait()
            for _ in range(next(turns) % 40):
                await asyncio.sleep(0)
            receipt = session.stop_soon()
            stopped = True
            await asyncio.wrap_future(receipt)

    explore(scene, 300)
    assert asked.count(False) > 0  # some stops came later
    assert True not in asked
