"""Everything that can be asked, in one table, of which routes and the OpenAPI document are made."""

from __future__ import annotations

from typing import Any

from lastword.runtime.jobs import MOST
from lastword.server import (
    agui,
    agui_input,
    cell_wire,
    cells,
    change_wire,
    metrics,
    process_wire,
    processes,
    queue,
    records,
    sessions,
    wire,
)
from lastword.server.desk import ApiRequest, Reply, reply
from lastword.server.operation import Operation, Query
from lastword.server.problems import Trouble
from lastword.server.watching import events, follow


async def healthz(asked: ApiRequest) -> Reply:
    """Whether the process answers."""
    del asked
    return reply(wire.Health("ok"))


async def readyz(asked: ApiRequest) -> Reply:
    """Whether messages are taken."""
    if asked.desk.closing:
        raise Trouble("closing", "no new messages are taken")
    await asked.desk.runtime.recent("", 1)  # the store answers
    return reply(wire.Health("ok"))


def _count(least: int = 0, most: int = 1000) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most}


_LIMIT = Query("limit", "How many at most.", _count(1))
_AFTER = Query("after", "How many to leave out.", _count(most=records.MOST))
_EVENTS_AFTER = Query("after", "The same as Last-Event-ID.", {"type": "string"})
_BELOW = Query(
    "below",
    "Of an agent that worked for it: what its session's id has after the first `#`, as in `1/1`.",
    {"type": "string"},
)
_ONE = "/v1/sessions/{session}"
_QUEUE = f"{_ONE}/queue"
_CELL = f"{_ONE}/cells/{{cell}}"
_PROCESS = f"{_ONE}/processes/{{process}}"

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "GET", "/healthz", healthz, None, "Whether the process answers.", wire.Health, open=True
    ),
    Operation(
        "GET",
        "/readyz",
        readyz,
        None,
        "Whether messages are taken.",
        wire.Health,
        problems=("closing", "undurable"),
        open=True,
    ),
    Operation("GET", "/metrics", metrics.metrics, "admin", "Counts, for Prometheus.", "text/plain"),
    Operation("GET", "/v1/me", sessions.me, None, "Who asks, and whom.", wire.Me),
    Operation(
        "POST",
        "/v1/links",
        sessions.link,
        "admin",
        "A new one-time link to the page.",
        wire.SignInLink,
        status=201,
    ),
    Operation(
        "POST",
        "/v1/keys",
        sessions.key,
        None,
        "The key of a link, for the page.",
        wire.KeyOut,
        status=201,
        takes=wire.KeyIn,
        problems=("used-link",),
        open=True,
    ),
    Operation(
        "GET",
        "/v1/sessions",
        sessions.listed,
        "read",
        "The sessions, newest first.",
        wire.SessionsOut,
        query=(_LIMIT, Query("before", "`next` of the page before.", {"type": "string"})),
    ),
    Operation(
        "GET",
        _ONE,
        sessions.one,
        "read",
        "One session, and how it stands.",
        wire.SessionOut,
        problems=("unknown-session",),
    ),
    Operation(
        "DELETE",
        _ONE,
        sessions.delete,
        "admin",
        "Stop a session, and forget it.",
        wire.Stopped,
        problems=("unknown-session", "owned-elsewhere"),
    ),
    Operation(
        "POST",
        f"{_ONE}/messages",
        sessions.send,
        "send",
        "Send a message: the ticket, once it is durable; or, for words that are heeded as a stop, "
        "the receipt.",
        wire.TicketOut,
        status=202,
        takes=wire.MessageIn,
        may_stop=sessions.is_stop,
        problems=("busy", "queue-full", "too-many", "undurable", "owned-elsewhere", "closing"),
    ),
    Operation(
        "POST",
        f"{_ONE}/stop",
        sessions.stop,
        "stop",
        "Stop everything that was accepted, or one run: the receipt.",
        wire.Stopped,
        takes=wire.StopIn,
        needs_body=False,
        query=(
            Query(
                "wait",
                "`quiet`: until all has ended, or the deadline. `fence`: until the stop is stored.",
                {"enum": ["quiet", "fence"]},
            ),
        ),
        problems=("stale-run", "not-allowed", "unknown-session"),
    ),
    Operation(
        "GET",
        f"{_ONE}/events",
        events,
        "read",
        "What happens, as server-sent events: a snapshot first, or, with a Last-Event-ID that is "
        "known, exactly what came after it.",
        "text/event-stream",
        query=(_EVENTS_AFTER,),
        problems=("too-many", "unknown-session"),
        sends=True,
    ),
    Operation(
        "POST",
        f"{_ONE}/events",
        follow,
        "read",
        "The same, for who may also want the session to be stopped when they leave.",
        "text/event-stream",
        query=(
            _EVENTS_AFTER,
            Query(
                "on_disconnect",
                "`stop`: the session is stopped when the last such watcher leaves.",
                {"enum": ["continue", "stop"]},
            ),
        ),
        problems=("too-many", "unknown-session"),
        sends=True,
    ),
    Operation(
        "GET",
        f"{_ONE}/log",
        records.log,
        "read",
        "What happened, oldest first.",
        wire.Log,
        query=(
            _LIMIT,
            Query("before", "Entries before this one.", _count(1, records.MOST)),
            _BELOW,
        ),
        problems=("unknown-session",),
    ),
    Operation(
        "GET",
        f"{_ONE}/past",
        records.past,
        "read",
        "What entries of the log show, as a snapshot shows the newest.",
        change_wire.PastOut,
        query=(
            _LIMIT,
            Query("before", "Entries before this one.", _count(1, records.MOST)),
            _BELOW,
        ),
        problems=("unknown-session",),
    ),
    Operation(
        "GET",
        f"{_ONE}/transcript",
        records.transcript,
        "read",
        "What a model would be shown.",
        wire.TranscriptOut,
        query=(_LIMIT, _AFTER, _BELOW),
        problems=("unknown-session",),
    ),
    Operation(
        "GET",
        f"{_ONE}/receipts",
        records.receipts,
        "read",
        "The receipts of stops and takeovers, newest first.",
        wire.Receipts,
        query=(_LIMIT, _AFTER, _BELOW),
        problems=("unknown-session",),
    ),
    Operation(
        "GET",
        f"{_ONE}/export",
        records.export,
        "read",
        "Everything that happened, as JSON lines.",
        "application/jsonl",
        query=(_BELOW,),
        problems=("unknown-session", "too-many"),
        sends=True,
    ),
    Operation(
        "GET",
        f"{_ONE}/processes",
        processes.listed,
        "read",
        "The processes that its runs have started.",
        process_wire.ProcessesOut,
        problems=("unknown-session",),
    ),
    Operation(
        "GET",
        f"{_PROCESS}/output",
        processes.output,
        "read",
        "What goes on under an id wrote, from an offset on.",
        process_wire.OutputOut,
        query=(
            Query("offset", "Bytes to leave out.", _count(most=records.MOST)),
            Query("limit", "How many at most.", _count(1, MOST)),
        ),
        problems=("unknown-session", "not-found"),
    ),
    Operation(
        "POST",
        f"{_PROCESS}/input",
        processes.write,
        "approve",
        "Write to what goes on under an id. It takes the right to stop its run, too.",
        process_wire.Given,
        takes=process_wire.InputIn,
        problems=("unknown-session", "not-found", "not-allowed", "not-running"),
    ),
    Operation(
        "POST",
        f"{_PROCESS}/signal",
        processes.signal,
        "approve",
        "Send a signal to what goes on under an id. It takes the right to stop its run, too.",
        process_wire.Given,
        takes=process_wire.SignalIn,
        problems=("unknown-session", "not-found", "not-allowed", "not-running"),
    ),
    Operation(
        "DELETE",
        _PROCESS,
        processes.end,
        "stop",
        "End what goes on under an id, with all that it started.",
        process_wire.ProcessesOut,
        problems=("unknown-session", "not-found", "not-allowed"),
    ),
    Operation("GET", _QUEUE, queue.listed, "read", "The messages that wait.", wire.QueueOut),
    Operation(
        "PATCH",
        f"{_QUEUE}/{{message}}",
        queue.change,
        "send",
        "Give a message that waits another text, or another place.",
        wire.QueueOut,
        takes=wire.QueueChange,
        problems=("not-waiting", "not-allowed", "unknown-session"),
    ),
    Operation(
        "DELETE",
        f"{_QUEUE}/{{message}}",
        queue.remove,
        "send",
        "Take a message that waits out of the queue.",
        wire.QueueOut,
        problems=("not-waiting", "not-allowed", "unknown-session"),
    ),
    Operation(
        "POST",
        f"{_QUEUE}/resume",
        queue.resume,
        "send",
        "Let what a stop left waiting go on.",
        wire.QueueOut,
    ),
    Operation(
        "POST",
        f"{_ONE}/permissions/{{question}}",
        queue.answer,
        "approve",
        "Answer a question of a run's. The first answer holds.",
        wire.Empty,
        takes=wire.AnswerIn,
        problems=("unknown-question", "answered", "answer-late", "stale-answer"),
    ),
    Operation(
        "POST",
        "/v1/agui",
        agui.run,
        "send",
        "A thread is a session: send what is new in it, answer what interrupted it, or join what "
        "goes on; what comes of it, as events of AG-UI 1.0. It takes the right to read, too.",
        "text/event-stream",
        takes=agui_input.RunAgentInput,
        query=(agui.LEAVING,),
        problems=("busy", "queue-full", "too-many", "undurable", "owned-elsewhere", "closing"),
        sends=True,
    ),
    Operation(
        "GET", "/v1/cells", cells.paused, "read", "Cells that wait, everywhere.", cell_wire.Cells
    ),
    Operation(
        "GET",
        f"{_ONE}/cells",
        cells.listed,
        "read",
        "The cells of a session.",
        cell_wire.Cells,
        problems=("unknown-session",),
    ),
    Operation(
        "GET",
        f"{_CELL}/frontier",
        cells.frontier,
        "read",
        "Where a cell stands, and what it waits on.",
        cell_wire.FrontierOut,
        problems=("unknown-session", "unknown-cell", "observer-busy", "cell-gone"),
        sends=True,
    ),
    Operation(
        "POST",
        f"{_CELL}/resume",
        cells.resume,
        "approve",
        "Answer calls that a cell waits on: a message of the session, which waits for its turn.",
        wire.TicketOut,
        status=202,
        takes=cell_wire.ResumeIn,
        problems=(
            "unknown-session",
            "unknown-cell",
            "already-running",
            "stale-generation",
            "future-generation",
            "wrong-calls",
            "not-pausable",
            "cell-gone",
        ),
    ),
    Operation(
        "DELETE",
        _CELL,
        cells.terminate,
        "stop",
        "End a cell.",
        cell_wire.CellEnding,
        problems=("unknown-session", "unknown-cell", "cell-gone"),
    ),
)
