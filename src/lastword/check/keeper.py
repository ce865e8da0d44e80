"""Sees off what a check has started, however the check itself comes to its end.

    python keeper.py FOLDER [JUDGE]

It sits beside the judge, and waits until its input closes: the kernel closes it for a judge that is
killed, too. Then it kills what has the check's mark in its environment and, where it was told whose
descendants all came of the check, those as well: a target can clear its environment, and cannot
choose its parents. Last, it removes the folder. It is one file, so that it starts in no time.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

MARK = "LASTWORD_CHECK"  # in the environment of whatever a target starts
_EVERY = 1.0  # seconds between two looks at who descends from the judge
_ROUNDS, _PAUSE = 100, 0.02  # some start others while they are killed


class KnownProcess(NamedTuple):
    """A process, which is not another one that has its number later."""

    pid: int
    began: str


def marked(mark: str) -> list[int]:
    """The processes with this mark, or one below it, in their environment; none that is dead."""
    return [pid for pid in _processes() if _has(pid, mark)]


def sweep(mark: str, also: Iterable[KnownProcess] = ()) -> int:
    """Kill whatever is left of a target, and these; how many there were."""
    left = {*marked(mark), *(one.pid for one in also if _is_there(one))}
    for pid in left:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return len(left)


def see_off(folder: Path, also: Iterable[KnownProcess] = ()) -> None:
    """Nothing of a check is left behind this, no process and no file."""
    for _ in range(_ROUNDS):
        if not sweep(folder.name, also):
            break
        time.sleep(_PAUSE)
    shutil.rmtree(folder, ignore_errors=True)


def below(ancestor: int) -> set[KnownProcess]:
    """Who descends from a process, without this one."""
    parents: dict[int, list[KnownProcess]] = {}
    for pid in _processes():
        if (told := _stat(pid)) and pid != os.getpid():
            parents.setdefault(int(told[1]), []).append(KnownProcess(pid, told[19]))
    found: set[KnownProcess] = set()
    left = [ancestor]
    while left:
        mine = parents.get(left.pop(), [])
        found.update(mine)
        left += [one.pid for one in mine]
    return found


def _processes() -> Iterator[int]:
    folder = Path("/proc")
    if folder.is_dir():
        yield from (int(one.name) for one in folder.iterdir() if one.name.isdigit())


def _has(pid: int, mark: str) -> bool:
    if pid == os.getpid():
        return False
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    own = f"{MARK}={mark}".encode()
    return any(one == own or one.startswith(own + b"-") for one in environment.split(b"\0"))


def _stat(pid: int) -> list[str]:
    """What the kernel says of a process, from its state on; nothing of one that is dead."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    words = told.rpartition(") ")[2].split()
    return words if words and words[0] not in "ZX" else []


def _is_there(one: KnownProcess) -> bool:
    told = _stat(one.pid)
    return bool(told) and told[19] == one.began


def main(folder: str, judge: str = "") -> None:
    """Wait for the end, and then see to it that nothing is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    known: set[KnownProcess] = set()
    while not select.select([0], [], [], _EVERY if judge else None)[0]:
        known = {one for one in known if _is_there(one)} | below(int(judge))
    if judge and os.getppid() == int(judge):
        known |= below(int(judge))
    see_off(Path(folder), known)


if __name__ == "__main__":
    main(*sys.argv[1:])
