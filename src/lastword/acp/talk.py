"""One session with a client: prompts, what is told of them, and their one answer each.

Everything that is told comes from the session's feed, in its order, and is checked against the
session's generation when it leaves. An update carries no prompt's id, so before anything of a new
run is told, every prompt whose run has ended is answered.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from lastword.acp import updates
from lastword.acp.commands import do, is_command
from lastword.acp.peer import Asked, Peer
from lastword.acp.wire import INTERNAL, Params, RpcError
from lastword.core.model import Attachment, CallId, Message, MessageId, Outcome, Policy, Status
from lastword.core.receipt import Receipt, ToolNews, ToolReport
from lastword.core.transcript import Used
from lastword.core.words import means_stop
from lastword.errors import LastwordError
from lastword.runtime.feed import FeedEvent
from lastword.runtime.session import Session
from lastword.runtime.ticket import Ticket

if TYPE_CHECKING:
    from lastword.runtime.stop import Answer

_MOMENT = 0.02  # seconds that the first words of a new run wait for the old one's receipt
_SHOWN = 8_000  # characters of what a call has written so far
_DONE = {Outcome.COMPLETED: "end_turn", Outcome.REFUSED: "refusal"}


class Prompt:
    """A `session/prompt`, from its line to its answer."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.ticket: asyncio.Future[Ticket] = asyncio.get_running_loop().create_future()
        self.called_off = False  # before it was accepted
        self.ended = asyncio.Event()  # all that its run did has been told


