"""Who is in a run's control group, and whether they are the run's.

A run may move another's process into its own group, the host or the zygote too. Nobody of the run
is older than its group, and nobody's nearest warden is another's; all others are strangers there.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Collection
from pathlib import Path

from lastword.processes import undoing
from lastword.processes.inside import signals
from lastword.processes.inside.family import Procfs, Relative

_BLIND = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EPERM}


def now() -> int:
    """As the kernel tells when a process began."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def parted(
    group: Path, born: int, keepers: Collection[int], base: Path
) -> tuple[list[Relative], list[tuple[Relative, int]]]:
    """Those who are the run's, and those who are not, with the warden whose they are, or 0.

    `keepers` are the wardens of other runs. Raises an OSError if that cannot be seen.
    """
    ours: list[Relative] = []
    others: list[tuple[Relative, int]] = []
    known: dict[int, int] = {}
    proc = Procfs()
    try:
        for kin in filter(None, map(proc.look, _numbers(group, base))):
            keeper = _nearest(proc, kin, keepers, known)
            if keeper or kin.start < born or kin.pid == os.getpid():
                others.append((kin, keeper))
            else:
                ours.append(kin)
    finally:
        proc.close()
    return ours, others


def kill(ours: list[Relative]) -> None:
    """Each by itself, and nobody who has its number by now."""
    proc = Procfs()
    try:
        for kin in ours:
            signals.to_kin(proc, kin, signal.SIGKILL)
    finally:
        proc.close()


def _numbers(group: Path, base: Path) -> set[int]:
    found: set[int] = set()
    for folder in undoing.folders(group):
        try:
            found.update(map(int, undoing.read(folder / "cgroup.procs", base).split()))
        except OSError as error:  # it has gone meanwhile, or has threads only
            if error.errno in _BLIND:
                raise
    return found - {0}  # of whom we have no number


def _nearest(proc: Procfs, kin: Relative, keepers: Collection[int], known: dict[int, int]) -> int:
    """The warden of another run that it is, or descends from. Each is looked at once, however
    many there are below one another: `known` is of those before."""
    above: list[int] = []
    one: Relative | None = kin
    while one and one.pid not in keepers and one.pid not in known:
        above.append(one.pid)
        known[one.pid] = 0  # until it is known better
        one = proc.look(one.parent) if one.parent > 1 else None
    found = 0
    if one:
        found = one.pid if one.pid in keepers else known[one.pid]
    known.update(dict.fromkeys(above, found))
    return found
