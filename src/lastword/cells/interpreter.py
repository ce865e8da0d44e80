"""Programs of cells, run in a few workers: from the start, or from a frontier, to the next one.

A step has no effect outside of its worker but what it gives. So a worker can be killed at any
instant, and a frontier can be gone on from in any worker, any number of times.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lastword.cells.dumps import opened, sealed
from lastword.cells.inside.frames import Message
from lastword.cells.inside.plain import TooLarge, must_be_plain
from lastword.cells.limits import ProgramLimits
from lastword.cells.steps import (
    AtFrontier,
    Err,
    Ok,
    Step,
    StepCall,
    StepFailed,
    StepFinished,
    StepLimit,
)
from lastword.cells.stubs import Tool, callable_as, stubs
from lastword.cells.worker import Untold, Worker
from lastword.errors import ProcessError, UnreadableDump, WorkerDied
from lastword.processes import Processes

WORKERS = 2
_OVERTIME = 1.0  # seconds beyond a program's time, after which a worker that says nothing is killed
_AT_ONCE = 8
_TRIES = 3  # workers that may be found dead before one is told something


class Interpreter:
    """A few workers, started when they are needed and kept; a cell at a frontier has none."""

    def __init__(self, processes: Processes, *, workers: int = WORKERS) -> None:
        if not isinstance(workers, int) or workers < 1:  # pyright: ignore[reportUnnecessaryIsInstance] - for callers that are not checked
            raise ValueError(f"workers must be a number from 1 on; it is {workers!r}")
        self._processes = processes
        self._turns = asyncio.Semaphore(workers)
        self._idle: list[Worker] = []
        self._workers: set[Worker] = set()
        self._closed = False

    async def start(
        self,
        source: str,
        *,
        tools: Sequence[Tool] = (),
        values: Mapping[str, Any] | None = None,
        limits: ProgramLimits | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> Step:
        """Run a program from its start. Cancelled, it is ended with its worker.

        `values` are what it can recall. Raises WorkerDied if the worker went away.
        """
        limits = limits or ProgramLimits()
        if len(source) > limits.source:
            words = f"the program has {len(source):,} characters, and may have {limits.source:,}"
            return StepLimit("source", words)
        values = dict(values or {})
        try:
            # cells that end at the same moment may have remembered more than one of them could
            must_be_plain(values, "what can be recalled", _AT_ONCE * limits.values)
        except TooLarge as error:
            return StepLimit("values", str(error))
        state: Message = {
            "functions": list(callable_as(tools)),
            "values": values,
            "remembered": {},
            "pending": {},
            "calls": 0,
            "written": 0,
            "limits": limits.asked,
        }
        request = {"source": source, "stubs": stubs(tools), "state": state}
        return await self._step(request, b"", limits.time, on_output)

    async def resume(
        self,
        dump: bytes,
        results: Mapping[str, Ok | Err],
        *,
        on_output: Callable[[str], None] | None = None,
    ) -> Step:
        """Go on from a frontier, in any worker, with what came of some of its calls.

        Raises UnreadableDump, ValueError (a call that the frontier has not, or none at all) or
        TypeError (a result that is no plain data) before anything is done.
        """
        state, snapshot = opened(dump)
        most = state["limits"]["values"]
        unknown = sorted(results.keys() - state["pending"].keys())
        if unknown or not results:
            waits = ", ".join(state["pending"])
            what = f"nothing waits for {', '.join(unknown)}" if unknown else "nothing was resolved"
            raise ValueError(f"{what}; this frontier waits for {waits}")
        answers = {id_: _answer(id_, result, most) for id_, result in results.items()}
        request: Message = {"state": state, "results": answers}
        return await self._step(request, snapshot, state["limits"]["time"], on_output)

    def must_read(self, dump: bytes) -> None:
        """Raise UnreadableDump for what nobody could go on from."""
        opened(dump)

    async def close(self) -> None:
        """End every worker, also those that run something. Frontiers are not touched."""
        self._closed = True
        self._idle.clear()
        await asyncio.gather(*(worker.end() for worker in self._workers))

    async def _step(
        self,
        request: Message,
        dump: bytes,
        seconds: float,
        on_output: Callable[[str], None] | None,
    ) -> Step:
        printed: list[str] = []

        def hear(text: str) -> None:
            printed.append(text)
            if on_output:
                on_output(text)

        async with self._turns:
            message, blob = await self._asked(request, dump, seconds, hear)
        return _understood(message, blob, "".join(printed))

    async def _asked(
        self, request: Message, dump: bytes, seconds: float, hear: Callable[[str], None]
    ) -> tuple[Message, bytes]:
        tries = _TRIES
        while True:
            tries -= 1
            worker = await self._take()
            clock = asyncio.timeout(seconds + _OVERTIME)
            try:
                async with clock:
                    answer = await worker.ask(request, dump, hear)
            except Untold:
                await self._discard(worker)
                if not tries or self._closed:
                    raise
            except BaseException as error:
                await self._discard(worker)
                if isinstance(error, TimeoutError) and clock.expired():
                    words = f"the program ran for longer than {seconds:g} seconds"
                    return {"step": "limit", "kind": "time", "error": words}, b""
                raise
            else:
                await self._give_back(worker, answer[0])
                return answer

    async def _take(self) -> Worker:
        while self._idle:
            if (worker := self._idle.pop()).alive:
                return worker
            await self._discard(worker)
        if self._closed:
            raise ProcessError("this interpreter has been closed; open another one")
        worker = await Worker.start(self._processes)
        self._workers.add(worker)
        if self._closed:  # meanwhile, and it was not among those that were ended
            await self._discard(worker)
            raise ProcessError("this interpreter has been closed; open another one")
        return worker

    async def _give_back(self, worker: Worker, said: Message) -> None:
        # one that ended a program in the middle may still be busy with it
        if said["step"] in ("frontier", "finished", "failed") and not self._closed:
            self._idle.append(worker)
        else:
            await self._discard(worker)

    async def _discard(self, worker: Worker) -> None:
        self._workers.discard(worker)
        await worker.end()


def _answer(id_: str, result: Ok | Err, most: int) -> Message:
    if isinstance(result, Err):
        return {"exc_type": "RuntimeError", "message": result.error[:most]}
    try:
        must_be_plain(result.value, f"the result of call {id_}", most)
    except TooLarge as error:  # the program can ask for less, and the cell is not stuck
        return {"exc_type": "ValueError", "message": str(error)}
    return {"return_value": result.value}


def _understood(said: Message, blob: bytes, output: str) -> Step:
    match said["step"]:
        case "frontier":
            state = said["state"]
            pending = tuple(
                StepCall(id_, name, tuple(args), kwargs)
                for id_, (name, args, kwargs, _) in state["pending"].items()
            )
            return AtFrontier(sealed(state, blob), pending, output)
        case "finished":
            not_made = tuple(said["not_made"])
            return StepFinished(said["value"], output, said["remembered"], not_made)
        case "failed":
            return StepFailed(said["error"], said["kind"], output)
        case "limit":
            return StepLimit(said["kind"], said["error"], output)
        case "unreadable":
            raise UnreadableDump(
                f"the interpreter cannot read what was kept of this cell ({said['error']}); "
                "it may have been kept by another version of pydantic-monty"
            )
        case _:
            raise WorkerDied(
                f"the interpreter of a cell ended before the cell had: {said['error']}"
            )
