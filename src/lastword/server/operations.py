"""Everything that can be asked, in one table, of which routes and the OpenAPI document are made."""

from __future__ import annotations

from lastword.runtime.jobs import MOST
from lastword.server import (
    agui,
    agui_input,
    cell_wire,
    cells,
    metrics,
    process_wire,
    processes,
    queue,
    records,
    sessions,
    wire,
)
from lastword.server.desk import ApiRequest, Reply, reply
from lastword.server.file_operations import FILES
from lastword.server.operation import Operation, Query
from lastword.server.problems import Trouble
from lastword.server.readings import LIMIT, ONE, READINGS, count
from lastword.server.watching import events, follow


async def healthz(asked: ApiRequest) -> Reply:
    """Check that the process answers."""
    del asked
    return reply(wire.Health("ok"))


async def readyz(asked: ApiRequest) -> Reply:
    """Check that messages are accepted: the store can be read, and takes what is written."""
    if asked.desk.closing or asked.desk.leaving:
        raise Trouble("closing", "no new messages are taken")
    await asked.desk.runtime.recent("", 1)
    if trouble := asked.desk.runtime.store_trouble:
        raise Trouble("undurable", trouble.told(lambda _: "the store")) from trouble
    return reply(wire.Health("ok"))


_EVENTS_AFTER = Query("after", "The same as Last-Event-ID.", {"type": "string"})
_QUEUE = f"{ONE}/queue"
_CELL = f"{ONE}/cells/{{cell}}"
_PROCESS = f"{ONE}/processes/{{process}}"

