"""The person's servers that run: a command means the one that was started in its folder.

Each has a file with its address, its process and its folder, where only the person can write.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from lastword.agent.trust import of_the_person


def _place() -> Path:
    return of_the_person("XDG_STATE_HOME", ".local/state", os.environ) / "servers"


@contextmanager
def told(url: str) -> Generator[None]:
    """Let commands of this folder find the server at this address, as long as it runs.

    Where nothing can be written down, they do not; the server runs all the same.
    """
    path = _place() / f"{os.getpid()}.json"
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        whole = {"url": url, "process": os.getpid(), "folder": str(Path.cwd())}
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(whole), encoding="utf-8")
        beside.replace(path)  # whole, or not at all
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def here() -> str | None:
    """The address of the server of this folder, or of the nearest above it; of two, the last."""
    folder = Path.cwd()
    by_folder = {str(one["folder"]): str(one["url"]) for one in _alive()}
    found = (by_folder.get(str(one)) for one in (folder, *folder.parents))
    return next(filter(None, found), None)


def _alive() -> list[dict[str, Any]]:
    """Those that run, in the order they were started; what others left behind is taken away."""
    found = list[tuple[float, dict[str, Any]]]()
    with suppress(OSError):
        for path in _place().glob("*.json"):
            with suppress(OSError, ValueError, KeyError, TypeError):
                one = cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))
                try:
                    os.kill(int(one["process"]), 0)
                except ProcessLookupError:
                    path.unlink(missing_ok=True)
                    continue
                found.append((path.stat().st_mtime, one))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]
