"""What a person has of a session to keep, and what it has used: read, and never changed.

It is what happened as it was seen, whoever has the session. What is used is what models said it
was; nobody tells lastword what a token costs, so nothing is said in money.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path

from lastword.core.entries import Entry, Used
from lastword.core.value import value
from lastword.runtime.session import Session
from lastword.stores.codec import encode


def line(entry: Entry) -> str:
    """An entry of an export. It is ASCII, which no terminal can spoil."""
    kind, body = encode(entry)
    return json.dumps({"kind": kind, **json.loads(body)})


async def export(session: Session, name: str) -> str:
    """Write all that happened to a file, as JSON lines. What is there already stays."""
    if not name:
        raise ValueError("say to which file: /export FILE")
    entries = await session.log()
    path = await asyncio.to_thread(_write, Path(name), entries)
    return f"All that happened is in {path}, as JSON lines: {len(entries):,} of them."


def _write(path: Path, entries: Iterable[Entry]) -> Path:
    path = path.expanduser().absolute()
    try:
        with path.open("x", encoding="ascii") as file:
            file.writelines(f"{line(entry)}\n" for entry in entries)
    except OSError as error:
        raise ValueError(f"{path} was not written: {error.strerror or error}") from error
    return path


@value
class Usage:
    """What the models of a session were asked, in tokens, as they counted."""

    requests: int = 0
    read: int = 0
    written: int = 0
    model: str = ""  # that answered last
    filled: int = 0  # of its window: what that answer read and wrote


def in_words(used: Usage) -> str:
    """What was used, for who asks where they type."""
    if not used.requests:
        return "No model was asked here yet, or it did not count."
    asked = "1 request" if used.requests == 1 else f"{used.requests:,} requests"
    return (
        f"{asked}, {used.read:,} tokens read and {used.written:,} written, as the models counted. "
        f"The last, of {used.model}, had {used.filled:,} in its window."
    )


def usage(entries: Iterable[Entry]) -> Usage:
    """That of a session's log."""
    found = [entry for entry in entries if isinstance(entry, Used)]
    if not found:
        return Usage()
    last = found[-1]
    return Usage(
        len(found),
        sum(one.input_tokens for one in found),
        sum(one.output_tokens for one in found),
        last.model,
        last.input_tokens + last.output_tokens,
    )
