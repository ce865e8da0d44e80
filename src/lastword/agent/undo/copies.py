"""Copies of what files held, each once, in a folder that only the person can read: the one home.

A copy is known by its SHA-256, and is whole or not there. What no journal speaks of any more is
deleted, an hour after it was last wanted at the earliest.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from lastword.agent.trust import of_the_person


def undo_home(environment: Mapping[str, str] = os.environ) -> Path:
    """Where it is all kept."""
    return of_the_person("XDG_STATE_HOME", ".local/state", environment) / "undo"


class Copies:
    """Those of one home."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "copies"
        self.written = 0  # bytes, since it was made

    def keep(self, data: bytes) -> str:
        """Its mark; the copy is there when this returns."""
        mark = hashlib.sha256(data).hexdigest()
        path = self._path(mark)
        try:
            os.utime(path)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            beside = path.with_name(f".{token_hex(8)}.tmp")
            fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                with open(fd, "wb") as file:  # noqa: PTH123 - a descriptor
                    self.written += file.write(zlib.compress(data, 1))
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)
        return mark

    def has(self, mark: str) -> bool:
        """Whether it is there."""
        return self._path(mark).exists()

    def of(self, mark: str) -> bytes:
        """What it holds. Raises ValueError if it is not there, or is not what it was."""
        try:
            data = zlib.decompress(self._path(mark).read_bytes())
        except (OSError, zlib.error) as error:
            raise ValueError("the copy of what was there is gone, or cannot be read") from error
        if hashlib.sha256(data).hexdigest() != mark:
            raise ValueError("the copy of what was there was damaged")
        return data

    def prune(self, wanted: set[str], before: float) -> None:
        """Delete those that nobody wants, and nobody has asked for since then."""
        for path in self._folder.glob("*/*"):
            with suppress(OSError):
                if path.name not in wanted and path.stat().st_mtime < before:
                    path.unlink()

    def size(self) -> int:
        """Bytes, of all of them."""
        total = 0
        for path in self._folder.glob("*/*"):
            with suppress(OSError):
                total += path.stat().st_size
        return total

    def _path(self, mark: str) -> Path:
        return self._folder / mark[:2] / mark
