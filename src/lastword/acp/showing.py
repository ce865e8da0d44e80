"""A session as a client is shown it: each change of its picture, as `session/update` has it.

What is told again to a client that opens a session is the same picture, drawn out of nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, assert_never

from lastword.acp import updates
from lastword.acp.asking import OpenAsks
from lastword.acp.frontiers import Frontiers
from lastword.acp.wire import Params
from lastword.core import scene
from lastword.core.model import CallId, Generation, MessageId, RunId, Status
from lastword.core.picture import Picture
from lastword.core.scene import CallPart, Change, Item, Part, TurnItem
from lastword.core.turns import SETTLED

_SHOWN = 8_000  # characters of what a call has written so far


@dataclass(eq=False, slots=True)
class _Going:
    """A call that has not ended."""

    sent: bool = False  # the client is to be told of it
    told: bool = False  # it was
    history: CallPart | None = None  # as it stood: told with its end, if it was not before


class Showing:
    """One session's."""

    def __init__(
        self, tell: Callable[[Params, Callable[[], bool]], None], root: str, window: int
    ) -> None:
        self._tell = tell
        self._root = root
        self._window = window
        self._calls: dict[CallId, _Going] = {}

    def show(  # noqa: C901, PLR0912, PLR0915 - one match
        self,
        change: Change,
        may_leave: Callable[[], bool],
        picture: Picture,
        frontiers: Frontiers,
        asking: OpenAsks,
    ) -> None:
        """What is different; what waits to be told is asked whether it may be right before."""
        match change:
            case scene.PartIs(part=part, live=live):
                self._part(part, may_leave, live=live)
            case scene.Grew(run, place, text, of, _, live):
                if of == "output":
                    self._output(picture.part(run, place), may_leave)
                elif live:  # what a stop was quicker than is on record
                    words = updates.message if of == "text" else updates.thought
                    self._tell(words(text), may_leave)
            case scene.UsageIs(input_tokens=read, output_tokens=written):
                self._tell(updates.usage(read + written, self._window), may_leave)
            case scene.Placed(item=scene.NoteItem(text=text)):
                self._tell(updates.thought(text), _always)  # what was found after a restart, too
            case scene.ItemIs(item=scene.ReceiptItem(receipt, settled=True)):
                self._tell(updates.thought(receipt.last_words), _always)
            case scene.ProgramIs(cell):
                frontiers.hear(cell)
            case scene.Placed() | scene.ItemIs() | scene.ItemGone() | scene.PartGone():
                pass  # the client has its own words; a prompt's answer carries the receipt
            case scene.TurnIs() | scene.PhaseIs() | scene.MessageIs() | scene.PendingIs():
                pass  # a prompt that is not answered yet goes on
            case scene.QueueIs() | scene.ProcessIs() | scene.ProcessStarts():
                pass  # /queue and /processes tell of these
            case scene.AskOpened(question):
                asking.opened(question)
            case scene.AskClosed(ask):
                asking.closed(ask)
            case scene.WaitIs():
                pass  # the client knows since when it asks
            case _:
                assert_never(change)

    def _part(self, part: Part, may_leave: Callable[[], bool], *, live: bool) -> None:
        match part:
            case scene.Words(kind):
                if live:
                    words = updates.message if kind == "text" else updates.thought
                    self._tell(words(part.text), may_leave)
            case CallPart():
                self._call(part, may_leave, live=live)
            case scene.Aside(text):
                self._tell(updates.thought(text), _always)
            case scene.Joined():
                pass  # the client has its own words
            case _:
                assert_never(part)

    def _call(self, made: CallPart, may_leave: Callable[[], bool], *, live: bool) -> None:
        """That a call is to be made is dropped after a stop; how one ended that was told is not."""
        if made.nature == "post":
            return
        going = self._calls.setdefault(made.call, _Going())
        if made.status in SETTLED:
            del self._calls[made.call]
            if known := going.history:
                ended = replace(known, status=made.status, error=made.error)
                self._tell(updates.call(ended, self._root), lambda: not going.told)
            self._tell(updates.call_update(made), lambda: going.told or known is not None)
        elif not live:
            pass  # a stop was quicker, or a person has answered
        elif made.status is Status.BEGUN:
            self._tell(updates.call_update(made), may_leave)
        elif not going.sent:
            going.sent = True
            self._tell(updates.call(made, self._root), partial(_is_told, going, may_leave))

    def again(
        self, picture: Picture, is_silenced: Callable[[int], bool]
    ) -> Iterator[tuple[Params, Callable[[], bool]]]:
        """All of it, for a client that opens a session, and whether each may leave. That a call
        goes on may as long as it does; how it ends is told by `show`, with the call if need be."""
        calls: dict[CallId, _Going] = {}
        for drawn in _history(picture, self._root, picture.phase.active):
            if not isinstance(drawn, _GoingCall):
                yield drawn, _always
                continue
            going = calls[drawn.part.call] = _Going(sent=True, history=drawn.part)
            may_leave = partial(_goes_on, is_silenced, drawn.generation)
            first, *rest = drawn.updates(self._root)
            yield first, partial(_is_told, going, may_leave)
            for update in rest:
                yield update, may_leave
        self._calls = calls  # all of it was told, and what came before is in it

    def _output(self, part: Part, may_leave: Callable[[], bool]) -> None:
        if isinstance(part, CallPart):
            self._tell(updates.call_says(part.call, part.output[-_SHOWN:]), may_leave)


