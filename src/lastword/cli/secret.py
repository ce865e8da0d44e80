"""The secret of a person's own server, kept where only they can read it.

Cookies are signed with it, so that they outlive the server's process, and the token of programs of
the same person is made from it.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from lastword.agent.trust import of_the_person

_SIZE = 32


def ours() -> bytes:
    """The secret; made, if there is none yet."""
    path = _place()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return _read(path)
    with os.fdopen(fd, "wb") as file:
        file.write(secrets.token_bytes(_SIZE))
    return _read(path)


def known() -> bytes | None:
    """The secret, if there is one."""
    path = _place()
    return _read(path) if path.exists() else None


def _place() -> Path:
    return of_the_person("XDG_STATE_HOME", ".local/state", os.environ) / "server.key"


def _read(path: Path) -> bytes:
    found = path.read_bytes()
    if len(found) != _SIZE or path.stat().st_mode & 0o077:
        raise OSError(
            f"{path} is not a secret: it has {len(found)} bytes, or others can read it; delete it, "
            "and another is made"
        )
    return found
