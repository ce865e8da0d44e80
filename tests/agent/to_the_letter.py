"""An agent whose model makes given calls, to the letter, and a person who answers."""

import json
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from lastword import Runtime, Session
from lastword.agent.assistant import assistant
from lastword.agent.permission import Question, Questions
from lastword.agent.rules import Rule
from tests.promise.heard import hearing
from tests.promise.workshop import until


class Model:
    """A model that makes its calls one by one, to the letter."""

    def __init__(self, *calls: tuple[str, str]) -> None:
        self.calls = list(calls)

    async def stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncGenerator[str | DeltaToolCalls]:
        if self.calls:
            name, arguments = self.calls.pop(0)
            yield {0: DeltaToolCall(name=name, json_args=arguments, tool_call_id=f"c{name}")}
        else:
            yield "done"


class Talk:
    """A session with an agent that makes these calls."""

    def __init__(self, runtime: Runtime, questions: Questions, model: Model) -> None:
        self.runtime, self.questions, self.model = runtime, questions, model
        self.asked: list[Question] = []
        self.hears = ExitStack()

    @property
    def session(self) -> Session:
        return self.runtime.session("s")

    def answering(self, allow: bool, *, always: bool = False) -> None:
        def answer(news: str, question: Question) -> None:
            if news == "opened":
                self.asked.append(question)
                self.questions.answer(question.id, allow, question.generation, always=always)

        self.hears.enter_context(hearing(self.session, answer))

    async def question(self) -> Question:
        await until(self.questions.open)
        [question] = self.questions.open()
        return question

    async def does(self, *calls: tuple[str, str]) -> str:
        self.model.calls += calls
        await (await self.session.send("go")).outcome()
        return "\n".join(item.text for item in await self.session.history() if item.role != "user")


@asynccontextmanager
async def talking(
    folder: Path,
    *rules: str | Rule,
    model: Model | None = None,
    store: str = "memory:",
    cd_lasts: bool = False,
) -> AsyncGenerator[Talk]:
    model = model or Model()
    own = FunctionModel(stream_function=model.stream)
    agent = assistant(own, roots=[folder], rules=rules, cd_lasts=cd_lasts)
    before = agent.questions.as_before_tool()
    async with Runtime(agent.engine, store=store, before_tool=before, grace=0.25) as runtime:
        talk = Talk(runtime, agent.questions, model)
        with talk.hears:
            yield talk


def call(name: str, **arguments: object) -> tuple[str, str]:
    return name, json.dumps(arguments)
