"""Resumes from outside of a run: each is a message of its session, and a run of its own.

The message carries the answers, so a resume is as durable as any message: it waits in the queue,
is found again after a crash, and can be removed or stopped like one. Until its run delivers the
answers nothing has happened to the frontier, and a resume that never gets that far has not either.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeAlias

from lastword.cells.cell import PausableCell, live
from lastword.cells.translation import answers_of
from lastword.core.cell import CallResult, CellId, PendingCall
from lastword.core.model import Attachment, CallId, Message
from lastword.core.value import value
from lastword.errors import CellError, EngineFailed
from lastword.runtime.run import Engine, Run

Make: TypeAlias = Callable[[Sequence[PendingCall]], Awaitable[Sequence[CallResult]]]
Serve: TypeAlias = Callable[[Run, "Resume"], Awaitable[object]]
_MALFORMED = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
ANSWERS = "text/vnd.lastword.answers+json"


@value
class Resume:
    """What a message asks for."""

    cell: CellId
    generation: int
    results: tuple[CallResult, ...]
    allowed: tuple[CallId, ...] = ()  # calls that are to be made now
    by: str = ""  # who answers

    @property
    def answers(self) -> tuple[CallResult, ...]:
        """One for each of its calls, to see whether they fit."""
        return (*self.results, *(CallResult(call, "null") for call in self.allowed))

    @property
    def text(self) -> str:
        """What it is, to whoever reads the conversation."""
        calls = ", ".join(result.call for result in self.answers)
        return f"[Answers to the program {self.cell}, which waited for them: {calls}]"

    @property
    def attached(self) -> Attachment:
        """All of it."""
        results = [[one.call, one.content, one.failed] for one in self.results]
        plain = {"cell": self.cell, "generation": self.generation, "results": results}
        plain |= {"allowed": self.allowed}
        return Attachment(ANSWERS, json.dumps(plain, ensure_ascii=False), name="answers")


def resume_in(message: Message) -> Resume | None:
    """What a message asks for, if it is a resume. Whoever may send one may resume."""
    for one in message.attachments:
        if one.media_type == ANSWERS:
            try:
                plain = json.loads(one.data)
                results = [CallResult(CallId(i), c, bool(f)) for i, c, f in plain["results"]]
                answers_of(results)
                frontier = CellId(plain["cell"]), int(plain["generation"])
                if not isinstance(plain["cell"], str):
                    return None
                allowed = tuple(map(CallId, plain["allowed"]))
                return Resume(*frontier, tuple(results), allowed, message.by)
            except _MALFORMED:
                return None  # somebody else's idea of one
    return None


def resumes(messages: Iterable[Message], cell: str, generation: int) -> bool:
    """Whether one of these resumes that frontier."""
    asked = [resume_in(message) for message in messages]
    return any(one and (one.cell, one.generation) == (cell, generation) for one in asked)


def engine(inner: Engine, *, serve: Serve | None = None) -> Engine:
    """An engine that lets resumed cells go on, and leaves all other messages to `inner`.

    A cell goes on under the run's hold until it stands again or has ended. `serve` does that in
    another way, with more to follow. A resume that comes too late for its frontier fails its run.
    """

    async def answer(run: Run) -> None:
        asked = [one for message in run.messages if (one := resume_in(message))]
        for one in asked:
            await (serve or go_on)(run, one)
        if len(asked) < len(run.messages):
            await inner(run)

    return answer


async def go_on(run: Run, asked: Resume) -> None:
    """Deliver the answers; return when the cell stands again, or has ended."""
    if asked.allowed:
        raise EngineFailed(
            f"cell {asked.cell} was not resumed: nobody here can make its calls; bring results"
        )
    await (await delivered(run, asked)).wait()


async def delivered(run: Run, asked: Resume, make: Make | None = None) -> PausableCell:
    """The cell, once it has the answers; those to the calls that are allowed, `make` gives.

    They are made when it is stored that they will be, so that after a crash nobody is invited to
    allow again what may have executed.
    """
    try:
        living = live(run.shelf, asked.cell)
        calls = [call for call in living.machine.pending if call.id in asked.allowed]

        async def all_of_them() -> Sequence[CallResult]:
            return (*asked.results, *(await make(calls) if make else ()))

        given = all_of_them if asked.allowed else None
        await living.resume(run, asked.generation, asked.answers, given)
    except CellError as error:
        raise EngineFailed(str(error)) from error
    return PausableCell(run, living)
