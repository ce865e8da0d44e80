"""Who descends from whom, as /proc tells it.

A directory descriptor and not a path: a sealed warden keeps the host's /proc open beside its own,
and so can name its processes by the numbers that a person outside would use.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Kin:
    """One process, at the moment it was looked at."""

    pid: int
    name: str
    state: str  # one letter, as `ps` shows it
    parent: int
    group: int


class Procfs:
    """One view of /proc."""

    def __init__(self, *, scan: bool = False) -> None:
        self._fd = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.me = int(os.readlink("self", dir_fd=self._fd))
        # not every kernel lists children; then all processes are looked at
        self._scan = scan or not self._exists(f"{self.me}/task/{self.me}/children")

    def close(self) -> None:
        os.close(self._fd)

    def look(self, pid: int) -> Kin | None:
        """A process that is there and has not ended."""
        try:
            text = self._read(f"{pid}/stat")
        except OSError:
            return None
        name, _, rest = text.partition("(")[2].rpartition(")")
        name = "".join(c if c.isprintable() else "?" for c in name)  # it can be anything
        fields = rest.split()
        state = fields[0]
        if state in "ZX":
            return None
        return Kin(pid, name, state, int(fields[1]), int(fields[2]))

    def children(self, pid: int) -> list[int]:
        """Its children, those that have ended and are not yet reaped included."""
        if self._scan:
            return [child for child, parent in self._everyone() if parent == pid]
        found: list[int] = []
        try:
            for thread in self._list(f"{pid}/task"):
                found += map(int, self._read(f"{pid}/task/{thread}/children").split())
        except OSError:
            pass  # it has ended meanwhile
        return found

    def descendants(self, pid: int) -> Iterator[Kin]:
        """All that live below it, nearest first. What forks meanwhile may be missed."""
        below = _by_parent(self._everyone()) if self._scan else None
        seen = {pid}
        generation = [pid]
        while generation:
            born = [
                child
                for parent in generation
                for child in (self.children(parent) if below is None else below.get(parent, []))
                if child not in seen
            ]
            seen.update(born)
            yield from filter(None, map(self.look, born))
            generation = born

    def everyone(self) -> Iterator[Kin]:
        """All that live."""
        return filter(None, (self.look(pid) for pid, _ in self._everyone()))

    def number_of(self, pidfd: int) -> int:
        """How this view calls the process behind a descriptor of ours."""
        for line in self._read(f"{self.me}/fdinfo/{pidfd}").splitlines():
            if line.startswith("Pid:"):
                return int(line[4:])
        return -1

    def _everyone(self) -> Iterator[tuple[int, int]]:
        for name in self._list("."):
            if name.isdigit():
                try:
                    rest = self._read(f"{name}/stat").rpartition(")")[2]
                except OSError:
                    continue
                yield int(name), int(rest.split()[1])

    def _exists(self, path: str) -> bool:
        try:
            self._read(path)
        except OSError:
            return False
        return True

    def _list(self, path: str) -> list[str]:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._fd)
        try:
            return os.listdir(fd)
        finally:
            os.close(fd)

    def _read(self, path: str) -> str:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._fd)
        try:
            parts: list[bytes] = []
            while part := os.read(fd, 1 << 16):
                parts.append(part)
        finally:
            os.close(fd)
        return b"".join(parts).decode(errors="replace")


def _by_parent(everyone: Iterator[tuple[int, int]]) -> dict[int, list[int]]:
    below: dict[int, list[int]] = {}
    for child, parent in everyone:
        below.setdefault(parent, []).append(child)
    return below
