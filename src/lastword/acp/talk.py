"""One session with a client: prompts, what is told of them, and their one answer each.

Everything that is told comes from the session's feed, in its order, and is checked against the
session's generation when it leaves. An update carries no prompt's id, so before anything of a new
run is told, every prompt whose run has ended is answered.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lastword.acp import updates
from lastword.acp.asking import OpenAsks
from lastword.acp.frontiers import Frontiers
from lastword.acp.peer import ClientRequest, Peer
from lastword.acp.teller import Milestone, Teller
from lastword.acp.wire import INTERNAL, NOT_FOUND, Params, RpcError
from lastword.agent.permission import Questions
from lastword.core.entries import Began, Finished, Said
from lastword.core.model import Attachment, MessageId, Outcome, Policy, RunId
from lastword.core.receipt import Receipt
from lastword.core.resume import resume_in
from lastword.core.story import Fact, FeedEvent
from lastword.core.words import means_stop
from lastword.errors import LastwordError
from lastword.runtime.session import Session
from lastword.runtime.ticket import Ticket
from lastword.surfaces.commands import do, named
from lastword.surfaces.following import Following

if TYPE_CHECKING:
    from lastword.runtime.ticket import Stopping

_MOMENT = 0.02  # seconds that the first words of a new run wait for the old one's receipt
_LATE = 10.0  # seconds: longer than any stop takes
_DONE = {Outcome.COMPLETED: "end_turn", Outcome.REFUSED: "refusal"}


class Prompt:
    """A `session/prompt`, from its line to its answer."""

    def __init__(self, asked: ClientRequest) -> None:
        loop = asyncio.get_running_loop()
        self.asked = asked
        self.ticket: asyncio.Future[Ticket] = loop.create_future()
        self.called_off = False  # by its own id
        self.run: RunId | None = None  # the one that answered it, once that has ended
        self.ended = asyncio.Event()
        self.end = 0  # the number of the event that told it
        self.receipt: asyncio.Future[Receipt] = loop.create_future()  # of what ended it


class Talk:
    """One session, as long as the client has it open."""

    asking: OpenAsks  # the questions of its runs, by the rules of its agent

    def __init__(
        self,
        peer: Peer,
        session: Session,
        *,
        folders: Sequence[str],
        servers: list[dict[str, Any]],
        mode: Policy,
        window: int,
    ) -> None:
        self.session = session
        self.mode: Policy = mode
        self.receipt: Receipt | None = None  # the last
        self.by = ""  # an editor does not say who it is
        self.loaded = False  # it is known what there is to stop
        self.ready = asyncio.Event()  # and the client was told all of it that it asked for
        self.title = ""
        self.folders = tuple(folders)
        self.servers = servers  # those that the client handed over
        self._peer = peer
        self._heard = Milestone(session.last_event)  # what it means for prompts is known
        self._prompts: dict[MessageId, Prompt] = {}
        self._sending: deque[Prompt] = deque()  # in the order in which they will be accepted
        self._early: dict[Prompt, None] = {}  # not sent yet: the session is being read
        self._owed: deque[Prompt] = deque()  # answered before their receipt was there
        self._stopping: Stopping | None = None
        self._failed = False  # it could not be opened
        self._in_turn = asyncio.Lock()  # whoever waits until it is ready goes in the order it came
        self.frontiers = Frontiers(peer, session, self.root, self)
        self._following = Following(session)
        # from here on, not from when it is ready: the first to be sent may be quicker than that
        self._following.begin_after(session.last_event)
        self.teller = Teller(peer, self._following, self.root, window, self._before)
        self._watching = peer.tasks.start(self._watch(), name=f"session {session.id}")

    @property
    def root(self) -> str:
        return self.folders[0]

    @property
    def known(self) -> Questions | None:
        """Where it is known what a call would do that a program waits on."""
        return self.frontiers.questions

    async def close(self) -> None:
        """The client has no use for it any more: stop, answer every prompt, and tell no more."""
        if self.ready.is_set():
            self.cancel()
        else:  # it could not be opened: nothing was sent, and nothing will be
            self._failed = True
            self._watching.cancel()
            self.ready.set()
        for prompt in [*self._early, *self._sending, *self._prompts.values()]:
            await prompt.asked.answered.wait()
        self._watching.cancel()
        self.frontiers.close()

    # what the client wants

    def prompt(self, asked: ClientRequest, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Take a prompt, in this very step; it is answered when its run has ended."""
        prompt = Prompt(asked)
        asked.on_cancel = lambda: self._call_off(prompt)
        self.title = self.title or " ".join(text[:1000].split())[:80]
        self._early[prompt] = None
        self._peer.tasks.start(self._answer(prompt, text, attachments), name="prompt")

    def cancel(self) -> None:
        """Stop everything that was asked for; idle, nothing happens."""
        for prompt in self._early:
            prompt.called_off = True
        if self.loaded:
            self._stopping = self.session.stop()

    def _call_off(self, prompt: Prompt) -> None:
        """This one prompt is not wanted any more; its run is stopped, or never starts."""
        prompt.called_off = True
        if prompt.ticket.done():
            with suppress(LastwordError):  # it may have ended meanwhile
                self._stopping = self.session.stop(run=prompt.ticket.result().run)

    def set_mode(self, mode: Policy) -> None:
        """What a new prompt does from here on."""
        self.mode = mode
        changed = "config_option_update", "current_mode_update"
        self.teller.tell({"sessionUpdate": changed[0], "configOptions": updates.options(mode)})
        self.teller.tell({"sessionUpdate": changed[1], "currentModeId": mode})

    def tell(self, update: Params) -> None:
        """Tell the client, behind what it is being told."""
        self.teller.tell_in_turn(update)

    async def caught_up(self) -> None:
        """Return when all that has happened so far has been told."""
        while self.teller.told.number < self.session.last_event:
            await self.teller.told.past(self.session.last_event)

    async def stop(self) -> Receipt:
        """Stop, and wait until what was stopped has its answer."""
        self._stopping = answer = self.session.stop()
        receipt = await answer
        await self._heard.past(self.session.last_event)
        for prompt in [one for one in self._prompts.values() if one.ended.is_set()]:
            await prompt.asked.answered.wait()
        return receipt

    async def _answer(self, prompt: Prompt, text: str, attachments: tuple[Attachment, ...]) -> None:
        try:
            async with self._in_turn:
                await self.ready.wait()
            del self._early[prompt]
            if self._failed:
                why = f"session {self.session.id} could not be opened, so nothing was sent"
                prompt.asked.refuse(RpcError(NOT_FOUND, why))
            elif prompt.called_off:
                told = {"quiet": True, "words": "It was cancelled before it was sent."}
                prompt.asked.answer({"stopReason": "cancelled", "_meta": {"lastword": told}})
            elif named(text) == "again":  # its run is this prompt's
                await self._send(prompt, text.strip().removeprefix("/again").strip(), None)
            elif name := named(text) or ("stop" if means_stop(text) else ""):
                done = await do(self, name, text.strip().removeprefix(f"/{name}"))
                self.teller.tell(updates.message(done.words))
                meta = _meta(done.receipt) if done.receipt else {}
                prompt.asked.answer({"stopReason": "end_turn", **meta})
            else:
                await self._send(prompt, text, attachments)
        except (LastwordError, ValueError) as error:
            prompt.asked.refuse(RpcError(INTERNAL, str(error)))

    async def _send(
        self, prompt: Prompt, text: str, attachments: tuple[Attachment, ...] | None
    ) -> None:
        """Send it; without any `attachments`, in the place of the last turn."""
        session, mode = self.session, self.mode
        self._sending.append(prompt)
        try:
            if attachments is None:
                ticket = await session.again(text or None)
            else:
                # accepted in the step that begins here: whatever line comes next finds it
                ticket = await session.send(text, attachments=attachments, on_message=mode)
        except BaseException:
            if prompt in self._sending:
                self._sending.remove(prompt)
            raise
        prompt.ticket.set_result(ticket)
        if prompt.called_off:
            self._call_off(prompt)
        outcome = await ticket.outcome()
        await prompt.ended.wait()
        if outcome in _DONE or outcome is Outcome.FAILED:
            await self.teller.told.past(prompt.end)  # after what its run said
            await self._reply(prompt, outcome)
        else:
            prompt.asked.answer(_cancelled(await _in_time(prompt.receipt)))

    async def _reply(self, prompt: Prompt, outcome: Outcome) -> None:
        """Answer a prompt whose run ended by itself."""
        ticket = prompt.ticket.result()
        if outcome is Outcome.FAILED:
            prompt.asked.refuse(RpcError(INTERNAL, ticket.error or "the run failed"))
            return
        receipt = await ticket.receipt()  # of what it took over; or of a stop right before it
        if receipt is None and self._owed:
            receipt = await _in_time(self._owed.popleft().receipt)
        meta = _meta(receipt) if receipt else {}
        prompt.asked.answer({"stopReason": _DONE[outcome], **meta})

    # what happens

    async def _watch(self) -> None:
        await self.ready.wait()
        for left in self.session.programs:  # by a run of earlier
            self.frontiers.hear(left)
        for question in self.session.questions:  # before it was opened
            self.asking.opened(question)
        async for event, changes in self._following.heard():
            self._hear(event)
            self._heard.move(event.number)
            await self.teller.happened(event, changes, self.frontiers, self.asking)

    def _hear(self, event: FeedEvent) -> None:
        """What it means for the prompts, in this very step."""
        match event.fact:
            case Said(message):
                # what resumes a program is nobody's prompt
                if message.origin == "person" and self._sending and resume_in(message) is None:
                    self._prompts[message.id] = self._sending.popleft()
            case Finished(run=run, messages=ids):
                self._ended(run, ids, event.number)
                self.frontiers.ended(run)
            case Receipt() as receipt:
                self._stopped(receipt)
            case _:
                pass

    async def _before(self, fact: Fact) -> None:
        """A new run is to be told of: whoever's has ended is answered first, or in a moment."""
        if isinstance(fact, Began):
            await self._answer_ended(fact.messages)

    def _stopped(self, receipt: Receipt) -> None:
        """Whatever it ended can be answered; also if the store does not take it."""
        self.receipt = receipt
        dropped = {report.message.id for report in receipt.messages}
        owed = [(MessageId(""), prompt) for prompt in self._owed]
        for id_, prompt in [*self._prompts.items(), *owed]:
            if (prompt.run in receipt.runs or id_ in dropped) and not prompt.receipt.done():
                prompt.receipt.set_result(receipt)
                if not receipt.durable:  # its outcome may be long in coming
                    prompt.asked.answer(_cancelled(receipt))

    async def _answer_ended(self, starting: tuple[MessageId, ...]) -> None:
        ended = [p for p in self._prompts.values() if p.ended.is_set() and p.ticket.done()]
        for prompt in [one for one in ended if not one.asked.answered.is_set()]:
            outcome = await prompt.ticket.result().outcome()
            if outcome in _DONE or outcome is Outcome.FAILED:
                await prompt.asked.answered.wait()
                continue
            receipt = await self._at_hand(prompt, starting)
            if receipt is None:
                self._owed.append(prompt)
            prompt.asked.answer(_cancelled(receipt))

    async def _at_hand(self, prompt: Prompt, starting: tuple[MessageId, ...]) -> Receipt | None:
        """The receipt of what ended a prompt, if that is quiet by now, or in a moment."""
        taking_over = [self._prompts[id_] for id_ in starting if id_ in self._prompts]
        with suppress(TimeoutError):
            async with asyncio.timeout(_MOMENT):
                for new in taking_over:
                    if receipt := await (await new.ticket).receipt():
                        return receipt
                if self._stopping and prompt.run in (receipt := await self._stopping).runs:
                    return receipt
        return None

    def _ended(self, run: RunId, ids: tuple[MessageId, ...], number: int) -> None:
        for id_ in ids:
            if prompt := self._prompts.get(id_):
                prompt.run, prompt.end = run, number
                prompt.ended.set()
                self._peer.tasks.start(self._forget(id_, prompt), name="forget")

    async def _forget(self, id_: MessageId, prompt: Prompt) -> None:
        await prompt.asked.answered.wait()
        self._prompts.pop(id_, None)


async def _in_time(coming: asyncio.Future[Receipt]) -> Receipt | None:
    """A receipt that is about to come; if none does, nobody waits for it for ever."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LATE):
            return await asyncio.shield(coming)
    return None


def _cancelled(receipt: Receipt | None) -> Params:
    return {"stopReason": "cancelled", **_meta(receipt)}


def _meta(receipt: Receipt | None) -> Params:
    """The receipt, in words and in full; without one, not everything has ended yet."""
    if receipt is None:
        return {"_meta": {"lastword": {"quiet": False}}}
    told = {
        "quiet": receipt.quiet,
        "words": receipt.words,
        "receipt": receipt.to_dict(),
    }
    return {"_meta": {"lastword": told}}
