"""A line in the log for each request: what was asked, by whom, and how that was answered.

Nothing of what was said is in it, nor a query or a header: somebody may have put a secret there.
"""

from __future__ import annotations

import logging
import time
from typing import cast

from starlette.types import Scope

from lastword.server.problems import Trouble
from lastword.server.who import Who

REQUESTS = "lastword.requests"  # the name of its logger
log = logging.getLogger(REQUESTS)
_LONGEST = 500  # characters of a path


def answered(scope: Scope, status: int | None, id: str, began: float) -> None:
    """A request is over; it began at that time of the monotonic clock. The id is that of the
    problem, if it was answered with one."""
    who = cast("Who | None", scope.get("lastword.who"))
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    plain = path.partition(b"?")[0].decode("ascii", "backslashreplace")
    took = 1000 * (time.monotonic() - began)
    _write(scope["method"], plain, status, took, who.principal if who else "", id)


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
