"""Who was seen of a warden, and whose those are who live on.

What a warden says may be said by somebody who has taken its place at the
socket: it is checked in shape, and what has none is as if nothing had been said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, TypeAlias, cast

from lastword.core.value import value
from lastword.processes.inside.family import Procfs, Relative

Identity: TypeAlias = tuple[int, int]
"""A number, and when it began; 0 if nobody knows when."""

_FATES = ("ended", "killed")
_LONGEST = 64  # of a name; the kernel's own are shorter
_UNSURE = " (of this run, or of another that ended in the same moment)"


@value
class Seen:
    """One process, as its warden tells of it."""

    pid: int
    id: int  # under which it was ordered; 0 if it was not
    name: str
    fate: Literal["ended", "killed"]
    start: int = 0  # when it began, if that is known


def heard(said: object) -> tuple[Seen, ...] | None:
    """What a warden says of those it keeps; None if that says nothing."""
    if not isinstance(said, list):
        return None
    found = [_seen(row) for row in cast("list[object]", said)]
    sound = tuple(one for one in found if one)
    return sound if len(sound) == len(found) else None


def _seen(row: object) -> Seen | None:
    match row:
        case [int(pid), int(id_), str(name), str(fate), int(start)] if fate in _FATES:
            plain = "".join(c if c.isprintable() else "?" for c in name[:_LONGEST])
            return Seen(pid, id_, plain, cast("Any", fate), start)
        case _:
            return None


def theirs(
    warden: int, left: Iterable[Relative], known: Mapping[Identity, int], *, alone: bool
) -> dict[Identity, Relative]:
    """Of those who live on, whoever is this warden's, or nobody else's for sure.

    `known` has the wardens by whom they were seen; who was seen by none is whose its parent is.
    `alone`: there is no other warden whose they could be. Parents come before their children.
    """
    whose: dict[int, int | None] = {}
    found: dict[Identity, Relative] = {}
    for kin in left:
        identity = (kin.pid, kin.start)
        owner = known.get(identity, known.get((kin.pid, 0), whose.get(kin.parent)))
        whose[kin.pid] = owner
        if owner == warden or (owner is None and alone):
            found[identity] = kin
        elif owner is None:
            found[identity] = replace(kin, name=kin.name + _UNSURE)
    return found


def below(warden: int, seen: Iterable[Relative], started: list[Relative]) -> list[Relative]:
    """Who lives below it, and who was seen there before and lives. If that cannot be looked for,
    those that were started."""
    try:
        proc = Procfs()
    except OSError:  # no /proc, or no descriptor left to look at it with
        return started
    try:
        found = list(proc.descendants(warden))
        known = {kin.pid for kin in found}
        others = [kin for kin in seen if kin.pid not in known and proc.is_still(kin)]
        return found + [proc.look(kin.pid) or kin for kin in others] if warden > 0 else started
    except OSError:
        return started
    finally:
        proc.close()


def alive(known: Iterable[Identity]) -> set[int]:
    """Those of them who live, by the kernel's word; who cannot be looked at may."""
    known = tuple(known)
    try:
        proc = Procfs()
    except OSError:
        return {pid for pid, _ in known}
    try:
        return {pid for pid, start in known if _lives(proc, pid, start)}
    finally:
        proc.close()


def _lives(proc: Procfs, pid: int, start: int) -> bool:
    with suppress(OSError):
        kin = proc.look(pid)
        return kin is not None and start in (0, kin.start)
    return True
