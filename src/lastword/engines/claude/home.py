"""The directory in which one CLI keeps its files: private, and gone when it is.

It has the keys with which the CLI is logged in. So it is removed when the CLI has ended, however it
did; and what a program that was killed has left is removed by the next one.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from lastword.engines.claude.seams import found

log_ = logging.getLogger("lastword")
_PREFIX = "lastword-claude-"
_LOCK = ".lastword"
_NEW = 60  # seconds in which a directory may have no lock yet
_OF_THE_PERSON = ("CLAUDE.md", "agents", "commands", "output-styles", "rules", "skills")


class CliHome:
    """One of them. As long as it is used it is locked, also against who tidies up."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._used = False
        self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            _tidy_up(self.path)
            _fill(self.path, given)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Nobody uses it any more."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            shutil.rmtree(self.path, ignore_errors=True)  # whoever wrote meanwhile is about to end
            os.close(self._lock)
            self._lock = -1

    def remove_after(self, when_ended: Callable[[Callable[[int], object]], None]) -> None:
        """The same, once the CLI has ended."""
        self._used = True
        when_ended(lambda _: self.remove())

    def remove_if_unused(self) -> None:
        """No CLI was started in it."""
        if not self._used:
            self.remove()


def _fill(path: Path, given: Mapping[str, str]) -> None:
    """With what the person has for every session: how they are logged in, settings, skills."""
    copy = found("claude_agent_sdk._internal.session_resume", "_copy_auth_files")
    copy(path, dict(given))
    own = given.get("CLAUDE_CONFIG_DIR") or os.environ.get("CLAUDE_CONFIG_DIR")
    source = Path(own) if own else Path.home() / ".claude"
    for name in _OF_THE_PERSON:
        if (source / name).exists():
            (path / name).symlink_to(source / name)


def _tidy_up(own: Path) -> None:
    """Remove what a program that was killed could not."""
    now = own.stat().st_mtime
    for other in own.parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            there = other.lstat()
            if other != own and there.st_uid == os.getuid() and now - there.st_mtime > _NEW:
                _remove_unused(other)


def _remove_unused(path: Path) -> None:
    lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
        log_.info("removed what a CLI left path=%s", path)
    finally:
        os.close(lock)
