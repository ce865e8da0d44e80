"""What happened in a session: its log, what a model is shown of it, receipts, processes."""

from __future__ import annotations

import json
from itertools import accumulate

from lastword.core.entries import Entry
from lastword.core.receipt import Receipt
from lastword.core.transcript import build
from lastword.server import wire
from lastword.server.desk import Asked, Reply, reply
from lastword.server.problems import Trouble
from lastword.server.shapes import PAGE
from lastword.stores.codec import encode as encode_entry

MOST = 1_000_000_000  # a number of anything


async def _entries(asked: Asked) -> tuple[Entry, ...]:
    session = await asked.known()
    return (await session.view()).entries


async def log(asked: Asked) -> Reply:
    """Entries of the log before a number, the newest of them, oldest first."""
    every = await _entries(asked)
    before = asked.number("before", len(every) + 1, least=1, most=MOST)
    limit = asked.number("limit", 100, least=1)
    earlier, page = asked.shapes.newest(every, min(before - 1, len(every)), limit)
    return reply(wire.Log(page, earlier > 0))


async def transcript(asked: Asked) -> Reply:
    """What a model would be shown."""
    items = build(await _entries(asked))
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


async def export(asked: Asked) -> Reply:
    """Everything that happened, as JSON lines, as `lastword export` writes it."""
    lines = [
        json.dumps({"kind": kind, **json.loads(body)})
        for kind, body in map(encode_entry, await _entries(asked))
    ]
    text = "".join(f"{line}\n" for line in lines)
    return Reply(text.encode(), media="application/jsonl")


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
