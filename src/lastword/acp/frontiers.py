"""Programs that wait for a person, as the client asks for them: `session/request_permission`.

Whoever has run a program may have been answered long ago; the cell stands all the same. Its calls
are asked for one by one, and what was chosen goes to the cell in one resume. If the cell goes on in
another way, or is frozen, the client is told that it need not answer.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from lastword import cells
from lastword.acp import updates
from lastword.acp.asking import AskingSession, choice_of, shown
from lastword.acp.peer import Peer
from lastword.acp.wire import Params, RpcError
from lastword.agent.permission import Questions
from lastword.core.cell import CellId, PendingCall, StoredCell
from lastword.core.model import RunId
from lastword.errors import LastwordError
from lastword.runtime.session import Session
from lastword.surfaces.programs import DENIED, as_question

_OPTIONS = ("allow_once", "reject_once")


class Frontiers:
    """Those of one session."""

    def __init__(self, peer: Peer, session: Session, root: str, talk: AskingSession) -> None:
        self._peer = peer
        self._session = session
        self._root = root
        self._talk = talk
        self.questions: Questions | None = None  # of the agent whose programs they are
        self._asking: dict[CellId, tuple[int, asyncio.Task[None]]] = {}
        self._later: dict[CellId, StoredCell] = {}  # whose run goes on: it may need nobody

    def close(self) -> None:
        """Ask no more."""
        for _, task in self._asking.values():
            task.cancel()

    def hear(self, cell: StoredCell) -> None:
        """A cell stands somewhere else than before."""
        at = cell.record.waits_at
        generation, task = self._asking.get(cell.id, (0, None))
        if task and generation != at:
            task.cancel()  # which takes the question back
            del self._asking[cell.id]
        self._later.pop(cell.id, None)
        if at and generation != at and self._session.active == cell.run:
            self._later[cell.id] = cell
        elif at and generation != at:
            asking = self._peer.tasks.start(self._ask(cell), name=f"frontier of {cell.id}")
            self._asking[cell.id] = at, asking

    def ended(self, run: RunId) -> None:
        """What it has left at a frontier waits for a person."""
        for cell in [cell for cell in self._later.values() if cell.run == run]:
            self.hear(cell)

    async def _ask(self, cell: StoredCell) -> None:
        frontier = cell.record.frontier
        if frontier is None:
            return
        await self._talk.caught_up()
        allowed, refused = list[str](), list[tuple[str, cells.Ok | cells.Err]]()
        for call in frontier.pending:
            with suppress(RpcError):  # the client cannot ask; somebody else may answer it
                answer = await self._peer.ask(
                    "session/request_permission",
                    await self._shown(call),
                    lambda: cell.id in self._asking,
                )
                match choice_of(answer, _OPTIONS):
                    case "allow_once":
                        allowed.append(call.id)
                    case "reject_once":
                        refused.append((call.id, DENIED))
                    case _:
                        pass  # withdrawn: it stands, and can be answered elsewhere
        if allowed or refused:
            try:
                ticket = await cells.resume(
                    self._session, cell.id, frontier.generation, refused, allow=allowed
                )
                await ticket.outcome()
                why = ticket.error
            except LastwordError as error:  # somebody else was quicker
                why = str(error)
            if why:
                self._talk.tell(updates.message(f"Your answer was not used: {why}"))

    async def _shown(self, call: PendingCall) -> Params:
        """In the words of a question, as far as is known here what it would do."""
        question = await as_question(self._session, call, self.questions)
        return shown(question, self._session.id, self._root)
