"""Who descends from whom, as /proc tells it.

A directory descriptor and not a path: a sealed warden keeps the host's /proc open beside its own,
and so can name its processes by the numbers that a person outside would use.

What cannot be read is not told as gone: only "there is no such process" means that; anything else,
such as no descriptor left to look with, is raised.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from dataclasses import dataclass

_GONE = (FileNotFoundError, ProcessLookupError)


@dataclass(frozen=True)
class Relative:
    """One process, at the moment it was looked at."""

    pid: int
    name: str
    state: str  # one letter, as `ps` shows it
    parent: int
    group: int
    start: int = 0  # when it began, in hundredths of a second: with its number, nobody else's
    owner: int = -1  # whose it is, if that was looked at


class Procfs:
    """One view of /proc."""

    def __init__(self, *, scan: bool = False) -> None:
        self._fd = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.me = int(os.readlink("self", dir_fd=self._fd))
        # kept open: to see one's own children takes no descriptor that somebody could use up
        self._mine = self._open(f"{self.me}/task/{self.me}/children")
        # not every kernel lists children; then all processes are looked at
        self._scan = scan or self._mine < 0

    def close(self) -> None:
        os.close(self._fd)
        if self._mine >= 0:
            os.close(self._mine)

    def look(self, pid: int) -> Relative | None:
        """A process that is there and has not ended."""
        try:
            text = self._read(f"{pid}/stat")
        except _GONE:
            return None
        name, _, rest = text.partition("(")[2].rpartition(")")
        name = "".join(c if c.isprintable() else "?" for c in name)  # it can be anything
        fields = rest.split()
        state, threads = fields[0], int(fields[17])
        if state == "X" or (state == "Z" and threads < 2):  # its first thread may end before others
            return None
        return Relative(pid, name, state, int(fields[1]), int(fields[2]), int(fields[19]))

    def owner(self, pid: int) -> int:
        """The user whose it is; -1 if it has gone."""
        try:
            return os.stat(str(pid), dir_fd=self._fd).st_uid
        except _GONE:
            return -1

    def my_children(self) -> list[int]:
        """Whoever looks is one thread, and the only one who reaps, so this misses none."""
        if self._scan:
            return self.children(self.me)
        parts: list[bytes] = []
        while part := os.pread(self._mine, 1 << 16, sum(map(len, parts))):
            parts.append(part)
        return [int(pid) for pid in b"".join(parts).split()]

    def children(self, pid: int) -> list[int]:
        """Its children, those that have ended and are not yet reaped included."""
        if self._scan:
            return [child for child, parent in self._everyone() if parent == pid]
        found: list[int] = []
        try:
            for thread in self._list(f"{pid}/task"):
                found += map(int, self._read(f"{pid}/task/{thread}/children").split())
        except _GONE:
            pass  # it has ended meanwhile
        return found

    def descendants(self, pid: int) -> Iterator[Relative]:
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

    def below(self, pid: int, spared: Container[int] = ()) -> Iterator[Relative]:
        """Everybody below a child of ours, or below us, each before its own children are sought;
        without those of our own children who are spared, and whoever is below them.

        Nobody else, whatever numbers are used again: a child is believed if its parent, looked at
        afterwards, is still who it was.
        """
        parents: list[tuple[int, Relative | None]] = [(pid, None)]
        while parents:
            parent, known = parents.pop()
            for child in self.my_children() if parent == self.me else self.children(parent):
                kin = None if known is None and child in spared else self.look(child)
                if kin and kin.parent == parent and (known is None or self.is_still(known)):
                    yield kin
                    parents.append((child, kin))

    def is_still(self, kin: Relative) -> bool:
        """Whether its number is still its own."""
        now = self.look(kin.pid)
        return now is not None and now.start == kin.start

    def everyone(self) -> Iterator[Relative]:
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
                except _GONE:
                    continue
                yield int(name), int(rest.split()[1])

    def _open(self, path: str) -> int:
        try:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._fd)
        except FileNotFoundError:
            return -1

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
