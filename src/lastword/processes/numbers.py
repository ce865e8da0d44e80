"""By which number a process is known where it runs: in a namespace of its own that is another."""

from __future__ import annotations

from pathlib import Path

from lastword.processes.inside.family import Procfs


def number_of(pidfd: int) -> int:
    """Ours for whom this descriptor is of; -1 where there is no /proc, so nobody can tell."""
    try:
        proc = Procfs()
    except OSError:
        return -1
    try:
        return proc.number_of(pidfd)
    except OSError:
        return -1
    finally:
        proc.close()


def numbers_of(pid: int) -> tuple[int, ...]:
    """From ours to the innermost; none if it has gone, or nobody can tell here."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:
        return ()
    found = [line.split()[1:] for line in lines if line.startswith("NSpid:")]
    return tuple(map(int, found[0])) if found else (pid,)
