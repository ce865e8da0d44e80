"""Control groups: one for each run, where a part of the kernel's tree of them is ours to use.

Whoever begins in one is in it, and so is all that it starts, until it moves itself elsewhere. The
kernel ends everybody in one at a word, and says when nobody is in it; neither takes a keeper. A
group bears its host's number, when that began and whose numbers those are, so the next host ends
what a killed one left, and nothing of one that lives.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from lastword.core.value import value
from lastword.errors import ProcessError
from lastword.processes.inside.family import Procfs

_OURS, _ASIDE = "lastword-", "host"
_CONTROLLERS = ("pids", "memory", "cpu")
_A_PERIOD = 100_000  # microseconds over which a share of the processors is counted
_numbers = count(1)


@value
class Allowance:
    """What a run may use, with all that it starts."""

    most: int  # processes and threads
    memory: int | None = None  # bytes
    cpu: float | None = None  # processors; 0.5 is half of one

    @property
    def needed(self) -> list[str]:
        """Controllers without which these would not hold."""
        asked = {"memory": self.memory, "cpu": self.cpu}
        return [name for name, limit in asked.items() if limit is not None]

    def written(self, *, capped: bool) -> Iterator[tuple[str, str]]:
        """As the kernel reads it: a file, and what it says."""
        if capped:
            yield "pids.max", str(self.most + 1)  # the warden is there, too
        if self.memory is not None:
            yield "memory.max", str(self.memory)
        if self.cpu is not None:
            yield "cpu.max", f"{int(self.cpu * _A_PERIOD)} {_A_PERIOD}"


class Group:
    """One run's."""

    def __init__(self, path: Path, *, capped: bool = False) -> None:
        self.path = path
        self.capped = capped  # whether there is a limit to how many are in it

    def __repr__(self) -> str:
        return f"<Group {self.path}>"

    def door(self) -> int:
        """A descriptor; whoever writes 0 to it is in."""
        return os.open(self.path / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)

    @property
    def empty(self) -> bool:
        """Whether nobody is in it, nor in a group below it: the kernel's word."""
        try:
            events = (self.path / "cgroup.events").read_text(encoding="ascii")
        except FileNotFoundError:  # only an empty one can be taken away
            return True
        except OSError:
            return False
        return "populated 0" in events.splitlines()

    def kill(self) -> None:
        """End everybody in it, also whoever is being forked."""
        with suppress(OSError):
            (self.path / "cgroup.kill").write_text("1", encoding="ascii")

    def remove(self) -> None:
        """Take it away, once it is empty."""
        with suppress(OSError):
            for folder, _, _ in os.walk(self.path, topdown=False):
                os.rmdir(folder)  # noqa: PTH106 - as walk has it


class Groups:
    """Those of one host."""

    def __init__(self, base: Path, allowance: Allowance) -> None:
        self._home = base / f"{_OURS}{_named(os.getpid())}"
        self._allowance = allowance
        _sweep(base)
        self._home.mkdir(exist_ok=True)
        _make_way(base, self._home)
        for folder in (base, self._home):
            _allow(folder)
        allowed = _words(self._home / "cgroup.subtree_control")
        self.capped = "pids" in allowed
        if missing := [name for name in allowance.needed if name not in allowed]:
            raise ProcessError(f"{base} has no controller {' nor '.join(missing)} to limit runs by")

    def new(self) -> Group:
        """An empty one, with its limits."""
        group = Group(self._home / str(next(_numbers)), capped=self.capped)
        group.path.mkdir()
        for name, limit in self._allowance.written(capped=self.capped):
            (group.path / name).write_text(limit, encoding="ascii")
        return group

    def close(self) -> None:
        """There are no more of them, but for those of others in this program."""
        with suppress(OSError):
            self._home.rmdir()


def _make_way(base: Path, home: Path) -> None:
    """Where a process is, no controllers are handed on. If nobody but this one is there, as in a
    scope that was made for it, it moves below."""
    aside = home / _ASIDE
    if _words(base / "cgroup.procs") == [str(os.getpid())] and (base / "cgroup.type").exists():
        with suppress(OSError):
            aside.mkdir(exist_ok=True)
            (aside / "cgroup.procs").write_text("0", encoding="ascii")


def _allow(folder: Path) -> None:
    """Hand on what limits a run. A tree of groups next to one of the older kind may have no
    controllers; to kill and to look need none."""
    for name in _CONTROLLERS:
        if name in _words(folder / "cgroup.controllers"):
            with suppress(OSError):
                (folder / "cgroup.subtree_control").write_text(f"+{name}", encoding="ascii")


def our_own() -> Path:
    """The group that this process is in, in the newer of the two kinds of trees."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        raise ProcessError("there is no /proc") from None
    within = [line.removeprefix("0::/") for line in lines if line.startswith("0::/")]
    for line in mounts:
        fields, _, kind = line.partition(" - ")
        if kind.startswith("cgroup2 ") and within:
            root, place = fields.split()[3:5]
            inside = Path("/", within[0])
            if inside.is_relative_to(root):
                found = Path(place.encode().decode("unicode_escape"), inside.relative_to(root))
                return found.parents[1] if found.name == _ASIDE else found
    raise ProcessError("this kernel, or this container, shows no tree of cgroups of version 2")


def groups(allowance: Allowance) -> Groups:
    """Those of this host. Raises `ProcessError` where no part of the tree is ours."""
    base = our_own()
    try:
        return Groups(base, allowance)
    except OSError as error:
        raise ProcessError(f"{base} is not delegated to this user: {error.strerror}") from error


def _named(pid: int) -> str:
    proc = Procfs()
    try:
        kin = proc.look(pid)
    finally:
        proc.close()
    whose = Path("/proc/self/ns/pid").stat().st_ino
    return f"{whose}-{pid}-{kin.start if kin else 0}"


def _sweep(base: Path) -> None:
    """End what hosts left that were killed, and take away their groups."""
    for path in _left_in(base):
        group = Group(path)
        group.kill()
        group.remove()  # what is still dying is taken away by the next one


def _left_in(base: Path) -> Iterator[Path]:
    ours = _named(os.getpid()).partition("-")[0]
    for path in base.glob(f"{_OURS}{ours}-*-*"):
        name = path.name.removeprefix(_OURS)
        pid = name.split("-")[1]
        if pid.isdigit() and _named(int(pid)) != name:
            yield path


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").split()
    except OSError:
        return []
