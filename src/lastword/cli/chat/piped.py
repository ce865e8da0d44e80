"""Of all that changes in a session, the answer to one message: its words, as they are said.

A pipe is a surface like any other: what it writes for each change is decided here. Words that a
stop was quicker than are not live any more, and are not written: a pipe ends where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from lastword.core import scene
from lastword.core.entries import Said
from lastword.core.model import MessageId, Outcome, RunId
from lastword.core.picture import Picture
from lastword.core.question import Question
from lastword.core.scene import Change
from lastword.core.story import Fact, run_of


class Piped:
    """One message, until its answer has ended."""

    def __init__(
        self,
        message: str,
        put: Callable[[str], None],
        ask: Callable[[Question], None],
    ) -> None:
        self.outcome: Outcome | None = None  # how it ended
        self.error = ""
        self._message = MessageId(message)
        self._put = put
        self._ask = ask
        self._run: RunId | None = None  # that answers it
        self._next = False  # whether its turn is the next

    def tell(self, changes: Iterable[Change], picture: Picture) -> None:
        """What is different, in a picture."""
        for change in changes:
            self._tell(change)
        waits = self._message not in picture.messages or self._message in picture.pending
        if not waits and self._run is None and not self._next and self.outcome is None:
            self.outcome = Outcome.WITHDRAWN  # it has no place, and waits for none

    def is_about(self, fact: Fact) -> bool:
        """Whether it is of this message, or of the run that answers it."""
        if isinstance(fact, Said):
            return fact.message.id == self._message
        return self._run is not None and run_of(fact) == self._run

    def _tell(self, change: Change) -> None:  # noqa: C901, PLR0912 - one match
        match change:
            case scene.Placed(item):
                self._placed(item)
            case scene.PartIs(run, _, part, live):
                self._part(run, part, live=live)
            case scene.Grew(run, _, text, of, _, live):
                if live and of == "text" and run == self._run:
                    self._put(text)
            case scene.TurnIs(head):
                if head.run == self._run and head.outcome:
                    self.outcome, self.error = Outcome(head.outcome), head.error
            case scene.AskOpened(question):
                self._ask(question)
            case scene.MessageIs() | scene.PendingIs() | scene.QueueIs() | scene.ItemGone():
                pass  # it waits, or has no place any more: the picture says which
            case scene.ItemIs() | scene.PartGone():
                pass  # what was written stays; the receipt of a stop is told by who stops
            case scene.AskClosed() | scene.WaitIs() | scene.ProgramIs():
                pass  # nobody is there to answer
            case scene.ProcessIs() | scene.ProcessStarts() | scene.UsageIs() | scene.PhaseIs():
                pass  # it is the answer that is read
            case _:
                assert_never(change)

    def _placed(self, item: scene.Item) -> None:
        match item:
            case scene.MessageItem(message, outcome):
                if message == self._message:
                    self._next = True
                    self.outcome = Outcome(outcome) if outcome else None
            case scene.TurnItem(head):
                if self._next and self._run is None:
                    self._run = head.run
            case scene.ReceiptItem() | scene.NoteItem():
                pass
            case _:
                assert_never(item)

    def _part(self, run: RunId, part: scene.Part, *, live: bool) -> None:
        match part:
            case scene.Words(kind):
                if live and kind == "text" and run == self._run:
                    self._put(part.text)
            case scene.Joined(message):
                if message == self._message:
                    self._run = run
            case scene.CallPart() | scene.Aside():
                pass
            case _:
                assert_never(part)