class Talk:
    """One session, as long as the client has it open."""

    def __init__(
        self, peer: Peer, session: Session, *, root: str, mode: Policy, window: int
    ) -> None:
        self.session = session
        self.mode: Policy = mode
        self.receipt: Receipt | None = None  # the last
        self.ready = asyncio.Event()
        self.title = ""
        self.root = root
        self._peer = peer
        self._seen = session.last_event  # the number of the last event that was told
        self._more: asyncio.Future[None] | None = None
        self._window = window
        self._prompts: dict[MessageId, Prompt] = {}
        self._sending: deque[Prompt] = deque()  # in the order in which they will be accepted
        self._early: list[Prompt] = []  # not sent yet: the session is being read
        self._stopping: Answer | None = None
        self._calls: dict[CallId, list[str]] = {}  # those that go on, and what each has written
        self._told: set[CallId] = set()
        self._watching = peer.tasks.start(self._watch(), name=f"session {session.id}")

    async def close(self) -> None:
        """The client has no use for it any more: stop, answer every prompt, and tell no more."""
        self.cancel()
        for prompt in [*self._early, *self._sending, *self._prompts.values()]:
            await prompt.asked.answered.wait()
        self._watching.cancel()

    # what the client wants

    def prompt(self, asked: Asked, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Take a prompt, in this very step; it is answered when its run has ended."""
        prompt = Prompt(asked)
        asked.on_cancel = lambda: self._call_off(prompt)
        self.title = self.title or " ".join(text.split())[:80]
        self._early.append(prompt)
        self._peer.tasks.start(self._answer(prompt, text, attachments), name="prompt")

    def cancel(self) -> None:
        """Stop everything that was asked for; idle, nothing happens."""
        for prompt in self._early:
            prompt.called_off = True
        if self.ready.is_set():
            self._stopping = self.session.stop()

    def _call_off(self, prompt: Prompt) -> None:
        """This one prompt is not wanted any more; it is stopped if its turn has come."""
        if prompt in self._early:
            prompt.called_off = True
        elif prompt.ticket.done():
            with suppress(LastwordError):  # it may have ended meanwhile
                self._stopping = self.session.stop(run=prompt.ticket.result().run)
        else:
            self.cancel()

    def set_mode(self, mode: Policy) -> None:
        """What a new prompt does from here on."""
        self.mode = mode
        changed = "config_option_update", "current_mode_update"
        self.tell({"sessionUpdate": changed[0], "configOptions": updates.options(mode)})
        self.tell({"sessionUpdate": changed[1], "currentModeId": mode})

    async def caught_up(self) -> None:
        """Return when all that has happened so far has been told."""
        while self._seen < self.session.last_event:
            self._more = self._more or asyncio.get_running_loop().create_future()
            await asyncio.shield(self._more)

    async def stop(self) -> Receipt:
        """Stop, and wait for the receipt."""
        self._stopping = answer = self.session.stop()
        return await answer

    async def _answer(self, prompt: Prompt, text: str, attachments: tuple[Attachment, ...]) -> None:
        try:
            await self.ready.wait()
            self._early.remove(prompt)
            if prompt.called_off:
                told = {"quiet": True, "words": "It was cancelled before it was sent."}
                prompt.asked.answer({"stopReason": "cancelled", "_meta": {"lastword": told}})
            elif is_command(text) or means_stop(text):
                await self._command(prompt, text)
            else:
                await self._send(prompt, text, attachments)
        except (LastwordError, ValueError) as error:
            prompt.asked.refuse(RpcError(INTERNAL, str(error)))

    async def _command(self, prompt: Prompt, text: str) -> None:
        words = await do(self, text)
        self.tell(updates.message(words))
        prompt.asked.answer({"stopReason": "end_turn"})

    async def _send(self, prompt: Prompt, text: str, attachments: tuple[Attachment, ...]) -> None:
        self._sending.append(prompt)
        try:
            # accepted in the step that begins here: whatever line comes next finds it
            ticket = await self.session.send(text, attachments=attachments, on_message=self.mode)
        except BaseException:
            if prompt in self._sending:
                self._sending.remove(prompt)
            raise
        prompt.ticket.set_result(ticket)
        outcome = await ticket.outcome()
        await prompt.ended.wait()
        if outcome in {Outcome.STOPPED, Outcome.WITHDRAWN} and self._stopping:
            self.receipt = await self._stopping
        await self._reply(prompt)

    async def _reply(self, prompt: Prompt) -> None:
        """Answer it, once what became of it is durable."""
        ticket = await prompt.ticket
        outcome = await ticket.outcome()
        if outcome is Outcome.FAILED:
            prompt.asked.refuse(RpcError(INTERNAL, ticket.error or "the run failed"))
        elif outcome in _DONE:
            replaced = await ticket.receipt()
            meta = _meta(replaced) if replaced else {}
            prompt.asked.answer({"stopReason": _DONE[outcome], **meta})
        else:
            known = self.receipt and {ticket.run, ticket.message.id} & _ended_by(self.receipt)
            meta = _meta(self.receipt if known else None)
            prompt.asked.answer({"stopReason": "cancelled", **meta})

    # what happens

    def tell(self, update: Params, while_: Callable[[], bool] = lambda: True) -> None:
        """Tell the client."""
        params = {"sessionId": self.session.id, "update": update}
        self._peer.notify("session/update", params, while_)

    async def _watch(self) -> None:
        await self.ready.wait()
        async for event in self.session.events():
            match event.kind, event.data:
                case "accepted", Message(origin="person", id=id_) if self._sending:
                    self._prompts[id_] = self._sending.popleft()
                case "started", ids:
                    await self._answer_ended(cast("tuple[MessageId, ...]", ids))
                case "ended", ids:
                    self._ended(cast("tuple[MessageId, ...]", ids))
                case "stopped", Receipt() as receipt:
                    self.receipt = receipt
                case _:
                    self._tell(event)
            self._seen = event.number
            if self._more:
                self._more.set_result(None)
                self._more = None

    async def _answer_ended(self, starting: tuple[MessageId, ...]) -> None:
        ended = [prompt for prompt in self._prompts.values() if prompt.ended.is_set()]
        for prompt in ended:
            await (await prompt.ticket).outcome()  # what it took is durable
        for prompt in [self._prompts[id_] for id_ in starting if ended and id_ in self._prompts]:
            self.receipt = await _at_hand(await prompt.ticket) or self.receipt
        for prompt in ended:
            await self._reply(prompt)

    def _ended(self, ids: tuple[MessageId, ...]) -> None:
        for id_ in ids:
            if prompt := self._prompts.get(id_):
                prompt.ended.set()
                self._peer.tasks.start(self._forget(id_, prompt), name="forget")

    async def _forget(self, id_: MessageId, prompt: Prompt) -> None:
        await prompt.asked.answered.wait()
        self._prompts.pop(id_, None)

    def _tell(self, event: FeedEvent) -> None:
        generation = event.generation

        def current() -> bool:
            return self.session.generation == generation

        match event.kind, event.data:
            case "text", _:
                self.tell(updates.message(event.text), current)
            case "thinking", _:
                self.tell(updates.thought(event.text), current)
            case "progress", _:
                self._progress(event.text, current)
            case "call", ToolReport() as report:
                self._call(report, current)
            case "usage", Used() as used:
                tokens = used.input_tokens + used.output_tokens
                self.tell(updates.usage(tokens, self._window), current)
            case _:
                pass

    def _progress(self, text: str, current: Callable[[], bool]) -> None:
        """What a call writes belongs to it, if there is no doubt which."""
        if len(self._calls) != 1:
            self.tell(updates.thought(text), current)
            return
        [(id_, written)] = self._calls.items()
        written[:] = ["".join((*written, text))[-_SHOWN:]]
        self.tell(updates.call_says(id_, written[0]), current)

    def _call(self, report: ToolReport, current: Callable[[], bool]) -> None:
        """That a call is to be made is dropped after a stop; how one ended that was told is not."""
        if report.call not in self._told:
            if isinstance(report, ToolNews):
                self._told.add(report.call)
                self.tell(updates.call(report, self.root))
            if report.status is Status.INTENDED:
                return
        if report.status is Status.BEGUN:
            self._calls[report.call] = []
        else:
            self._calls.pop(report.call, None)
        ends = report.status is not Status.BEGUN
        self.tell(updates.call_update(report), (lambda: True) if ends else current)
        if ends:
            self._told.discard(report.call)


async def _at_hand(ticket: Ticket) -> Receipt | None:
    """The receipt of what it took over, if that is quiet by now, or in a moment."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_MOMENT):
            return await ticket.receipt()
    return None


def _ended_by(receipt: Receipt) -> set[str]:
    return {*receipt.runs, *(report.message.id for report in receipt.messages)}


def _meta(receipt: Receipt | None) -> Params:
    """The receipt, in words and in full; without one, not everything has ended yet."""
    if receipt is None:
        return {"_meta": {"lastword": {"quiet": False}}}
    told = {"quiet": receipt.quiet, "words": str(receipt), "receipt": json.loads(receipt.to_json())}
    return {"_meta": {"lastword": told}}
