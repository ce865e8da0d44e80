"""A line in the log for each request: what was asked, by whom, and how that was answered.

Nothing of what was said is in it, nor a query or a header: somebody may have put a secret there.
"""

from __future__ import annotations

import logging
import secrets
import time
from typing import cast

from starlette.types import Scope

from lastword.server.problems import Trouble
from lastword.server.who import Who

REQUESTS = "lastword.requests"  # the name of its logger
ID = b"x-request-id"
log = logging.getLogger(REQUESTS)
_LONGEST = 500  # characters of a path


class RequestLine:
    """Of one request, from its beginning to its end."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._began = time.monotonic()
        self._status: int | None = None
        self._id = ""

    def answered(
        self, status: int, headers: list[tuple[bytes, bytes]]
    ) -> list[tuple[bytes, bytes]]:
        """It has been answered with these; they are given back with its id, which is that of the
        problem, if it is one."""
        told = next((value.decode() for name, value in headers if name == ID), "")
        self._status, self._id = status, told or secrets.token_hex(8)
        return headers if told else [*headers, (ID, self._id.encode())]

    def write(self) -> None:
        """It is over."""
        if not log.isEnabledFor(logging.INFO):
            return
        who = cast("Who | None", self._scope.get("lastword.who"))
        path: bytes = self._scope.get("raw_path") or self._scope["path"].encode()
        plain = path.partition(b"?")[0].decode("ascii", "backslashreplace")
        took = 1000 * (time.monotonic() - self._began)
        principal = who.principal if who else ""
        _write(self._scope["method"], plain, self._status, took, principal, self._id)


def turned_away(trouble: Trouble) -> None:
    """Something that was not understood so far that it could be said what was asked."""
    _write("", "", trouble.status, 0.0, "", trouble.id)


def _write(
    method: str, path: str, status: int | None, took: float, principal: str, id: str
) -> None:
    told = {
        "method": method,
        "path": path[:_LONGEST],
        "status": status,
        "ms": round(took, 1),
        "principal": principal,
        "id": id,
    }
    words = " ".join(f"{name}={_plain(value)}" for name, value in told.items())
    log.info("request %s", words, extra={"fields": told})


def _plain(value: object) -> str:
    """So that nobody's words look like another line, or another field."""
    said = "-" if value is None or value == "" else str(value)
    return said if said.isascii() and said.isprintable() and " " not in said else ascii(said)
