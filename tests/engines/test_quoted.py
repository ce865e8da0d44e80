"""E16, E17. Words that a provider refuses are in no note for ever, whoever quoted them."""

import asyncio

import pytest
from pydantic_ai import Agent

from lastword import FeedEvent, Outcome, Run, Runtime, Session
from lastword.core.entries import LeftOut
from lastword.engines.pydantic_ai import PydanticAI
from lastword.testing.provider import Failure, Request
from tests.engines.inside import strict
from tests.engines.test_repair import talking
from tests.engines.wire import FORMATS

pytestmark = pytest.mark.parametrize("format", FORMATS)
WORD = "badword"
ASKED = ("first", "second", "my last words")


def quoting(request: Request) -> Failure | str:
    refused = WORD in str(request.body)
    return Failure(422, f"Invalid content: {WORD!r} is not allowed") if refused else "fine"


@pytest.mark.scenario("E16", part="agent")
async def test_a_refusal_that_quotes_what_it_refuses_ends_no_session(format: str) -> None:
    async with talking(format, quoting) as (session, provider):
        first = await session.send(f"tell me about {WORD}")
        assert await first.outcome() == Outcome.FAILED
        assert f"Invalid content: {WORD!r} is not allowed" in first.error
        for text in ("something else", "and now?"):
            ticket = await session.send(text)
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        shown = [item.text for item in await session.history()]

    assert "This answer failed here: the provider refused (HTTP 422)." in shown
    assert WORD not in str(provider.requests[-1].body)


class Story:
    """A session in which an engine that is no model's, or a person, has said the word."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.begun = asyncio.Event()
        self.fenced = asyncio.Event()

    async def engine(self, run: Run) -> None:
        match self.what:
            case "an error":
                raise ValueError(WORD)
            case "a summary":
                await run.emit("x")
                await run.summarise(WORD, upto=run.id)
            case "what did not arrive":
                await run.emit(WORD)
            case "why it was stopped":
                await self._wait()
            case _:
                await run.gate(self._wait, name=WORD)()

    async def _wait(self) -> None:
        self.begun.set()
        await asyncio.Event().wait()

    async def sink(self, event: FeedEvent) -> None:
        if event.kind == "text" and event.text == WORD:
            self.begun.set()
            await self.fenced.wait()
            raise OSError("no net")

    async def happen(self, session: Session) -> None:
        ticket = await session.send("go")
        if self.what in ("an error", "a summary"):
            await ticket.outcome()
            return
        await self.begun.wait()
        if self.what == "a tool, taken over":
            await session.send("other", on_message="takeover")
        elif self.what == "a tool, taken back":
            await session.send("other", on_message="rollback")
        await session.stop(said=WORD if self.what == "why it was stopped" else "").fenced()
        self.fenced.set()
        while self.what == "what did not arrive" and WORD not in str(await session.history()):
            await asyncio.sleep(0)


STORIES = (
    "an error",
    "why it was stopped",
    "what did not arrive",
    "a tool, taken over",
    "a tool, taken back",
    "a summary",
)


@pytest.mark.scenario("E17", part="agent")
@pytest.mark.parametrize("what", STORIES)
async def test_what_others_say_in_notes_ends_no_session(format: str, what: str) -> None:
    story = Story(what)
    async with strict(format, quoting) as (model, provider):
        asking = PydanticAI(Agent(model))

        async def engine(run: Run) -> None:
            await (asking if run.message.text in ASKED else story.engine)(run)

        async with Runtime(engine, sink=story.sink) as r:
            session = r.session("s")
            await story.happen(session)
            outcomes = [await (await session.send(text)).outcome() for text in ASKED]
            log = await session.log()

    assert outcomes[1:] == [Outcome.COMPLETED, Outcome.COMPLETED]
    assert ASKED[-1] in str(provider.requests[-1].body)
    left = [one for one in log if isinstance(one, LeftOut)]
    assert bool(left) == (outcomes[0] == Outcome.FAILED)
