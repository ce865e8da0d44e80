"""The secret of a person's own server, kept where only they can read it.

The keys of the page are signed with what is made from it, so that they outlive the server's
process, and so is the token of programs of the same person.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from lastword.agent.trust import of_the_person
from lastword.cli import private

_SIZE = 32


def ours() -> bytes:
    """The secret; made, if there is none yet."""
    path = _place()
    if not os.path.lexists(path):
        _make(path)
    return _read(path)


def _place() -> Path:
    return of_the_person("XDG_STATE_HOME", ".local/state", os.environ) / "server.key"


def _make(path: Path) -> None:
    """Whole or not at all, and once: of two servers that start together, both have the same."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(secrets.token_bytes(_SIZE))
        with suppress(FileExistsError):
            path.hardlink_to(beside)
    finally:
        beside.unlink()


def _read(path: Path) -> bytes:
    """What is there is believed only if nobody else can have put it there, or seen it."""
    found, status = private.read(path, _SIZE + 1)
    if len(found) != _SIZE or private.wrong(status):
        raise OSError(
            f"{path} is not a secret of yours: it has {len(found)} bytes, belongs to somebody "
            "else, or others can read it; delete it, and another is made"
        )
    return found
