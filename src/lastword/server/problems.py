"""What goes wrong, as RFC 9457 has it: a type that programs know, words for people, and an id that
is in the log as well."""

from __future__ import annotations

import logging
import secrets
import traceback
from collections.abc import Mapping
from http import HTTPStatus

import msgspec
from starlette.types import Send

from lastword.agent.permission import (
    AlreadyAnswered,
    QuestionWithdrawn,
    StaleAnswer,
    UnknownQuestion,
)
from lastword.errors import (
    AlreadyRunning,
    Busy,
    CellGone,
    FutureGeneration,
    LastwordError,
    NoSuchJob,
    NotAllowed,
    NotPausable,
    NotWaiting,
    ObserverBusy,
    OwnedElsewhere,
    QueueFull,
    RuntimeClosed,
    StaleGeneration,
    StaleRun,
    StaleTurn,
    StoreError,
    Undurable,
    UnknownCell,
    UnknownSession,
    UnreadableDump,
    WrongCalls,
)
from lastword.server.who import known_as
from lastword.server.wire import Problem

log = logging.getLogger("lastword")

ID = b"x-request-id"
TYPE = "urn:lastword:problem:"
TITLES: dict[str, tuple[int, str]] = {
    "bad-request": (400, "This cannot be understood"),
    "unauthorized": (401, "No token that is known here"),
    "forbidden": (403, "This key has no right to that"),
    "not-allowed": (403, "This is not yours to stop"),
    "wrong-host": (403, "This server is not known by that name"),
    "wrong-origin": (403, "Another site may not ask this"),
    "not-found": (404, "There is nothing here"),
    "unknown-session": (404, "There is no such session"),
    "unknown-question": (404, "There is no such question"),
    "used-link": (410, "This link has been used, or has run out"),
    "method-not-allowed": (405, "This cannot be done here"),
    "busy": (409, "The session is busy"),
    "stale-run": (409, "That run is neither active nor waiting"),
    "stale-turn": (409, "This is not the last turn any more"),
    "nothing-to-undo": (409, "There is nothing to take back, or not now"),
    "not-waiting": (409, "The message is not waiting any more"),
    "answered": (409, "The question has been answered"),
    "answer-late": (409, "The question was withdrawn"),
    "stale-answer": (409, "The answer is to another question"),
    "owned-elsewhere": (409, "Another process has the session"),
    "not-mine": (421, "This server does not have the session"),
    "already-running": (409, "The cell is being resumed from that frontier"),
    "stale-generation": (409, "The cell has left that frontier"),
    "future-generation": (409, "The cell has not reached that frontier"),
    "wrong-calls": (409, "The cell does not wait on these calls"),
    "not-pausable": (409, "Nobody else may answer the calls of this cell"),
    "observer-busy": (409, "Somebody else is being shown this cell"),
    "cell-gone": (409, "The cell has ended"),
    "not-running": (409, "The process has ended, or reads nothing"),
    "unknown-cell": (404, "There is no such cell"),
    "too-large": (413, "This is too large"),
    "unsupported-media-type": (415, "Only JSON is understood"),
    "head-too-large": (431, "The head of this is too large"),
    "queue-full": (429, "The queue is full"),
    "too-many": (429, "There are too many already"),
    "internal": (500, "Something went wrong here"),
    "owner-silent": (503, "The server that has the session does not answer"),
    "closing": (503, "The server is being shut down"),
    "undurable": (503, "The store does not answer"),
    "too-slow": (408, "This took too long to arrive"),
}
_OF: dict[type[LastwordError], str] = {  # the first that fits
    Busy: "busy",
    QueueFull: "queue-full",
    RuntimeClosed: "closing",
    Undurable: "undurable",
    StaleRun: "stale-run",
    StaleTurn: "stale-turn",
    NotAllowed: "not-allowed",
    NotWaiting: "not-waiting",
    UnknownSession: "unknown-session",
    OwnedElsewhere: "owned-elsewhere",
    StoreError: "undurable",
    UnknownQuestion: "unknown-question",
    AlreadyAnswered: "answered",
    QuestionWithdrawn: "answer-late",
    StaleAnswer: "stale-answer",
    AlreadyRunning: "already-running",
    StaleGeneration: "stale-generation",
    FutureGeneration: "future-generation",
    WrongCalls: "wrong-calls",
    NotPausable: "not-pausable",
    ObserverBusy: "observer-busy",
    UnreadableDump: "cell-gone",
    CellGone: "cell-gone",
    UnknownCell: "unknown-cell",
    NoSuchJob: "not-found",
}


class Trouble(Exception):
    """A request that is answered with a problem."""

    def __init__(
        self,
        slug: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.slug = slug
        self.status, self.title = TITLES[slug]
        self.detail = detail
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})
        self.id = secrets.token_hex(8)
        if self.status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
            self.headers.setdefault("retry-after", "1")

    @property
    def body(self) -> bytes:
        told = Problem(TYPE + self.slug, self.title, self.status, self.detail, self.id)
        return msgspec.json.encode({**msgspec.structs.asdict(told), **self.extra})


def trouble_of(error: LastwordError, space: str = "") -> Trouble:
    """What a caller is told of an error: by the names that it knows, and nothing of the machine."""
    slug = next((slug for kind, slug in _OF.items() if isinstance(error, kind)), "internal")
    if slug == "undurable":
        return Trouble(slug, "the store could not do this; nothing was lost, try again")
    if isinstance(error, OwnedElsewhere):
        return _owned(error)
    if slug == "internal":
        return mistake(error)
    active = error.active if isinstance(error, StaleRun) else None
    extra = {"active": active and known_as(active, space)} if slug == "stale-run" else {}
    if isinstance(error, StaleGeneration | FutureGeneration):
        extra = {"current": error.current}
    return Trouble(slug, error.told(lambda id_: known_as(id_, space)), extra=extra)


def _owned(error: OwnedElsewhere) -> Trouble:
    remedy = "it can be asked there, or here when that process has ended"
    if not error.process:
        return Trouble("owned-elsewhere", remedy)
    whose = {"process": error.process, "host": error.host, "since": error.since}
    told = f"process {error.process} on {error.host} has the session; {remedy}"
    return Trouble("owned-elsewhere", told, extra={"owner": whose})


def mistake(error: Exception) -> Trouble:
    """What a caller is told of a mistake of ours. The log has where it was made, and no more: the
    words of an error may quote what somebody said."""
    trouble = Trouble("internal", "this is a mistake of the server's; its log has the id")
    kind, where = type(error).__name__, "".join(traceback.format_tb(error.__traceback__)).rstrip()
    told = {"id": trouble.id, "error": kind}
    log.error("trouble id=%s error=%s at\n%s", trouble.id, kind, where, extra={"fields": told})
    return trouble


async def refuse(trouble: Trouble, send: Send) -> None:
    """Answer with a problem."""
    body = trouble.body
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (ID, trouble.id.encode()),
        *((name.encode(), value.encode()) for name, value in trouble.headers.items()),
    ]
    await send({"type": "http.response.start", "status": trouble.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
