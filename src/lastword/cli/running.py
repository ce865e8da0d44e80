"""The person's servers that run: a command means the one that was started in its folder.

Each has a file with its address, its process, its folder and what its token is made from, where
only the person can read and write. A server whose process is gone, or whose number is another's by
now, is none: no command asks there, and no token is sent to whoever listens in its place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import Any, cast
from urllib.parse import urlsplit

from lastword.agent.trust import of_the_person
from lastword.cli import private

_LONGEST = 16_384  # bytes that a file has
_MOST = 1_000  # files
_PROCESSES = 1 << 31


@dataclass(frozen=True, slots=True)
class RunningServer:
    """One that runs, as it has written down."""

    url: str
    process: int
    born: str  # when that process began: its number may be another's one day
    folder: str
    start: str  # a word of this start alone, from which its token is made


def _place() -> Path:
    return of_the_person("XDG_STATE_HOME", ".local/state", os.environ) / "servers"


@contextmanager
def told(url: str, start: str) -> Generator[None]:
    """Let commands of this folder find the server at this address, as long as it runs.

    Where nothing can be written down, they do not; the server runs all the same.
    """
    path, number = _place() / f"{os.getpid()}.json", os.getpid()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        whole = RunningServer(url, number, _born(number), str(Path.cwd()), start)
        beside = path.with_name(f".{path.name}-{token_hex(8)}")
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(asdict(whole), file)
        beside.replace(path)  # whole, or not at all
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def here() -> RunningServer | None:
    """The server of this folder, or of the nearest above it; of two, the last."""
    folder = Path.cwd()
    by_folder = {one.folder: one for one in _alive()}
    found = (by_folder.get(str(one)) for one in (folder, *folder.parents))
    return next(filter(None, found), None)


def at(url: str) -> RunningServer | None:
    """The server that has an address of this machine; `localhost` is any that has the port.

    Ask it at its own address: another's may be the same port of another name.
    """
    asked, found = _address(url), None
    for one in _alive():
        scheme, host, port = _address(one.url)
        if asked in ((scheme, host, port), (scheme, "localhost", port)):
            found = one
    return found


def _address(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _alive() -> list[RunningServer]:
    """Those that run, in the order they were started; what others left behind is taken away."""
    found = list[tuple[float, RunningServer]]()
    with suppress(OSError):
        for path in islice(_place().glob("*.json"), _MOST):
            with suppress(OSError, ValueError, RecursionError):
                written, one = _read(path)
                if _lives(one):
                    found.append((written, one))
                else:
                    path.unlink(missing_ok=True)
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _read(path: Path) -> tuple[float, RunningServer]:
    """When it was written, and what. Raises ValueError if it is none of ours."""
    found, status = private.read(path, _LONGEST)
    if private.wrong(status) or status.st_size > _LONGEST:
        raise ValueError(f"{path} is not the person's own")
    told = cast("object", json.loads(found))
    if not isinstance(told, dict):
        raise ValueError(f"{path} is of no server")  # noqa: TRY004 - what is in a file
    known = cast("dict[str, Any]", told)
    texts = [known.get(name) for name in ("url", "born", "folder", "start")]
    number = known.get("process")
    if type(number) is not int or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{path} is of no server")
    url, born, folder, start = cast("list[str]", texts)
    _address(url)
    return status.st_mtime, RunningServer(url, number, born, folder, start)


def _lives(one: RunningServer) -> bool:
    if not 0 < one.process < _PROCESSES:
        return False
    try:
        os.kill(one.process, 0)
    except OSError:  # gone, or somebody else's
        return False
    return _born(one.process) == one.born


def _born(process: int) -> str:
    """When a process began, as this system counts; nothing where that cannot be told."""
    with suppress(OSError):
        told = Path(f"/proc/{process}/stat").read_bytes()
        return told.rpartition(b")")[2].split()[19].decode()
    return ""
