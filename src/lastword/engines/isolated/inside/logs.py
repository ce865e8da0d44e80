"""What is logged in a run's process, by the host's log; its warnings of Python's, too."""

from __future__ import annotations

import logging

from lastword.engines.isolated.inside.post import Post

_LONGEST = 10_000  # letters of a line


class HostLog(logging.Handler):
    """Records on their way to the host."""

    def __init__(self, post: Post) -> None:
        super().__init__()
        self._post = post

    def take_over(self) -> None:
        """Be the one to whom everything is told."""
        logging.captureWarnings(capture=True)
        logging.root.handlers[:] = [self]
        logging.root.setLevel(logging.INFO)

    def emit(self, record: logging.LogRecord) -> None:
        """Tell one."""
        try:
            text = self.format(record)
        except Exception:  # noqa: BLE001 - whatever somebody logs must not end the run
            self.handleError(record)
            return
        self._post.tell("log", record.name, record.levelno, text[:_LONGEST])
