"""R16. What is shown is put into the framework's words once, and says what it would say anew."""

import random
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelRequest, SystemPromptPart, UserPromptPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import RunContext

from lastword import Outcome, Runtime
from lastword.core.entries import (
    Began,
    Called,
    Entry,
    Finished,
    Native,
    Note,
    Result,
    Said,
    Summary,
    Text,
    Thinking,
)
from lastword.core.model import CallId, Generation, Message, MessageId, RunId, Status
from lastword.core.transcript import Transcript
from lastword.engines.pydantic_ai import PydanticAI
from lastword.engines.pydantic_ai.converted import GivenHistory
from lastword.engines.pydantic_ai.history import ENGINE, messages_of
from lastword.engines.pydantic_ai.sendable import sendable

pytestmark = pytest.mark.scenario("R16")
NATIVES = [
    None,
    Native(ENGINE, '{"provider_name": "test", "id": "item", "tool_call_id": "call_0"}'),
    Native(ENGINE, '{"provider_name": "other", "signature": "s", "tool_call_id": "bad id!"}'),
]


class Log:
    """Any log: whatever a session can come to, in any order."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.serial = 0
        self.waiting: list[tuple[RunId, MessageId]] = []
        self.going: list[tuple[RunId, MessageId]] = []
        self.called: list[Called] = []

    def next(self) -> Entry:  # noqa: PLR0911, PLR0912 - one match, one arm an entry
        match self.draw.randrange(11):
            case 0 | 1 if self.waiting:
                run, message = self.waiting.pop(0)
                self.going.append((run, message))
                return Began(run, Generation(self.serial), (message,))
            case 2 if self.going:
                return Text(self.draw.choice(self.going)[0], "said", self.draw.choice(NATIVES))
            case 3 if self.going:
                run = self.draw.choice(self.going)[0]
                return Thinking(run, "thought", self.draw.choice(NATIVES))
            case 4 | 5 if self.going:
                run = self.draw.choice(self.going)[0]
                call = CallId(f"{run}.{len(self.called)}")
                native = self.draw.choice(NATIVES)
                self.called.append(Called(run, call, "look at", '{"a": 1}', native=native))
                return self.called[-1]
            case 6 if self.called:
                made = self.called.pop(self.draw.randrange(len(self.called)))
                return Result(made.run, made.call, self.draw.choice(list(Status)), "seen")
            case 7 | 8 if self.going:
                run, message = self.going.pop(0)
                outcome = self.draw.choice([Outcome.COMPLETED, Outcome.STOPPED, Outcome.SUPERSEDED])
                back = self.draw.random() < 0.2
                return Finished(run, outcome, (message,), started=True, rollback=back)
            case 9 if self.serial:
                if self.draw.random() < 0.3:
                    return Summary("so far", RunId(f"s#{self.draw.randint(1, self.serial)}"))
                return Note(None, "by the way")
            case _:
                self.serial += 1
                run, message = RunId(f"s#{self.serial}"), MessageId(f"m{self.serial}")
                self.waiting.append((run, message))
                return Said(Message(message, f"words {self.serial}"), run)


def plain(messages: list[ModelMessage]) -> list[Any]:
    """Without the times at which they were made."""
    return [
        (type(message), [_timeless(part) for part in message.parts], _provider(message))
        for message in messages
    ]


def _provider(message: ModelMessage) -> object:
    return getattr(message, "provider_name", None)


def _timeless(part: Any) -> Any:
    return replace(part, timestamp=None) if hasattr(part, "timestamp") else part


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_what_was_converted_before_says_what_it_would_say_anew(start: int) -> None:
    """After every entry of many logs: summaries, interruptions and another model among them."""
    models = [TestModel(), TestModel(), None]
    for seed in range(start, start + 50):
        log, transcript = Log(seed), Transcript()
        for _ in range(80):
            transcript.add(log.next())
            model = log.draw.choice(models) if log.draw.random() < 0.1 else models[0]
            past = transcript.shown()
            told, anew = GivenHistory(past, model), messages_of(tuple(past), model)
            assert plain(told.messages) == plain(anew), seed
            request = [*told.messages, ModelRequest([UserPromptPart("and?")])]
            sent = told.sendable(request, model)
            assert plain(sent) == plain(sendable(request, model)), seed
            prompted = _prompted(request)
            assert plain(told.sendable(prompted, model)) == plain(sendable(prompted, model)), seed


def _prompted(messages: list[ModelMessage]) -> list[ModelMessage]:
    first, *rest = messages
    if not isinstance(first, ModelRequest):
        return messages
    return [replace(first, parts=[SystemPromptPart("Be kind."), *first.parts]), *rest]


class Seeing(AbstractCapability[Any]):
    """What is about to be sent, of each request."""

    def __init__(self) -> None:
        self.requests: list[list[ModelMessage]] = []

    async def before_model_request(
        self,
        ctx: RunContext[Any],
        request_context: ModelRequestContext,
    ) -> ModelRequestContext:
        self.requests.append(list(request_context.messages))
        return request_context


async def test_a_turn_converts_what_is_new_and_no_more() -> None:
    seeing = Seeing()
    prompts: list[list[str]] = []

    async def answer(messages: list[ModelMessage], _: AgentInfo) -> AsyncIterator[str]:
        parts = [part for message in messages for part in message.parts]
        prompts.append([part.content for part in parts if isinstance(part, SystemPromptPart)])
        yield "rain"

    model = FunctionModel(stream_function=answer)
    agent = Agent(model, capabilities=[seeing], system_prompt="Be kind.")

    async with Runtime(PydanticAI(agent)) as runtime:
        for number in range(40):
            ticket = await runtime.session("s").send(f"question {number}")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    for earlier, later in zip(seeing.requests, seeing.requests[1:], strict=False):
        known = {id(message) for message in earlier}
        assert len([message for message in later if id(message) not in known]) < 8
    assert len(seeing.requests[-1]) == 79
    assert prompts == [["Be kind."]] * 40
