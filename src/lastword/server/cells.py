"""Cells of a session: where they stand, what they wait on, and answers for what they wait on."""

from __future__ import annotations

import asyncio

from msgspec import UNSET
from starlette.types import Receive, Scope, Send

from lastword import cells
from lastword.cells.inside.plain import NotPlain
from lastword.core.cell import Observation, StoredCell
from lastword.core.frontier import CellMachine
from lastword.server import cell_wire
from lastword.server.desk import ApiRequest, Reply, reply
from lastword.server.problems import Trouble
from lastword.server.shapes import cell_ending, encode


async def listed(asked: ApiRequest) -> Reply:
    """The cells of a session, in the order they were begun."""
    session = await asked.known()
    every = await session.cells()
    await asked.looked_at(every)
    return reply(cell_wire.Cells([_out(asked, cell) for cell in every]))


async def paused(asked: ApiRequest) -> Reply:
    """The cells of all sessions that stand at a frontier; no child run leaves one."""
    mine = [one for one in await cells.paused(asked.desk.runtime) if asked.has(one.session)]
    await asked.looked_at(mine)
    return reply(cell_wire.Cells([_out(asked, cell) for cell in mine]))


async def frontier(asked: ApiRequest, scope: Scope, receive: Receive, send: Send) -> None:
    """Where a cell stands; what it printed is given once, and goes back if nobody was there."""
    del scope, receive
    session = await asked.known()
    async with cells.observe(session, asked.part("cell"), asked.who.name) as seen:
        if asked.desk.questions:
            await asked.desk.questions.look(session.id, seen.pending)
        body = encode(_frontier(asked, seen))
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for part in (body, b""):  # the second returns when the first has left
            await send({"type": "http.response.body", "body": part, "more_body": True})
        if await asked.request.is_disconnected():
            raise asyncio.CancelledError  # whoever asks next is given it
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def resume(asked: ApiRequest) -> Reply:
    """Answer calls of a paused cell, by the number of the frontier at which they were seen."""
    told = await asked.body(cell_wire.ResumeIn)
    session = await asked.known()
    answers = [(call, _answer(call, one)) for call, one in told.results.items()]
    try:
        ticket = await cells.resume(
            session,
            asked.part("cell"),
            told.generation,
            answers,
            allow=told.allow,
            by=asked.who.name,
        )
    except NotPlain as error:
        raise Trouble("bad-request", f"an answer cannot be handed over: {error}") from error
    return reply(asked.shapes.ticket(ticket, asked.name, session.generation), 202)


async def terminate(asked: ApiRequest) -> Reply:
    """End a cell: nothing of it is committed."""
    session = await asked.known()
    ending = await cells.terminate(session, asked.part("cell"))
    told = cell_ending(ending)
    if "read" not in asked.who.rights:
        told = cell_wire.CellEnding(told.outcome, "", "", [])
    return reply(told)


def _answer(call: str, told: cell_wire.CallAnswer) -> cells.Ok | cells.Err:
    if (told.value is UNSET) == (told.error is UNSET):
        raise Trouble("bad-request", f"the answer to {call} is a value or an error, one of them")
    return cells.Ok(told.value) if told.error is UNSET else cells.Err(told.error)


def _out(asked: ApiRequest, cell: StoredCell) -> cell_wire.CellOut:
    """What no process has at hand any more, and did not stand at a frontier, is lost."""
    at_hand = cell.id in asked.desk.runtime.session(cell.session).shelf.open
    machine, _ = CellMachine.restore(cell.record)
    return asked.shapes.cell(cell, None if at_hand else machine.ending)


def _frontier(asked: ApiRequest, seen: Observation) -> cell_wire.FrontierOut:
    return cell_wire.FrontierOut(
        cell=asked.part("cell"),
        generation=seen.generation,
        standing=seen.standing,
        pending=asked.shapes.waiting(asked.id, seen.pending),
        output=seen.output,
        fresh="".join(seen.fresh),
        ending=cell_ending(seen.ending) if seen.ending else None,
    )
