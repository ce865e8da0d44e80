"""What happens in a session, as a person is told it: each event once, in the feed's order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Literal, Protocol, assert_never

from lastword.cli.chat.arguments import arguments_line, is_about
from lastword.cli.chat.blocks import Block, Blocks
from lastword.cli.chat.paint import Paint, Style
from lastword.cli.chat.words import (
    call_line,
    plain,
    receipt_lines,
    short,
)
from lastword.core import scene
from lastword.core.cell import StoredCell
from lastword.core.model import CallId, Message, MessageId, Outcome, Reason, RunId, Status
from lastword.core.receipt import Receipt
from lastword.core.rows import noteworthy
from lastword.core.scene import CallPart, Change, Part, TurnHead
from lastword.core.turns import SETTLED

WAITS = "? A program waits for you; /programs shows what for."
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
        self._calls: dict[CallId, tuple[CallPart, float]] = {}  # being made, and since when
        self._messages: dict[MessageId, Message] = {}
        self._answered: list[MessageId] = []  # shown, and their turn is next
        self._asked: tuple[MessageId, ...] = ()  # what the run that goes answers
        self._ended: RunId | None = None  # the last that did
        self._more = False  # something was said that was not shown
        self._waits: dict[str, int] = {}  # the frontiers of programs that were told

    @property
    def live(self) -> list[tuple[str, str]]:
        """What is not finished: the end of the text, and the calls that are being made."""
        style = "fg:ansibrightblack" if self._voice == "thinking" else ""
        tail = plain(self._blocks.tail).expandtabs(4)
        calls = [
            (
                "fg:ansibrightblack",
                call_line(part.name, Status.BEGUN, said=arguments_line(part.arguments)),
            )
            for part, _ in self._calls.values()
        ]
        return [*([(style, tail)] if tail.strip() else []), *calls]

    def say(self, text: str, style: Style = "dim") -> None:
        """Something that is not the session's, below all that has been said."""
        self.finish()
        self._sheet.write(self._paint.line(text, style))

    def ask(self, lines: Iterable[str]) -> None:
        """What is asked, if that is long."""
        self.finish()
        self._sheet.write(self._paint.asked(lines))

    def finish(self) -> None:
        """What was being said goes above, as far as it has come."""
        for block in self._blocks.rest():
            self._sheet.write(self._block(block))
        self._sheet.draw_soon()

    def tell(self, changes: Iterable[Change]) -> None:
        """What is different."""
        for change in changes:
            self._tell(change)

    def _tell(self, change: Change) -> None:  # noqa: C901, PLR0912 - one match
        match change:
            case scene.Placed(item):
                self._placed(item)
            case scene.ItemIs(item):
                if isinstance(item, scene.ReceiptItem) and item.settled:
                    self.receipt = item.receipt
                    self.aside(item.receipt.last_words)
            case scene.TurnIs(head):
                self._turn(head)
            case scene.PartIs(part=part, live=live):
                self._part(part, live=live)
            case scene.Grew(_, _, text, of, _, live):
                self._words(of, text, live=live)
            case scene.MessageIs(said):
                self._messages[said.message.id] = said.message
            case scene.ProcessStarts(news):
                self.started += 1
                if not self._is_shown(news.command):
                    self.say(f"$ {short(news.command, 200)}")
            case scene.ProgramIs(cell):
                self._cell(cell)
            case scene.ItemGone() | scene.PartGone() | scene.PendingIs():
                pass  # what was written stays; a message is shown with its turn
            case scene.QueueIs() | scene.PhaseIs() | scene.ProcessIs() | scene.UsageIs():
                pass  # the line below the text shows how these stand
            case scene.AskOpened() | scene.AskClosed() | scene.WaitIs():
                pass  # asked where the person types
            case _:
                assert_never(change)

    def _placed(self, item: scene.Item) -> None:
        match item:
            case scene.MessageItem(message, outcome):
                if outcome:
                    self._end(Outcome(outcome), (message,))
                else:
                    self._said(message)
                    self._answered.append(message)
            case scene.TurnItem():
                self.finish()
                self.stopping, self.started = False, 0
                self._asked, self._answered = tuple(self._answered), []
            case scene.ReceiptItem(receipt):
                self._stopped(receipt)
            case scene.NoteItem(text=text):
                self.aside(text)
            case _:
                assert_never(item)

    def _part(self, part: Part, *, live: bool) -> None:
        match part:
            case scene.Words(kind):
                self._words(kind, part.text, live=live)
            case scene.CallPart():
                self._call(part)
            case scene.Joined(message):
                self._said(message)
            case scene.Aside(text):
                self.aside(text)
            case _:
                assert_never(part)

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

    def _words(
        self, of: Literal["text", "thinking", "progress", "output"], text: str, *, live: bool
    ) -> None:
        """What a run says is shown as it says it. What it had said, when a stop was quicker than
        this screen, is on record, and is not said any more."""
        if not live:
            self._more = True
        elif of in ("text", "thinking"):
            self._hear(of, text)
        else:
            self.say(f"· {short(text, 200)}")

    def _call(self, part: CallPart) -> None:
        if part.status in SETTLED:
            _, since = self._calls.pop(part.call, (part, None))
            took = None if since is None else self._loop.time() - since
            said = arguments_line(part.arguments)
            self.say(call_line(part.name, part.status, took, said=said))
        elif part.call not in self._calls:
            self.finish()
            self._calls[part.call] = part, self._loop.time()

    def _is_shown(self, command: str) -> bool:
        """Whether the line of a call that is being made says it."""
        return any(is_about(part.arguments, command) for part, _ in self._calls.values())

    def _said(self, id_: MessageId) -> None:
        self.finish()
        if message := self._messages.pop(id_, None):
            who = "" if message.origin == "person" else f"({short(message.by) or message.origin}) "
            self._sheet.write("\n" + self._paint.line(f"> {who}{message.text}", "bold"))

    def _turn(self, head: TurnHead) -> None:
        if head.outcome and head.run != self._ended:
            self._ended = head.run
            self._calls.clear()
            self._end(Outcome(head.outcome), self._asked)

    def _end(self, outcome: Outcome, ids: tuple[MessageId, ...]) -> None:
        self.finish()
        if self._more:
            self._more = False
            self.say(MORE)
        match outcome:
            case Outcome.STOPPED:
                self.stopping = True
            case Outcome.SUPERSEDED:
                self.say("(replaced)")
            case Outcome.FAILED:
                self._failed(ids)
            case _:
                pass

    def _stopped(self, receipt: Receipt) -> None:
        self.receipt = receipt
        if receipt.reason is Reason.SUPERSEDED:
            if noteworthy(receipt.rows()):
                self.aside("\n".join(receipt_lines(receipt)))
            return
        self.stopping = False
        self.say("■ " + "\n  ".join(receipt_lines(receipt)), "yellow")

    def aside(self, text: str) -> None:
        """About what was before: it does not break into what is being said now."""
        self._sheet.write(self._paint.line(text, "dim"))
