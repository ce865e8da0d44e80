"""When a stop of a warden is over: by the kernel's word, and never by a message alone.

No I/O: whoever drives it says what was found. A process of the run may have taken the warden's
place at the socket, so its account only says who was there and what became of them.

| level | nobody is left when |
|---|---|
| sealed | the first process of the namespace has gone: the kernel lets it go last |
| tree | the warden has gone, and the zygote, to whom its orphans come, has looked and has none |
| cgroup | the same, and nobody is in the control group |
| group | the warden says so of the process groups; nobody can tell more |

If the zygote was killed, nobody can look: the warden's own account then counts at tree and cgroup,
for it alone knows that the kernel gave it no child any more.
"""

from __future__ import annotations

import pwd
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace

from lastword.core.receipt import ProcessReport
from lastword.core.value import value
from lastword.processes.inside.family import Relative
from lastword.processes.levels import Level
from lastword.processes.seen import Identity, Seen

UNSEEN = "nobody is left who could end it"
_ANOTHERS = "this user may not end it"


@value
class WardenEnd:
    """What a stop of a warden found, and how it ended."""

    processes: tuple[ProcessReport, ...] = ()
    proven: bool = True  # somebody could tell that none is left
    why: str = UNSEEN  # what is unconfirmed may live on


@dataclass(slots=True)
class Proof:
    """What is known of the end of one warden."""

    level: Level
    left: bool = False  # the warden has gone
    looked: bool = False  # since then the zygote has looked for whoever it left
    blind: bool = False  # there is no zygote that could
    empty: bool = False  # nobody is in the control group
    found: tuple[Seen, ...] = ()  # who was there when the stop began, as it said
    account: tuple[Seen, ...] | None = None  # what became of them, as it said
    remain: tuple[Relative, ...] = ()  # whom the zygote found and could not end, all below included

    @property
    def over(self) -> bool:
        """Whether nothing more will be known."""
        if self.level == "group" and self.account is not None:
            return True
        if self.level == "cgroup" and not self.empty:
            return False
        return self.left and (self.level == "sealed" or self.looked or self.blind)

    @property
    def proven(self) -> bool:
        """Whether nobody is left."""
        if self.level == "sealed":
            return self.left
        if self.remain or (self.level == "cgroup" and not self.empty):
            return False
        if self.looked and self.level != "group":
            return self.left
        return self.left_by_itself

    @property
    def left_by_itself(self) -> bool:
        """Whether it gave its account, and went."""
        return self.account is not None and (self.left or self.level == "group")

    def known(self, names: dict[int, tuple[int, str]], seen: list[Relative]) -> Iterator[Identity]:
        """Whoever was seen of it: numbers, and when they began, where that is known."""
        begun = {one.pid: one.start for one in (*self.found, *(self.account or ()), *seen)}
        yield from begun.items()
        yield from ((pid, 0) for pid, _ in names.values() if pid not in begun)

    def ending(
        self, names: dict[int, tuple[int, str]], seen: list[Relative], alive: Container[int] = ()
    ) -> WardenEnd:
        """For the receipt: `names` are those that were ordered, `seen` who was looked at last.

        `alive` are those of the known who live by the kernel's word: none of them was killed.
        """
        remain = {
            kin.pid: ProcessReport(kin.pid, _named(kin), "unconfirmed") for kin in self.remain
        }
        fate = "killed" if self.proven or remain else "unconfirmed"
        if self.account is not None:
            found = [
                ProcessReport(one.pid, names.get(one.id, (0, one.name))[1], one.fate)
                for one in self.account
            ]
        else:
            known = {one.pid: one.name for one in (*self.found, *seen)} | dict(names.values())
            found = [ProcessReport(pid, name, fate) for pid, name in known.items() if pid > 0]
        others = [
            replace(report, fate="unconfirmed") if report.pid in alive else report
            for report in found
            if report.pid not in remain
        ]
        why = _ANOTHERS if remain else UNSEEN
        return WardenEnd((*others, *remain.values()), self.proven, why)


def _named(kin: Relative) -> str:
    try:
        owner = pwd.getpwuid(kin.owner).pw_name
    except (KeyError, OverflowError):
        owner = str(kin.owner)
    return f"{kin.name} of user {owner}"
