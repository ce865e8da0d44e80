"""Child runs: each in a session of its own, and none outlives its parent unless it was kept.

Nothing has to reach a child for it to fall silent: its hold asks its parent's. What is done
here is the rest of a stop, for all children at once, so that a wedged one delays no other.
"""

from __future__ import annotations

from typing import Protocol

from lastword.core.model import Outcome, RunId, SessionId
from lastword.core.receipt import ChildReport, ProcessReport, Unconfirmed
from lastword.runtime.ticket import Ticket


class Offspring(Protocol):
    """A child's session, as its parent sees it."""

    @property
    def id(self) -> SessionId: ...

    def end_with_parent(self) -> None: ...
    async def unwound(self) -> None: ...
    async def gone(self) -> None: ...
    async def text_of(self, run: RunId) -> str: ...

    @property
    def unconfirmed(self) -> list[Unconfirmed]: ...

    @property
    def dropped(self) -> int: ...

    @property
    def processes(self) -> tuple[ProcessReport, ...]: ...

    @property
    def has_processes(self) -> bool: ...

    @property
    def alive(self) -> bool: ...

    async def processes_gone(self) -> None: ...
    def end_processes_now(self) -> None: ...


class StartedRun(Protocol):
    """A child run, as its parent sees it."""

    @property
    def kept(self) -> bool: ...
    @property
    def session(self) -> SessionId: ...
    @property
    def run(self) -> RunId: ...
    @property
    def done(self) -> bool: ...
    async def outcome(self) -> Outcome: ...
    async def text(self) -> str: ...


class Child:
    """A parent's handle on a child run, which can be looked at; to stop it, stop its session."""

    def __init__(self, of: StartedRun) -> None:
        self._of = of

    def __repr__(self) -> str:
        return f"<Child {self.run}{' kept' if self.kept else ''}>"

    @property
    def kept(self) -> bool:
        """Whether it goes on when its parent ends."""
        return self._of.kept

    @property
    def session(self) -> SessionId:
        """The session it runs in, to be watched or stopped like any other."""
        return self._of.session

    @property
    def run(self) -> RunId:
        return self._of.run

    @property
    def done(self) -> bool:
        return self._of.done

    async def outcome(self) -> Outcome:
        """Wait for it to end."""
        return await self._of.outcome()

    async def text(self) -> str:
        """Wait for it to end; what it said."""
        return await self._of.text()


class ChildRun:
    """A child run, as the stop of its parent sees it."""

    def __init__(self, offspring: Offspring, ticket: Ticket, *, kept: bool) -> None:
        self.kept = kept
        self._offspring = offspring
        self._ticket = ticket

    @property
    def session(self) -> SessionId:
        return self._offspring.id

    @property
    def run(self) -> RunId:
        return self._ticket.run

    @property
    def done(self) -> bool:
        return self._ticket.done

    async def outcome(self) -> Outcome:
        return await self._ticket.outcome()

    async def text(self) -> str:
        await self.outcome()
        return await self._offspring.text_of(self.run)

    def end(self) -> None:
        if not self.kept:
            self._offspring.end_with_parent()

    async def unwound(self) -> None:
        if not self.kept:
            await self._offspring.unwound()

    async def gone(self) -> None:
        if not self.kept:
            await self._offspring.gone()

    @property
    def unconfirmed(self) -> list[Unconfirmed]:
        if self.kept or not (left := self._offspring.unconfirmed):
            return []
        return [Unconfirmed("child", self.session), *left]

    @property
    def dropped(self) -> int:
        return 0 if self.kept else self._offspring.dropped

    @property
    def processes(self) -> tuple[ProcessReport, ...]:
        return () if self.kept else self._offspring.processes

    @property
    def alive(self) -> bool:
        return not self.kept and self._offspring.alive

    @property
    def has_processes(self) -> bool:
        return not self.kept and self._offspring.has_processes

    def end_processes_now(self) -> None:
        if not self.kept:
            self._offspring.end_processes_now()

    async def processes_gone(self) -> None:
        if not self.kept:
            await self._offspring.processes_gone()

    @property
    def report(self) -> ChildReport:
        fate = "kept" if self.kept else "unconfirmed" if self.unconfirmed else "ended"
        return ChildReport(self.session, self.run, fate)