OPERATIONS: tuple[Operation, ...] = (
    Operation("GET", "/healthz", healthz, None, "Check that it answers.", wire.Health, open=True),
    Operation(
        "GET",
        "/readyz",
        readyz,
        None,
        "Check that messages are accepted.",
        wire.Health,
        problems=("closing", "undurable"),
        open=True,
    ),
    Operation(
        "GET", "/metrics", metrics.metrics, "admin", "Metrics, for Prometheus.", "text/plain"
    ),
    Operation("GET", "/v1/me", sessions.me, None, "Show who is asking.", wire.Me),
    Operation(
        "POST",
        "/v1/links",
        sessions.link,
        "admin",
        "Make a link that opens the page, once.",
        wire.SignInLink,
        status=201,
    ),
    Operation(
        "POST",
        "/v1/keys",
        sessions.key,
        None,
        "Exchange the code of a link for a key. The page does this.",
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
        "List the sessions, newest first.",
        wire.SessionsOut,
        query=(
            LIMIT,
            Query("before", "`next` of the page before.", {"type": "string"}),
            Query("words", "Those whose title has these in it.", {"type": "string"}),
            Query("pinned", "Those that are pinned, or are not.", {"enum": ["true", "false"]}),
        ),
    ),
    Operation(
        "GET",
        ONE,
        sessions.one,
        "read",
        "Show one session and its state.",
        wire.SessionOut,
        problems=("unknown-session",),
    ),
    Operation(
        "PATCH",
        ONE,
        sessions.change,
        "send",
        "Rename or pin a session, for who lists it.",
        wire.SessionOut,
        takes=wire.SessionChange,
        problems=("unknown-session",),
    ),
    Operation(
        "DELETE",
        ONE,
        sessions.delete,
        "admin",
        "Stop a session and delete it.",
        wire.Stopped,
        problems=("unknown-session", "owned-elsewhere"),
        live=True,
    ),
    Operation(
        "POST",
        f"{ONE}/messages",
        sessions.send,
        "send",
        "Send a message. The answer is a ticket, once the message is durable. With `heed_stop`, "
        "words that mean stop are a stop, and the answer is the receipt.",
        wire.TicketOut,
        status=202,
        takes=wire.MessageIn,
        may_stop=sessions.is_stop,
        problems=("busy", "queue-full", "too-many", "undurable", "owned-elsewhere", "closing"),
        live=True,
        named=True,
    ),
    Operation(
        "POST",
        f"{ONE}/again",
        sessions.again,
        "send",
        "Ask the last turn anew, in other words or in the same: the model is not shown that turn "
        "from then on. This also needs the right to stop.",
        wire.TicketOut,
        status=202,
        takes=wire.AgainIn,
        problems=(
            "stale-turn",
            "not-allowed",
            "unknown-session",
            "undurable",
            "owned-elsewhere",
            "closing",
        ),
        live=True,
        named=True,
    ),
    Operation(
        "POST",
        f"{ONE}/stop",
        sessions.stop,
        "stop",
        "Stop everything that was accepted, or one run. The answer is the receipt.",
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
        live=True,
    ),
    Operation(
        "GET",
        f"{ONE}/events",
        events,
        "read",
        "Follow a session, as server-sent events: first a snapshot, then changes. With a "
        "Last-Event-ID that the server knows, exactly what came after it.",
        "text/event-stream",
        query=(_EVENTS_AFTER,),
        problems=("too-many", "unknown-session"),
        sends=True,
        live=True,
    ),
    Operation(
        "POST",
        f"{ONE}/events",
        follow,
        "read",
        "Follow a session in the same way; with `on_disconnect=stop`, leaving stops it.",
        "text/event-stream",
        query=(
            _EVENTS_AFTER,
            Query(
                "on_disconnect",
                "`stop`: the session is stopped when the last such client leaves.",
                {"enum": ["continue", "stop"]},
            ),
        ),
        problems=("too-many", "unknown-session"),
        sends=True,
        live=True,
    ),
    *READINGS,
    Operation(
        "GET",
        f"{ONE}/processes",
        processes.listed,
        "read",
        "List the processes that the runs of a session have started.",
        process_wire.ProcessesOut,
        problems=("unknown-session",),
        live=True,
    ),
    Operation(
        "GET",
        f"{_PROCESS}/output",
        processes.output,
        "read",
        "Read the output of a process that has an id, from an offset on.",
        process_wire.OutputOut,
        query=(
            Query("offset", "Leave out so many bytes.", count(most=records.MOST)),
            Query("limit", "At most so many.", count(1, MOST)),
        ),
        problems=("unknown-session", "not-found"),
        live=True,
    ),
    Operation(
        "POST",
        f"{_PROCESS}/input",
        processes.write,
        "approve",
        "Write to a process that has an id. This also needs the right to stop its run.",
        process_wire.Given,
        takes=process_wire.InputIn,
        problems=("unknown-session", "not-found", "not-allowed", "not-running"),
        live=True,
    ),
    Operation(
        "POST",
        f"{_PROCESS}/signal",
        processes.signal,
        "approve",
        "Send a signal to a process that has an id. This also needs the right to stop its run.",
        process_wire.Given,
        takes=process_wire.SignalIn,
        problems=("unknown-session", "not-found", "not-allowed", "not-running"),
        live=True,
    ),
    Operation(
        "DELETE",
        _PROCESS,
        processes.end,
        "stop",
        "End a process that has an id, with everything it started.",
        process_wire.ProcessesOut,
        problems=("unknown-session", "not-found", "not-allowed"),
        live=True,
    ),
    *FILES,
    Operation(
        "GET", _QUEUE, queue.listed, "read", "List waiting messages.", wire.QueueOut, live=True
    ),
    Operation(
        "PATCH",
        f"{_QUEUE}/{{message}}",
        queue.change,
        "send",
        "Change the text or the place of a message that waits.",
        wire.QueueOut,
        takes=wire.QueueChange,
        problems=("not-waiting", "not-allowed", "unknown-session"),
        live=True,
    ),
    Operation(
        "DELETE",
        f"{_QUEUE}/{{message}}",
        queue.remove,
        "send",
        "Remove a message that waits.",
        wire.QueueOut,
        problems=("not-waiting", "not-allowed", "unknown-session"),
        live=True,
    ),
    Operation(
        "POST",
        f"{_QUEUE}/resume",
        queue.resume,
        "send",
        "Let the messages go on that a stop left waiting.",
        wire.QueueOut,
        live=True,
    ),
    Operation(
        "POST",
        f"{ONE}/permissions/{{question}}",
        queue.answer,
        "approve",
        "Answer a question of a run. The first answer counts.",
        wire.Empty,
        takes=wire.AnswerIn,
        problems=("unknown-question", "answered", "answer-late", "stale-answer"),
        live=True,
    ),
    Operation(
        "POST",
        "/v1/agui",
        agui.run,
        "send",
        "Run an AG-UI 1.0 thread, which is a session: send what is new, answer an interrupt, or "
        "join the active run. The answer is a stream of AG-UI events. This also needs the right "
        "to read.",
        "text/event-stream",
        takes=agui_input.RunAgentInput,
        query=(agui.LEAVING,),
        problems=("busy", "queue-full", "too-many", "undurable", "owned-elsewhere", "closing"),
        sends=True,
        live=True,
        find=agui.about,
    ),
    Operation(
        "GET", "/v1/cells", cells.paused, "read", "List all cells that wait.", cell_wire.Cells
    ),
    Operation(
        "GET",
        f"{ONE}/cells",
        cells.listed,
        "read",
        "List the cells of a session.",
        cell_wire.Cells,
        problems=("unknown-session",),
    ),
    Operation(
        "GET",
        f"{_CELL}/frontier",
        cells.frontier,
        "read",
        "Show the frontier of a cell, and the calls it waits on.",
        cell_wire.FrontierOut,
        problems=("unknown-session", "unknown-cell", "observer-busy", "cell-gone"),
        sends=True,
        live=True,
    ),
    Operation(
        "POST",
        f"{_CELL}/resume",
        cells.resume,
        "approve",
        "Answer calls that a cell waits on. This is a message of the session: it waits for its "
        "turn.",
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
        live=True,
    ),
    Operation(
        "DELETE",
        _CELL,
        cells.terminate,
        "stop",
        "End a cell.",
        cell_wire.CellEnding,
        problems=("unknown-session", "unknown-cell", "cell-gone"),
        live=True,
    ),
)
