"""What happened in a session: its log, what a model is shown of it, receipts.

To read takes a session from nobody; what is long is read and written in pieces, beside the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from functools import partial
from itertools import accumulate

from msgspec import Raw
from starlette.types import Receive, Scope, Send

from lastword.core.entries import Entry, Said
from lastword.core.model import MessageId, RunId
from lastword.core.picture import Picture
from lastword.core.transcript import build
from lastword.runtime.protocol import LogPage, Record
from lastword.runtime.session import Session
from lastword.server import wire
from lastword.server.desk import ApiRequest, Reply, made, reply
from lastword.server.drawn import Drawn
from lastword.server.limits import in_pieces
from lastword.server.shapes import PAGE, Shapes, asked_before
from lastword.stores.aside import Breathe, aside
from lastword.stores.codec import encode as encode_entry
from lastword.surfaces.records import line as exported
from lastword.surfaces.records import usage

_ENTRIES, _BYTES = 500, 1 << 20  # of an export that are read at once; one entry may be more
PIECE = 64 << 10  # bytes of an export that are made at once; one entry may be more
_LINES = [(b"content-type", b"application/jsonl"), (b"cache-control", b"no-store")]
MOST = 1_000_000_000  # a number of anything


async def log(asked: ApiRequest) -> Reply:
    """Entries of the log before a number, the newest of them, oldest first."""
    before = asked.number("before", MOST, least=1, most=MOST)
    limit = asked.number("limit", 100, least=1)
    session = await asked.readable()
    page = await session.record.page(before, limit, PAGE)
    earlier, entries, missing = await asyncio.to_thread(shown, asked.shapes, page)
    said = await session.record.said(missing)
    messages = [asked.shapes.message(one) for one in said]
    return await made(wire.Log(entries, earlier > 0, messages))


async def past(asked: ApiRequest) -> Reply:
    """What entries before a number show, the newest of them, for who draws a session."""
    before = asked.number("before", MOST, least=1, most=MOST)
    limit = asked.number("limit", 100, least=1)
    session = await asked.readable()
    page = await session.record.page(before, limit, PAGE)
    ending = session.ending
    earlier, picture = await folded(session, page, notes=f"note before {before}")
    picture.settle(ending)
    return await made(await asyncio.to_thread(Drawn(asked.shapes).past, picture, earlier))


async def folded(session: Session, page: LogPage, notes: str = "note") -> tuple[int, Picture]:
    """How many entries come before those of a page that fit; and what those show, with the words
    of the messages that were said before them."""
    earlier, entries = await asyncio.to_thread(_fitting, page)
    said = await session.record.said(asked_before(entries))
    picture = Picture(session.id, notes=notes)
    await asyncio.to_thread(picture.record, [*(Said(one, RunId("")) for one in said), *entries])
    return earlier, picture


def _fitting(page: LogPage) -> tuple[int, tuple[Entry, ...]]:
    """The newest of them: no more than is given at once, but one."""
    seen = page.entries()
    sizes = accumulate(len(encode_entry(one)[1]) for one in reversed(seen))
    over = len(seen) - max(sum(size <= PAGE for size in sizes), 1)
    return page.before + max(over, 0), seen[max(over, 0) :]


def shown(shapes: Shapes, page: LogPage) -> tuple[int, list[Raw], set[MessageId]]:
    """How many entries come before those that fit; those; and the messages that they answer and do
    not have. It takes a while."""
    seen = page.entries()
    fits = shapes.newest(seen, page.before)
    over = page.many - len(fits)
    return page.before + over, fits, asked_before(seen[over:])


async def transcript(asked: ApiRequest) -> Reply:
    """What a model would be shown."""
    session = await asked.readable()
    items = await asyncio.to_thread(build, (await session.view()).entries)
    after, limit = asked.number("after", 0, most=MOST), asked.number("limit", 100, least=1)
    sizes = accumulate(len(item.text) for item in items[after : after + limit])
    fits = sum(size <= PAGE for size in sizes)
    last = after + max(fits, 1)
    page = [asked.shapes.shown(item) for item in items[after:last]]
    return await made(wire.TranscriptOut(page, last if last < len(items) else None))


async def receipts(asked: ApiRequest) -> Reply:
    """The receipts of the stops and takeovers, newest first."""
    after, limit = asked.number("after", 0, most=MOST), asked.number("limit", 50, least=1)
    session = await asked.readable()
    found = await session.record.receipts(after, limit + 1)
    more = after + limit if len(found) > limit else None
    shapes, page, ending = asked.shapes, found[:limit], session.ending
    told = await asyncio.to_thread(
        lambda: [shapes.receipt(one, settled=one.has_settled(ending)) for one in page]
    )
    return await made(wire.Receipts(told, more))


async def used(asked: ApiRequest) -> Reply:
    """What the models of a session were asked, in tokens."""
    session = await asked.known()
    found = usage(await session.log())
    counted = found.requests, found.read, found.written
    return reply(wire.UsageOut(*counted, found.model, found.filled))


async def export(asked: ApiRequest, scope: Scope, receive: Receive, send: Send) -> None:
    """Everything that happened, as JSON lines, as `lastword export` writes it. It is put into
    words piece by piece, beside the loop, and no faster than it is taken."""
    del scope, receive
    with asked.desk.shares.request(asked.who.principal):
        session = await asked.readable()
        await send({"type": "http.response.start", "status": 200, "headers": _LINES})
        async for page in _pages(session.record):
            lines = map(_line, await asyncio.to_thread(page.entries))
            while lot := await asyncio.to_thread(aside, partial(_lot, lines)):
                for piece in in_pieces(lot, more=True):
                    await send(piece)
                if await asked.request.is_disconnected():
                    return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _pages(record: Record) -> AsyncIterator[LogPage]:
    """All that there is when this begins, from the first entry on."""
    newest = await record.page(None, 1, _BYTES)
    last, done, most = newest.before + newest.many, 0, _ENTRIES
    while done < last:
        page = await record.page(min(done + most, last) + 1, most, _BYTES)
        if page.before > done:  # they are long, and it has only the last of them
            most = max(most // 2, 1)
        elif page.many:
            yield page
            done += page.many
        else:
            return  # it was deleted meanwhile


def _line(entry: Entry) -> bytes:
    return exported(entry).encode() + b"\n"


def _lot(lines: Iterator[bytes], breathe: Breathe) -> bytes:
    """Some of them: what is large leaves by itself."""
    found, size = list[bytes](), 0
    for line in lines:
        found.append(line)
        size += len(line)
        breathe()
        if size >= PIECE:
            break
    return b"".join(found)
