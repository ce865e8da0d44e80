"""What happened in a session: its log, what a model is shown of it, receipts, processes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import accumulate

from starlette.types import Receive, Scope, Send

from lastword.core.entries import Entry
from lastword.core.receipt import Receipt
from lastword.core.transcript import build
from lastword.server import wire
from lastword.server.desk import Asked, Reply, reply
from lastword.server.problems import Trouble
from lastword.server.shapes import PAGE
from lastword.stores.codec import encode as encode_entry

PIECE = 64 << 10  # bytes of an export that leave in one step; one entry may be more
_LINES = [(b"content-type", b"application/jsonl"), (b"cache-control", b"no-store")]
MOST = 1_000_000_000  # a number of anything


async def _entries(asked: Asked) -> tuple[Entry, ...]:
    session = await asked.known()
    return (await session.view()).entries


async def log(asked: Asked) -> Reply:
    """Entries of the log before a number, the newest of them, oldest first."""
    every = await _entries(asked)
    before = asked.number("before", len(every) + 1, least=1, most=MOST)
    limit = asked.number("limit", 100, least=1)
    last = min(before - 1, len(every))
    earlier, page = await asyncio.to_thread(asked.shapes.newest, every, last, limit)
    messages = asked.shapes.said_before(every, earlier, last)
    return reply(wire.Log(page, earlier > 0, messages))


async def transcript(asked: Asked) -> Reply:
    """What a model would be shown."""
    items = await asyncio.to_thread(build, await _entries(asked))
    after, limit = asked.number("after", 0, most=MOST), asked.number("limit", 100, least=1)
    sizes = accumulate(len(item.text) for item in items[after : after + limit])
    fits = sum(size <= PAGE for size in sizes)
    last = after + max(fits, 1)
    page = [asked.shapes.shown(item) for item in items[after:last]]
    return reply(wire.Transcript(page, last if last < len(items) else None))


async def receipts(asked: Asked) -> Reply:
    """The receipts of the stops and takeovers, newest first."""
    found = [one for one in reversed(await _entries(asked)) if isinstance(one, Receipt)]
    after, limit = asked.number("after", 0, most=MOST), asked.number("limit", 50, least=1)
    page = [asked.shapes.receipt(one) for one in found[after : after + limit]]
    more = after + limit if after + limit < len(found) else None
    return reply(wire.Receipts(page, more))


async def export(asked: Asked, scope: Scope, receive: Receive, send: Send) -> None:
    """Everything that happened, as JSON lines, as `lastword export` writes it. It is put into
    words piece by piece, beside the loop, and no faster than it is taken."""
    del scope, receive
    with asked.desk.shares.request(asked.who.principal):
        lines = map(_line, await _entries(asked))
        await send({"type": "http.response.start", "status": 200, "headers": _LINES})
        while piece := await asyncio.to_thread(_piece, lines):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            if await asked.request.is_disconnected():
                return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _line(entry: Entry) -> bytes:
    kind, body = encode_entry(entry)
    return json.dumps({"kind": kind, **json.loads(body)}).encode() + b"\n"


def _piece(lines: Iterator[bytes]) -> bytes:
    """Some of them: what is large leaves by itself."""
    found, size = list[bytes](), 0
    for line in lines:
        found.append(line)
        size += len(line)
        if size >= PIECE:
            break
    return b"".join(found)


async def processes(asked: Asked) -> Reply:
    """The processes of a session: those that run, and the last of those that have ended."""
    session = await asked.known()
    outputs = {kept.pid: kept.output for kept in session.processes}
    told = [asked.shapes.process(one, outputs.get(one.news.pid, "")) for one in session.spans]
    return reply(wire.Processes(told))


async def end_process(asked: Asked) -> Reply:
    """End a process that was kept, with all that it started."""
    session, told = await asked.known(), asked.part("pid")
    kept = [one for one in session.processes if str(one.pid) == told]
    if not kept:
        why = "that was kept when it was started, and has not ended"
        raise Trouble("not-found", f"there is no process {told!r} in {asked.name} {why}")
    await kept[0].end()
    return await processes(asked) if "read" in asked.who.rights else reply(wire.Processes([]))
