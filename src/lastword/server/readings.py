"""What can be read of one session: it takes nothing, and whoever has the session may be asked."""

from __future__ import annotations

from typing import Any

from lastword.server import change_wire, records, wire
from lastword.server.operation import Operation, Query

ONE = "/v1/sessions/{session}"


def count(least: int = 0, most: int = 1000) -> dict[str, Any]:
    """A number in the query."""
    return {"type": "integer", "minimum": least, "maximum": most}


LIMIT = Query("limit", "At most so many.", count(1))
_AFTER = Query("after", "Leave out so many.", count(most=records.MOST))
_BELOW = Query(
    "below",
    "Read the session of a child run instead, at any depth: its id, as in `s#1/1`.",
    {"type": "string"},
)

READINGS: tuple[Operation, ...] = (
    Operation(
        "GET",
        f"{ONE}/log",
        records.log,
        "read",
        "Read the log, oldest entry first.",
        wire.Log,
        query=(
            LIMIT,
            Query("before", "Entries before this one.", count(1, records.MOST)),
            _BELOW,
        ),
        problems=("unknown-session",),
    ),
    Operation(
        "GET",
        f"{ONE}/past",
        records.past,
        "read",
        "Read older items, in the form in which a snapshot shows the newest.",
        change_wire.PastOut,
        query=(
            LIMIT,
            Query("before", "Entries before this one.", count(1, records.MOST)),
            _BELOW,
        ),
        problems=("unknown-session",),
    ),
    Operation(
        "GET",
        f"{ONE}/transcript",
        records.transcript,
        "read",
        "Read what a model would be shown.",
        wire.TranscriptOut,
        query=(LIMIT, _AFTER, _BELOW),
        problems=("unknown-session",),
    ),
    Operation(
        "GET",
        f"{ONE}/receipts",
        records.receipts,
        "read",
        "List the receipts of stops and takeovers, newest first.",
        wire.Receipts,
        query=(LIMIT, _AFTER, _BELOW),
        problems=("unknown-session",),
    ),
    Operation(
        "GET",
        f"{ONE}/export",
        records.export,
        "read",
        "Export the whole log, as JSON lines.",
        "application/jsonl",
        query=(_BELOW,),
        problems=("unknown-session", "too-many"),
        sends=True,
    ),
    Operation(
        "GET",
        f"{ONE}/usage",
        records.used,
        "read",
        "Show what the models of a session were asked, in tokens.",
        wire.UsageOut,
        problems=("unknown-session",),
    ),
)
