"""What was put into the framework's words once stays so: a turn costs what is new, however long the
conversation was before it.

The turns that have ended stand for good (`Past`). Their messages are made once for a session and a
model, and so is what makes them sendable. Every run gets a list of its own with the same
messages in it, and adds what is its own; the framework changes none but the last request.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from weakref import WeakKeyDictionary

from pydantic_ai.messages import ModelMessage, ModelRequest
from pydantic_ai.models import Model

from lastword.core.shown import Shown
from lastword.core.transcript import ForGood, Past
from lastword.engines.pydantic_ai.fitting import prompts
from lastword.engines.pydantic_ai.history import Rewording, messages_of
from lastword.engines.pydantic_ai.sendable import Sendable, sendable


class Converted:
    """What stands for good in one session, for one model."""

    def __init__(self, model: Model | None) -> None:
        self.words = Rewording(model)
        self.items = 0  # that are in these words
        self._sent = Sendable()
        self._ready = 0  # of its messages

    def take(self, past: Past) -> None:
        """What has come to stand since."""
        self.words.take(islice(past.settled.items, self.items, past.many))
        self.items = past.many

    def sent(self, upto: int, model: Model | None) -> Sendable:
        """The first so many messages, as they can be sent."""
        if self._sent.model is not model or self._ready > upto:
            self._sent, self._ready = Sendable(model), 0
        self._sent.take(self.words.messages[self._ready : upto])
        self._ready = upto
        return self._sent


_converted: WeakKeyDictionary[ForGood, Converted] = WeakKeyDictionary()


class GivenHistory:
    """What one run is given to go on from."""

    def __init__(self, history: Sequence[Shown] = (), model: Model | None = None) -> None:
        self._known: Converted | None = None
        self._many = 0
        answering = history[-1].run if history else None
        last = history.open if isinstance(history, Past) else history
        self._asked = sum(item.role == "user" and item.run == answering for item in last)
        if not isinstance(history, Past):
            self.messages = messages_of(history, model)
            return
        known = _converted.get(history.settled)
        if known is None or known.words.model is not model or known.items > history.many:
            known = _converted[history.settled] = Converted(model)
        known.take(history)
        self._known, self._many = known, len(known.words.messages)
        words = Rewording(model, after=known.words)
        words.take(history.open)
        self.messages = words.all()

    @property
    def before(self) -> int:
        """How many prompts it begins with that are not to be answered any more."""
        return len(prompts(self.messages)) - self._asked

    def new_in(self, messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
        """What of a request was not known when the run began."""
        return messages[self._many :] if self._begins(messages) else messages

    def sendable(self, messages: Sequence[ModelMessage], model: Model | None) -> list[ModelMessage]:
        """A request as it can be sent."""
        known, first = self._known, messages[0] if messages else None
        if known is None or not isinstance(first, ModelRequest) or not self._begins(messages):
            return sendable(messages, model)
        sent = Sendable(model, after=known.sent(self._many, model))
        if first is not known.words.messages[0]:  # the agent's own prompt is put before it
            sent.begin_with(first)
        sent.take(messages[self._many :])
        return sent.messages

    def _begins(self, messages: Sequence[ModelMessage]) -> bool:
        """Whether it begins with what is known, but for the first, to which prompts are added."""
        if self._known is None or not 0 < self._many <= len(messages):
            return False
        return list(messages[1 : self._many]) == self._known.words.messages[1 : self._many]
