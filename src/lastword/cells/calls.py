"""The calls of a continuing cell: made at once, side by side, through the gate of its run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

from lastword.cells.functions import Function
from lastword.cells.steps import Err, Ok
from lastword.cells.translation import result_of
from lastword.core.cell import CallResult, PendingCall
from lastword.core.model import CallId
from lastword.errors import Superseded
from lastword.runtime.call import Call
from lastword.runtime.run import Run
from lastword.runtime.tasks import described


class CellCalls:
    """Those of one cell that have not ended."""

    def __init__(self, functions: Iterable[Function], ended: Callable[[CallResult], None]) -> None:
        self._functions = {one.tool.name: one for one in functions}
        self._ended = ended
        self._under_way: dict[CallId, asyncio.Task[None]] = {}

    def make(self, run: Run, calls: Iterable[PendingCall]) -> None:
        """Make them, as helpers of the run: a stop ends them, and its ledger settles them."""
        # all are written down before one is made: what a stop finds undone, it can name
        intended = [(call, intend(run, self._functions[call.name], call)) for call in calls]
        for call, made in intended:
            try:
                task = run.task(self._make(run, call, made), name=f"{call.id} {call.name}")
            except Superseded:
                return  # the run is over, and so is the cell
            self._under_way[call.id] = task
            task.add_done_callback(lambda _, id_=call.id: self._under_way.pop(id_, None))

    def cancel(self, calls: Iterable[PendingCall]) -> None:
        """Nobody waits for these any more."""
        for call in calls:
            if made := self._under_way.get(call.id):
                made.cancel()

    async def _make(self, run: Run, call: PendingCall, made: Call[Any] | Err) -> None:
        result = result_of(call.id, await answer(call.id, made))
        if run.current:
            self._ended(result)


def intend(run: Run, function: Function, call: PendingCall) -> Call[Any] | Err:
    """Write down a call that is to be made; or why it cannot be."""
    try:
        return function.intend(run, json.loads(call.arguments))
    except (TypeError, ValueError) as error:
        return Err(str(error))


async def answer(id: CallId, made: Call[Any] | Err) -> Ok | Err:
    """What came of a call, whatever it was: that is for the program to handle."""
    if isinstance(made, Err):
        return made
    try:
        given = Ok(await made())
        result_of(id, given)
    except asyncio.CancelledError:
        here = asyncio.current_task()
        if here and here.cancelling():
            raise
        return Err("it was cancelled")
    except PermissionError as error:
        return Err(str(error))
    except Exception as error:  # noqa: BLE001 - a tool may raise what it likes
        return Err(described(error))
    return given
