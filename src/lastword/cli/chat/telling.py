"""What happens in a session, as a person is told it: each event once, in the feed's order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal, Protocol, assert_never

from lastword.cli.chat.arguments import arguments_line
from lastword.cli.chat.blocks import Block, Blocks
from lastword.cli.chat.paint import Paint, Style
from lastword.cli.chat.programs import WAITS
from lastword.cli.chat.words import (
    call_line,
    noteworthy,
    plain,
    receipt_lines,
    recovered_line,
    short,
)
from lastword.core import story
from lastword.core.cell import StoredCell
from lastword.core.entries import Result
from lastword.core.model import CallId, Message, MessageId, Outcome, Reason, Status
from lastword.core.receipt import Receipt
from lastword.core.story import Fact

MORE = "(more was said than could be shown)"


class Sheet(Protocol):
    """Where it is told."""

    def write(self, text: str) -> None: ...
    def draw_soon(self) -> None: ...


class Telling:
    """One session's, while a person looks at it."""

    def __init__(
        self,
        sheet: Sheet,
        paint: Paint,
        failed: Callable[[tuple[MessageId, ...]], object],
    ) -> None:
        self.receipt: Receipt | None = None
        self.stopping = False  # what was going is silent, and its receipt has not come
        self.started = 0  # processes, by the run that goes
        self._sheet = sheet
        self._paint = paint
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._blocks = Blocks()
        self._voice: Literal["text", "thinking"] = "text"
        self._calls: dict[CallId, tuple[str, str, float]] = {}  # name, arguments, since when
        self._messages: dict[MessageId, Message] = {}
        self._waits: dict[str, int] = {}  # the frontiers of programs that were told

    @property
    def live(self) -> list[tuple[str, str]]:
        """What is not finished: the end of the text, and the calls that are being made."""
        style = "fg:ansibrightblack" if self._voice == "thinking" else ""
        tail = plain(self._blocks.tail).expandtabs(4)
        calls = [
            ("fg:ansibrightblack", call_line(name, Status.BEGUN, said=said))
            for name, said, _ in self._calls.values()
        ]
        return [*([(style, tail)] if tail.strip() else []), *calls]

    def say(self, text: str, style: Style = "dim") -> None:
        """Something that is not the session's, below all that has been said."""
        self.finish()
        self._sheet.write(self._paint.line(text, style))

    def finish(self) -> None:
        """What was being said goes above, as far as it has come."""
        for block in self._blocks.rest():
            self._sheet.write(self._block(block))
        self._sheet.draw_soon()

    def tell(self, fact: Fact) -> None:  # noqa: C901, PLR0912, PLR0915 - one match
        """One of its facts."""
        match fact:
            case story.Text(text=text):
                self._hear("text", text)
            case story.Thinking(text=text):
                self._hear("thinking", text)
            case story.Progress(text=text):
                self.say(f"· {short(text, 200)}")
            case story.Called(call=call, name=name, arguments=arguments):
                self.finish()
                self._calls[call] = name, arguments_line(arguments), self._loop.time()
            case story.Result():
                self._call_ended(fact)
            case story.ProcessNews(state=state, command=command):
                if state == "starting":
                    self.started += 1
                    self.say(f"$ {short(command, 200)}")
            case story.Said(message):
                self._messages[message.id] = message
            case story.Began(messages=ids):
                self._begin(ids)
            case story.Finished(outcome=outcome, messages=ids):
                self._end(outcome, ids)
            case story.Receipt():
                self._stopped(fact)
            case story.Settled(receipt):
                self.receipt = receipt
                self.aside(f"What was still ending has ended ({short(receipt.session)}).")
            case story.Recovery():
                self.say(recovered_line(fact), "yellow")
            case story.ProgramNews(cell=cell):
                self._cell(cell)
            case story.Typing() | story.Begun() | story.Used() | story.QueueNews():
                pass  # the line below the text shows how these stand
            case story.QuestionNews() | story.Asked() | story.Answered():
                pass  # asked where the person types
            case story.Note() | story.Summary() | story.LeftOut():
                pass  # for the model
            case story.Declined() | story.Unshown():
                pass
            case _:
                assert_never(fact)

    def _cell(self, cell: StoredCell) -> None:
        """That a program waits is said once for each time it does."""
        frontier = cell.record.frontier
        if frontier and cell.record.paused and self._waits.get(cell.id) != frontier.generation:
            self._waits[cell.id] = frontier.generation
            self.aside(WAITS)

    def _hear(self, voice: Literal["text", "thinking"], text: str) -> None:
        if voice != self._voice:
            self.finish()
            self._voice = voice
        for block in self._blocks.feed(text):
            self._sheet.write(self._block(block))
        self._sheet.draw_soon()

    def _block(self, block: Block) -> str:
        if self._voice == "thinking":
            return self._paint.line(block.text, "dim")
        return self._paint.block(block)

    def _call_ended(self, result: Result) -> None:
        name, said, since = self._calls.pop(result.call, ("a call", "", None))
        took = None if since is None else self._loop.time() - since
        self.say(call_line(name, result.status, took, said=said))

    def _begin(self, ids: tuple[MessageId, ...]) -> None:
        self.finish()
        self.stopping, self.started = False, 0
        for message in [self._messages[id_] for id_ in ids if id_ in self._messages]:
            who = "" if message.origin == "person" else f"({short(message.by) or message.origin}) "
            self._sheet.write("\n" + self._paint.line(f"> {who}{message.text}", "bold"))

    def _end(self, outcome: Outcome, ids: tuple[MessageId, ...]) -> None:
        self.finish()
        self._calls.clear()
        known = [self._messages.pop(id_, None) for id_ in ids]
        match outcome:
            case Outcome.STOPPED:
                self.stopping = True
            case Outcome.SUPERSEDED if any(known):
                self.say("(replaced)")
            case Outcome.FAILED:
                self._failed(ids)
            case _:
                pass

    def _stopped(self, receipt: Receipt) -> None:
        self.receipt = receipt
        if receipt.reason is Reason.SUPERSEDED:
            if noteworthy(receipt):
                self.aside("\n".join(receipt_lines(receipt)))
            return
        self.stopping = False
        self.say("■ " + "\n  ".join(receipt_lines(receipt)), "yellow")

    def aside(self, text: str) -> None:
        """About what was before: it does not break into what is being said now."""
        self._sheet.write(self._paint.line(text, "dim"))
