"""The log of a server: how much of it, and in which form, on standard error.

A thread writes it, because whoever reads it may stop reading: nobody waits for that, and what does
not fit meanwhile is left out.
"""

from __future__ import annotations

import argparse
import json
import logging
import queue
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

LEVELS = ("debug", "info", "warning", "error")
_LINES = 10_000  # that wait to be written
_A_MOMENT = 1.0  # seconds that the last of them have


def options(parser: argparse.ArgumentParser) -> None:
    """What can be said of it."""
    of_the_log = parser.add_argument_group("the log")
    of_the_log.add_argument(
        "--log-level",
        choices=LEVELS,
        default="warning",
        help="what is written to standard error (warning); info has a line for each request",
    )
    of_the_log.add_argument(
        "--log-format", choices=("text", "json"), default="text", help="how it is written (text)"
    )


@contextmanager
def written(level: str, form: str) -> Generator[None]:
    """Write what lastword logs, meanwhile; and what anything else warns of, which would be written
    by whoever says it, on the event loop too."""
    handler, root, logger = _Beside(), logging.getLogger(), logging.getLogger("lastword")
    handler.setFormatter(_Json() if form == "json" else logging.Formatter(_TEXT))
    handler.setLevel(level.upper())
    before = logger.level
    root.addHandler(handler)
    logger.setLevel(level.upper())
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        logger.setLevel(before)
        root.removeHandler(handler)
        handler.flush()
        handler.close()


_TEXT = "%(asctime)s %(levelname)s %(name)s %(message)s"


class _Json(logging.Formatter):
    """One object in one line."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = getattr(record, "fields", {})
        told = {
            "at": record.created,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **fields,
        }
        if record.exc_info:
            told["trace"] = self.formatException(record.exc_info)
        return json.dumps(told)


class _Beside(logging.Handler):
    """Has a thread write."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: queue.Queue[str | threading.Event | None] = queue.Queue(_LINES)
        threading.Thread(target=self._write, name="lastword log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(queue.Full):
            self._waiting.put_nowait(self.format(record))

    def flush(self) -> None:
        """All that was logged so far is written, or nobody takes it."""
        written = threading.Event()
        with suppress(queue.Full):
            self._waiting.put_nowait(written)
            written.wait(_A_MOMENT)

    def close(self) -> None:
        """Nothing more is logged."""
        with suppress(queue.Full):
            self._waiting.put_nowait(None)
        super().close()

    def _write(self) -> None:
        while (one := self._waiting.get()) is not None:
            if isinstance(one, threading.Event):
                one.set()
                continue
            with suppress(OSError, ValueError):  # nobody reads it any more
                print(one, file=sys.stderr, flush=True)
