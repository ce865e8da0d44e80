"""A recording, told again to `lastword chat -p`: one message of it is what was piped in."""

from __future__ import annotations

import asyncio
from dataclasses import fields, is_dataclass, replace
from tempfile import TemporaryFile
from typing import Any, TextIO, cast

from lastword import Runtime, Session, Ticket
from lastword.cli.chat.pipe import run_once
from lastword.core.entries import Began, Finished, Said, Text
from lastword.core.events import Instead
from lastword.core.model import Message, MessageId, Outcome, Policy, RunId
from lastword.core.story import Fact
from lastword.runtime.protocol import Sent
from tests.surfaces.recording import SESSION, Recording
from tests.surfaces.replay import Replay


class Answering(Replay):
    """Goes on when the message is sent, under the id that it is sent with."""

    def __init__(self, recording: Recording, said: Message, at: int) -> None:
        super().__init__(recording, at - 1)
        self.said = said
        self._telling: asyncio.Task[None] | None = None

    async def send(
        self, sent: tuple[Sent, ...], on_message: Policy | None, instead: Instead | None = None
    ) -> tuple[Ticket, ...]:
        del on_message, instead
        [one] = sent
        assert one.id
        ticket = Ticket(Message(one.id, one.text), RunId("its"))
        self._telling = asyncio.create_task(self._tell(one.id, ticket))
        return (ticket,)

    async def _tell(self, id: MessageId, ticket: Ticket) -> None:
        while not self.over:
            fact = self.recording.events[self.at].fact
            self.next(_renamed(fact, self.said.id, id))
            if isinstance(fact, Finished) and self.said.id in fact.messages:
                ticket.tell_outcome(fact.outcome, fact.error)
            for _ in range(5):  # who follows hears each as it happens
                await asyncio.sleep(0)
        self.feed.close()
        ticket.tell_outcome(Outcome.SHUTDOWN)  # if it has none


class Piped:
    """One message of a recording, and its answer."""

    def __init__(self, recording: Recording, message: Message, at: int) -> None:
        self._recording = recording
        self._replay = Answering(recording, message, at)

    @property
    def words(self) -> list[str]:
        """What it is answered, from where a run has taken it up."""
        facts = [event.fact for event in self._recording.rest]
        begins = [place for place, fact in enumerate(facts) if self._takes_up(fact)]
        after = facts[begins[0] :] if begins else []
        return [one.text for one in after if isinstance(one, Text) and one.run == self._run]

    def _takes_up(self, fact: Fact) -> bool:
        return isinstance(fact, Began) and self._message.id in fact.messages

    @property
    def _run(self) -> RunId | None:
        return next((one.run for one in self._recording.told(Began) if self._takes_up(one)), None)

    @property
    def _message(self) -> Message:
        return self._replay.said

    @property
    def whole(self) -> bool:
        """Whether the answer came to an end by itself."""
        ends = {one.run: one.outcome for one in self._recording.told(Finished) if one.started}
        return self._run is not None and ends.get(self._run) in (Outcome.COMPLETED, Outcome.FAILED)

    def session(self, id: str) -> Session:
        """As it is asked of a runtime."""
        assert id == SESSION
        return self._replay.session

    async def answer(self) -> str:
        """What is written of it."""
        with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
            runtime, text = cast("Runtime", self), self._message.text
            await run_once(runtime, SESSION, text, cast("TextIO", out), cast("TextIO", err))
            out.seek(0)
            return out.read()


def piped(recording: Recording) -> list[Piped]:
    """Each message that was said in it."""
    told = [(one.fact, one.number) for one in recording.rest]
    said = [(fact.message, number) for fact, number in told if isinstance(fact, Said)]
    first = {message.id: (message, number) for message, number in reversed(said)}
    return [Piped(recording, *one) for one in first.values()]


def _renamed(value: Any, old: MessageId, new: MessageId) -> Any:
    """The same, of a message with another id."""
    if isinstance(value, str) and value == old:
        return new
    if isinstance(value, tuple):
        return tuple(_renamed(one, old, new) for one in cast("tuple[Any, ...]", value))
    if is_dataclass(value) and not isinstance(value, type):
        every = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        return replace(value, **{name: _renamed(one, old, new) for name, one in every.items()})
    return value
