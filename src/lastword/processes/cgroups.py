"""Control groups: one for each warden, where a part of the kernel's tree of them is ours to use.

Whoever begins in one is in it, and so is all that it starts, until it moves itself elsewhere. The
kernel ends everybody in one at a word, and says when nobody is in it; neither takes a keeper. A
group bears its host's number, when that began and whose numbers those are, so the next host ends
what a killed one left, and nothing of one that lives.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from lastword.core.value import value
from lastword.errors import ProcessError
from lastword.processes import members, undoing
from lastword.processes.inside.family import Procfs, Relative

_OURS, _ASIDE = "lastword-", "host"
_CONTROLLERS = ("pids", "memory", "cpu")
_A_PERIOD = 100_000  # microseconds over which a share of the processors is counted
_ROUNDS = 3  # in which those who are killed are found one by one
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

    def __init__(self, path: Path, *, capped: bool = False, among: Groups | None = None) -> None:
        self.path = path
        self.capped = capped  # whether there is a limit to how many are in it
        self.keeper: Callable[[], int] = lambda: -1  # the number of its warden, once that is known
        self._among = among
        self._base = among.base if among else path
        self._born = members.now()

    def __repr__(self) -> str:
        return f"<Group {self.path}>"

    def door(self) -> int:
        """A descriptor; whoever writes 0 to it is in."""
        return os.open(self.path / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)

    @property
    def empty(self) -> bool:
        """Whether nobody is in it, nor in a group below it: the kernel's word."""
        try:
            events = undoing.read(self.path / "cgroup.events", self._base)
        except FileNotFoundError:  # only an empty one can be taken away
            return True
        except OSError:
            return False
        return "populated 0" in events.splitlines()

    def thaw(self, keeper: int = -1) -> None:
        """Undo what a run may have frozen: this one, and where a keeper was put."""
        undoing.thaw(self.path, self._base)
        if self._among and keeper > 0:
            self._among.take_back(keeper)

    def kill(self) -> bool:
        """End everybody in it who is the run's, also whoever is being forked; others go back to
        where they belong. Whether it is empty already.

        Each by itself at first: who has been killed moves nobody here any more. Then the kernel
        ends those who came meanwhile, or are another user's.
        """
        others: list[tuple[Relative, int]] = []
        with suppress(OSError):  # if nobody can see who is there, nobody knows whom it would end
            for _ in range(_ROUNDS):
                ours, others = self._who()
                members.kill(ours)
            if not others:
                undoing.write(self.path / "cgroup.kill", "1", self._base)
        return self.empty

    def _who(self) -> tuple[list[Relative], list[tuple[Relative, int]]]:
        keepers = self._among.keepers(self) if self._among else {}
        born = self._born if self._among else 0
        ours, others = members.parted(self.path, born, keepers, self._base)
        for kin, keeper in others:
            with suppress(OSError):
                self._send_back(kin.pid, keepers.get(keeper))
        return ours, others

    def _send_back(self, pid: int, home: Group | None) -> None:
        if home:
            undoing.write(home.path / "cgroup.procs", str(pid), self._base)
        elif self._among:
            self._among.put_back(pid)

    def remove(self) -> None:
        """Take it away, once it is empty."""
        if self._among:
            self._among.forget(self)
        with suppress(OSError):
            for folder in undoing.folders(self.path):
                folder.rmdir()


class Groups:
    """Those of one host."""

    def __init__(self, base: Path, allowance: Allowance) -> None:
        self.base = base
        self._allowance = allowance
        self._known: set[Group] = set()
        self._homes: list[Path] = []  # the last one is used
        _sweep(base)
        self._add_home(base / f"{_OURS}{_named(os.getpid())}")
        _make_way(base, self._homes[0])
        self._place = _place() or base  # where the host is, and its keepers
        for folder in (base, self._homes[0]):
            _allow(folder)
        allowed = _words(self._homes[0] / "cgroup.subtree_control")
        self.capped = "pids" in allowed
        if missing := [name for name in allowance.needed if name not in allowed]:
            raise ProcessError(f"{base} has no controller {' nor '.join(missing)} to limit runs by")

    def new(self) -> Group:
        """An empty one, with its limits. Raises `ProcessError` if none can be made.

        A run can close the folder of them, or freeze it, or make it unfit for good: that is undone,
        or there is another.
        """
        try:
            return self._new()
        except OSError:
            undoing.mend(self._homes[-1], self.base)
        try:
            return self._new()
        except OSError:
            pass
        try:
            first = self._homes[0]
            self._add_home(first.with_name(f"{first.name}-{next(_numbers)}"))
            _allow(self._homes[-1])
            return self._new()
        except OSError as error:
            why = f"no control group can be made in {self.base}, also not in a new folder"
            raise ProcessError(f"{why}: {error.strerror}") from error

    def _add_home(self, home: Path) -> None:
        home.mkdir(exist_ok=True)
        self._homes.append(home)

    def _new(self) -> Group:
        home = self._homes[-1]
        undoing.thaw(home, self.base)
        group = Group(home / str(next(_numbers)), capped=self.capped, among=self)
        group.path.mkdir()
        try:
            _must_be_a_domain(group.path)
            for name, limit in self._allowance.written(capped=self.capped):
                (group.path / name).write_text(limit, encoding="ascii")
        except OSError:
            group.path.rmdir()
            raise
        self._known.add(group)
        return group

    def keepers(self, but: Group) -> dict[int, Group]:
        """The wardens of all others."""
        return {group.keeper(): group for group in self._known if group is not but}

    def take_back(self, pid: int) -> None:
        """Have a keeper that has no group of its own be where the host is, and go on."""
        here = _place(pid)
        if here and here != self._place and here.is_relative_to(self.base):
            undoing.thaw(here, self.base)
            self.put_back(pid)

    def put_back(self, pid: int) -> None:
        with suppress(OSError):
            undoing.write(self._place / "cgroup.procs", str(pid), self.base)

    def forget(self, group: Group) -> None:
        self._known.discard(group)

    def close(self) -> None:
        """There are no more of them, but for those of others in this program."""
        for home in self._homes:
            for folder in undoing.folders(home):
                ours = folder.name == _ASIDE or folder.name.isdigit()
                if folder == home or not ours:  # what a run has made there
                    with suppress(OSError):
                        folder.rmdir()


def _must_be_a_domain(group: Path) -> None:
    """Nobody can enter another kind; it is one if a part of its folder was made threaded."""
    if _words(group / "cgroup.type") not in ([], ["domain"]):
        raise OSError(errno.EOPNOTSUPP, "a part of it was made threaded")


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
    if not Path("/proc/self/mountinfo").exists():
        raise ProcessError("there is no /proc")
    if found := _place():
        return found.parents[1] if found.name == _ASIDE else found
    raise ProcessError("this kernel, or this container, shows no tree of cgroups of version 2")


def _place(pid: int | str = "self") -> Path | None:
    """The group that a process is in; None if nobody can tell."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
        lines = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    within = [line.removeprefix("0::/") for line in lines if line.startswith("0::/")]
    for line in mounts:
        fields, _, kind = line.partition(" - ")
        if kind.startswith("cgroup2 ") and within:
            root, place = fields.split()[3:5]
            inside = Path("/", within[0])
            if inside.is_relative_to(root):
                return Path(place.encode().decode("unicode_escape"), inside.relative_to(root))
    return None


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
        whose, pid, start, *_ = name.split("-")
        if pid.isdigit() and _named(int(pid)) != f"{whose}-{pid}-{start}":
            yield path


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").split()
    except OSError:
        return []
