"""P12, P13. When a stop is over, and whose strays are whose: rules without I/O, explored."""

import random
import socket
from itertools import product

import pytest

from lastword.processes import Level
from lastword.processes.inside import wire
from lastword.processes.inside.family import Relative
from lastword.processes.inside.strays import Strays
from lastword.processes.levels import LEVELS
from lastword.processes.proof import Proof
from lastword.processes.seen import Seen, heard

P12 = pytest.mark.scenario("P12", part="processes")
P13 = pytest.mark.scenario("P13", part="processes")
SUDO = Relative(7, "sleep", "", 0, 0, owner=0)


def proofs(level: Level) -> list[Proof]:
    """All that can be known of an end, in every combination."""
    whether = (False, True)
    known = product(whether, whether, whether, whether, (None, ()), ((), (SUDO,)))
    return [
        Proof(level, left, looked, blind, empty, (), account, remain)
        for left, looked, blind, empty, account, remain in known
    ]


@P12
@pytest.mark.parametrize("level", [level for level in LEVELS if level != "group"])
def test_no_message_alone_makes_a_stop_quiet(level: Level) -> None:
    for proof in proofs(level):
        if proof.over and proof.proven:
            assert proof.left, "the kernel has not said that the warden is gone"
            assert level == "sealed" or not proof.remain
            assert level != "cgroup" or proof.empty
            assert level == "sealed" or proof.looked or proof.account is not None


@P12
@pytest.mark.parametrize("level", LEVELS)
def test_what_is_not_proven_is_named_or_said_not_to_be(level: Level) -> None:
    names = {1: (5, "sleep 50")}
    for proof in proofs(level):
        ending = proof.ending(names, [])
        left = [report for report in ending.processes if report.fate == "unconfirmed"]
        assert ending.proven == proof.proven
        assert not (ending.proven and left and level != "sealed")
        if not ending.proven and proof.account is None:
            assert left
        if proof.remain:
            assert (7, "sleep of user root") in {(one.pid, one.command) for one in left}


class World:
    """Wardens and what they keep; whoever loses its parent comes to the zygote, who looks."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.parents: dict[int, int] = {}  # of who lives, or is not reaped
        self.whose: dict[int, int] = {}  # by process: the warden that it descends from
        self.ended: set[int] = set()
        self.wardens = {1, 2, 3}
        self.dead: list[int] = []
        self.strays = Strays()
        self.told: dict[int, list[int]] = {}
        self.next = 10
        self.unkillable: set[int] = set()
        for warden in self.wardens:
            for _ in range(self.dice.randrange(4)):
                self.born(warden, warden)

    def born(self, parent: int, warden: int) -> None:
        self.next += 1
        self.parents[self.next], self.whose[self.next] = parent, warden
        if self.dice.random() < 0.05:
            self.unkillable.add(self.next)

    def step(self) -> None:
        living = [pid for pid in self.parents if pid not in self.ended]
        match self.dice.choice(("fork", "die", "warden", "reap", "look")):
            case "fork" if living:
                parent = self.dice.choice(living)
                self.born(parent, self.whose[parent])
            case "die" if living:
                self.dies(self.dice.choice(living))
            case "warden" if self.wardens:
                warden = self.dice.choice(sorted(self.wardens))
                self.wardens.remove(warden)
                self.dead.append(warden)
                self.orphaned(warden, 0)
            case "look":
                self.look()
            case _:
                pass

    def dies(self, pid: int) -> None:
        self.ended.add(pid)
        owner = self.whose[pid]
        self.orphaned(pid, owner if owner in self.wardens else 0)

    def orphaned(self, parent: int, heir: int) -> None:
        for pid, other in self.parents.items():
            if other == parent:
                self.parents[pid] = heir

    def look(self) -> None:
        """As the zygote does: reap, look, kill."""
        gone, self.dead = self.dead, []
        for pid in [pid for pid in self.ended if self.parents[pid] == 0]:
            del self.parents[pid]
            self.ended.discard(pid)
            self.strays.reaped(pid)
        for _ in range(self.dice.randrange(2)):  # somebody may die between the two
            self.step_of_others()
        present = {pid for pid, parent in self.parents.items() if parent == 0}
        self.strays.look(present, gone)
        for warden, left in self.strays.settled(self.unkillable):
            assert warden not in self.told, "it is told once"
            self.told[warden] = left
            living = {pid for pid, whose in self.whose.items() if whose == warden}
            living &= self.parents.keys() - self.ended
            below = {pid for pid in living if self.descends(pid, left)}
            assert living == below, f"{living - below} of warden {warden} live, and nobody says so"
        for pid in present - self.unkillable - self.ended:
            self.dies(pid)

    def step_of_others(self) -> None:
        living = [pid for pid in self.parents if pid not in self.ended]
        if living and self.dice.random() < 0.5:
            self.dies(self.dice.choice(living))
        elif self.wardens:
            warden = self.dice.choice(sorted(self.wardens))
            self.wardens.remove(warden)
            self.dead.append(warden)
            self.orphaned(warden, 0)

    def descends(self, pid: int, ancestors: list[int]) -> bool:
        while pid in self.parents:
            if pid in ancestors:
                return True
            pid = self.parents[pid]
        return False


@P13
@pytest.mark.parametrize("part", range(4))
def test_a_warden_is_told_gone_when_nobody_of_it_lives_and_waits_for_no_others(part: int) -> None:
    for seed in range(part * 1000, part * 1000 + 1000):
        world = World(seed)
        for _ in range(60):
            world.step()
        for warden in sorted(world.wardens):
            world.wardens.remove(warden)
            world.dead.append(warden)
            world.orphaned(warden, 0)
        for _ in range(20):
            world.look()
        assert world.told.keys() == {1, 2, 3}, f"seed {seed}"


@P13
def test_who_cannot_be_killed_costs_no_other_warden_anything() -> None:
    strays = Strays()
    strays.look({100}, [1])  # an unkillable process of warden 1
    assert strays.settled(()) == []
    strays.look({100}, [])
    strays.look({100, 200}, [2])

    strays.reaped(200)
    strays.look({100}, [])

    assert strays.settled(()) == [(2, [])], "warden 1 waits, and 2 does not wait for it"


MISSHAPEN: list[object] = [
    None,
    7,
    {},
    [[1]],
    [[1, 0, "sh", "killed"]],
    [["1", 0, "sh", "killed", 5]],
    [[1, 0, "sh", "kept", 5]],
    [[1, [], "sh", "killed", 5]],
    [[1, 0, "sh", "killed", 5], None],
]


@P12
@pytest.mark.parametrize("said", MISSHAPEN)
def test_an_account_without_the_shape_of_one_is_none(said: object) -> None:
    assert heard(said) is None


@P12
def test_an_account_is_heard_as_it_was_given_but_for_what_cannot_be_shown() -> None:
    assert heard([[1, 2, "s\x1bh\ud800", "ended", 5]]) == (Seen(1, 2, "s?h?", "ended", 5),)


@P12
@pytest.mark.parametrize("body", [b"[1]", b"{", b"7", b"\xff", b"[" * 50_000])
def test_what_is_no_message_ends_the_conversation(body: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(len(body).to_bytes(4, "big") + b"\0" + body)
        inbox = wire.WireInbox(ours)
        with pytest.raises(EOFError):
            inbox.receive()