class _GoingCall(NamedTuple):
    """A call of the active run that has not ended, in what is told again."""

    part: CallPart
    generation: Generation

    def updates(self, root: str) -> Iterator[Params]:
        yield updates.call(self.part, root)
        if self.part.status is Status.BEGUN:
            yield updates.call_update(self.part)


def told_again(picture: Picture, root: str, active: RunId | None) -> Iterator[Params]:
    """All of it, for a client that opens a session: what was said, every call with how it ended.

    Calls of the active run have not ended, and how they do is still to be told.
    """
    for drawn in _history(picture, root, active):
        yield from drawn.updates(root) if isinstance(drawn, _GoingCall) else (drawn,)


def _history(picture: Picture, root: str, active: RunId | None) -> Iterator[Params | _GoingCall]:
    for item in picture.items:
        yield from _item(picture, item, root, active)
    for message in picture.pending:
        yield from _said(picture, message)


def _said(picture: Picture, message: MessageId) -> Iterator[Params]:
    said = picture.messages.get(message)
    if said and said.message.origin == "person":
        yield updates.said(said.message.text)


def _item(
    picture: Picture, item: Item, root: str, active: RunId | None
) -> Iterator[Params | _GoingCall]:
    match item:
        case scene.MessageItem(message):
            yield from _said(picture, message)
        case TurnItem(head, parts):
            for part in parts:
                if head.run == active and isinstance(part, CallPart) and part.status not in SETTLED:
                    yield from () if part.nature == "post" else (_GoingCall(part, head.generation),)
                else:
                    yield from _again(picture, part, root)
        case scene.NoteItem(text=text):
            yield updates.thought(text)
        case scene.ReceiptItem():
            pass  # /receipt shows the last
        case _:
            assert_never(item)


def _again(picture: Picture, part: Part, root: str) -> Iterator[Params]:
    match part:
        case scene.Words(kind):
            yield (updates.message if kind == "text" else updates.thought)(part.text)
        case CallPart(nature=nature, status=status):
            if nature != "post":
                lost = status not in SETTLED  # and not settled yet
                yield updates.call(part, root)
                ended = replace(part, status=Status.MAY_HAVE_EXECUTED) if lost else part
                yield updates.call_update(ended)
        case scene.Joined(message):
            yield from _said(picture, message)
        case scene.Aside(text):
            yield updates.thought(text)
        case _:
            assert_never(part)


def _always() -> bool:
    return True


def _goes_on(is_silenced: Callable[[int], bool], generation: int) -> bool:
    return not is_silenced(generation)


def _is_told(going: _Going, may_leave: Callable[[], bool]) -> bool:
    """Asked right before it leaves."""
    going.told = may_leave()
    return going.told
