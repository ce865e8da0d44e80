"""What a store is: a log for each session that refuses whoever has lost the right to write.

What happened is in the log; the feed that watchers follow is made from it as it happens, lives as
long as the process, and is not stored.

One call is one transaction. A write carries its session's generation, and a store that has seen
a higher one takes nothing of it: whoever moved the generation has the last word, also when the
writer does not know yet. In SQLite the single writer makes it so, in PostgreSQL the locked row.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import KW_ONLY
from datetime import UTC, datetime
from typing import Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from lastword.core.cell import StoredCell, Values
from lastword.core.entries import Entry, Unshown
from lastword.core.model import Generation, Message, MessageId, Outcome, RunId, SessionId
from lastword.core.queue import AT_REST, Standing
from lastword.core.receipt import Receipt
from lastword.core.value import value
from lastword.errors import OwnedElsewhere, StoreError
from lastword.stores.lease import Claim, Tenure
from lastword.stores.reach import Reach

State: TypeAlias = Literal["idle", "running", "waiting"]
Place: TypeAlias = tuple[float, SessionId]


@value
class Write:
    """What is to become durable together."""

    _: KW_ONLY
    session: SessionId
    generation: Generation
    serial: int  # how many messages the session has numbered
    entries: tuple[Entry, ...]
    standing: Standing = AT_REST  # it replaces the one before
    parent: SessionId | None = None  # of a child run's session: the session that goes on above it
    at: float = 0.0  # when, in seconds since 1970
    cells: tuple[StoredCell, ...] = ()  # each replaces what was stored of it
    values: Values = ()  # what cells remembered; each replaces the one of its name
    state: State = "idle"  # what the session is doing, for who lists it elsewhere
    claim: Claim | None = None  # that of the load that it goes on from; None: the store's newest


@value
class StoredSession:
    """What outlives everything, the session's own deletion included."""

    generation: Generation
    serial: int
    unfinished: bool = False  # a message of it has no outcome
    standing: Standing = AT_REST
    cells: tuple[StoredCell, ...] = ()  # those that have not ended
    parent: SessionId | None = None  # of a child run's session: the session above it
    since: int = 0  # entries of its log that come before all that tell of such messages


@value
class OtherOwner:
    """Another owner of sessions, which lives."""

    process: int
    host: str
    since: float  # when it opened the store, in seconds since 1970
    same_process: bool = False  # as whoever asks
    ending: bool = False  # it has died, and what it started is being ended

    def __str__(self) -> str:
        who = f"process {self.process} on {self.host}"
        if self.same_process:
            who = f"another store of this process ({self.process})"
        since = f"{datetime.fromtimestamp(self.since, UTC):%Y-%m-%d %H:%M:%S} UTC"
        return f"{who}, which has had the store open since {since}"

    def owns(self, session: SessionId) -> OwnedElsewhere:
        """What to tell whoever wants to act in its session."""
        why = f"{self}; it has died, and what it had started is being ended"
        return OwnedElsewhere(
            session,
            why if self.ending else str(self),
            self.process,
            self.host,
            self.since,
            ending=self.ending,
        )


@value
class Overview:
    """A session, as a list of them shows it."""

    session: SessionId
    generation: Generation
    title: str = ""  # what a person called it, or how its first message begins
    at: float = 0.0  # when something was last written
    state: State = "idle"  # what whoever has it was doing when it last wrote
    owner: OtherOwner | None = None  # another process that has it
    parent: SessionId | None = None  # if it is a child run's: the session above it
    pinned: bool = False  # a person wants it before the others
    messages: int = 0  # that were said in it

    @property
    def place(self) -> Place:
        """Where it stands among others: the newest first."""
        return self.at, self.session


@value
class Label:
    """How a person has a session listed; what is None stays as it is."""

    title: str | None = None  # empty: how its first message begins
    pinned: bool | None = None


@value
class SessionFilter:
    """Which of the sessions are looked for."""

    words: str = ""  # that its title has in it, in whatever case
    pinned: bool | None = None  # None: whether or not

    def fits(self, title: str, *, pinned: bool) -> bool:
        """Whether it is one of them."""
        return self.pinned in (None, pinned) and self.words.lower() in title.lower()


EVERY = SessionFilter()


@value
class StoredMessage:
    """A message that was accepted before."""

    message: Message
    run: RunId
    outcome: Outcome | None  # None: it has not ended
    began: bool  # whether a run took it up


@value
class LogPart:
    """Some of a session's log, in order."""

    entries: tuple[Entry, ...]
    before: int  # how many come before them
    length: int  # of the whole log

    @property
    def last(self) -> int:
        """The number of the last of them."""
        return self.before + len(self.entries)


@value
class StoreSize:
    """How much a store holds."""

    sessions: int  # that have a log
    files: tuple[tuple[str, int], ...] = ()  # what each is for, and its bytes


@value
class UnusedSession:
    """A session in which nothing was written for a while, nor in those below it."""

    session: SessionId
    at: float  # when something last was, in seconds since 1970
    waits: bool  # a message or a program in it waits for somebody


@runtime_checkable
class Store(Protocol):
    """What survives the process. Every method may raise `StoreError`.

    A session is owned by one opened store at a time: by the one that first loads or writes it, to
    act in it. To read it takes nothing. Whoever is found dead, or whose lease has run out by the
    clock of who asks, loses its sessions to whoever loads them next, and can write nothing to them
    from then on. Before that its own lease has run out too, by which it has stopped acting.
    """

    shared: bool  # whether other processes may have the same sessions
    durable: bool  # whether it outlives the process: then speech is stored before it is shown
    tenure: Tenure | None  # the lease, of a store that is shared
    reach: Reach | None  # how other owners are asked for something; None: they cannot be

    @property
    def trouble(self) -> StoreError | None:
        """Why it takes no writes, as the last that was tried has shown; None if it does. The names
        of places in its words are `Named`."""
        ...

    async def open(self) -> None:
        """Be ready, or say what is wrong with the place. Called once, before anything else."""
        ...

    async def load(self, session: SessionId) -> StoredSession | None:
        """Own the session and those below it, from here on; where it stands, also if it was
        deleted; None if it never was, as far as is known: a store made of a backup knows less, and
        says where it begins. Owned by another that lives: `OwnedElsewhere`."""
        ...

    def claim(self, session: SessionId) -> Claim:
        """The right to act in a session that was loaded here, or first written; by any thread."""
        ...

    async def peek(self, session: SessionId) -> StoredSession | None:
        """Where a session stands, without owning it. Anybody may."""
        ...

    async def kept_by(self, process: int) -> None:
        """What is started by whoever has this store open is seen off by that process: as long as
        it lives, nobody else is told that they are gone."""
        ...

    async def release(self, session: SessionId) -> None:
        """Own the session, and those below it, no longer: whoever asks next has it. Nothing of it
        may be going on. What is not ours is left as it is."""
        ...

    async def commit(self, write: Write) -> None:
        """Make it durable, all or nothing; an error means nothing, so a store that cannot tell has
        to find out first. An older generation: `StaleWrite`; not ours any more, or of a claim that
        has ended: `OwnedElsewhere`."""
        ...

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        """The session's log, in order, less the first so many. Anybody may read."""
        ...

    async def part(
        self, session: SessionId, before: int | None = None, *, most: int, size: int | None = None
    ) -> LogPart:
        """Of the entries that come before a number, or of all, the newest: at most so many, and if
        it has to be read for that, about so many bytes; but one. No more of the log is read."""
        ...

    async def receipts(self, session: SessionId, skip: int, most: int) -> tuple[Receipt, ...]:
        """The receipts in a session's log, newest first, less so many. Nothing else is read."""
        ...

    async def cuts(
        self, session: SessionId, runs: Collection[RunId], after: int
    ) -> tuple[tuple[int, Unshown], ...]:
        """What entries after a number take back of what these runs said, each with its number, in
        order. Nothing else is read."""
        ...

    async def lost(self, among: Collection[SessionId]) -> tuple[SessionId, ...]:
        """Those of these sessions that this store owned, and does not own any more."""
        ...

    async def unfinished(self) -> tuple[SessionId, ...]:
        """The sessions with a message that has no outcome, and that no other living store owns."""
        ...

    async def message(self, session: SessionId, id: MessageId) -> StoredMessage | None:
        """A message of the session by its id, however long ago."""
        ...

    async def sessions(self) -> tuple[SessionId, ...]:
        """The sessions that have a log."""
        ...

    async def size(self) -> StoreSize:
        """What it holds. Asked often, by who watches over it."""
        ...

    async def cells(self, session: SessionId | None = None) -> tuple[StoredCell, ...]:
        """The cells of a session, in the order they were made; without one, those of every session
        that have not ended."""
        ...

    async def values(self, session: SessionId) -> Values:
        """What cells of a session have remembered."""
        ...

    async def overview(self, session: SessionId) -> Overview | None:
        """A session, if it has a log."""
        ...

    async def recent(
        self, space: str, limit: int, before: Place | None = None, wanted: SessionFilter = EVERY
    ) -> tuple[Overview, ...]:
        """The sessions that have a log and whose name is `space` and then no slash, newest first;
        or those that come after a place in that order; of them, those that are wanted."""
        ...

    async def label(self, session: SessionId, label: Label) -> bool:
        """Have it listed so from here on; whether it has a log. Anybody may: nothing is taken."""
        ...

    async def delete(self, session: SessionId) -> None:
        """Forget the log, and everything of the sessions below it.

        The session's own generation and serial stay, so that nothing starts over; the names of
        those below are made from them, and so are never used again.
        """
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...


@runtime_checkable
class PrunableStore(Store, Protocol):
    """One of which what nobody uses any more can be deleted."""

    async def unused(self, since: float) -> tuple[UnusedSession, ...]:
        """The sessions last used before a time, in seconds since 1970; the oldest first."""
        ...

    async def prune(self, session: SessionId, since: float) -> bool:
        """Delete it, if it is still one of those and nothing in it waits; whether it was."""
        ...


@runtime_checkable
class CheckedStore(Protocol):
    """One that can be looked at from end to end."""

    async def check(self) -> list[str]:
        """What is wrong with what is stored, a line each."""
        ...


class StoreTrait(NamedTuple):
    """One thing to know of how a store keeps what is stored."""

    name: str
    kind: Literal["fine", "risk", "note"]
    told: str


@runtime_checkable
class DescribedStore(Protocol):
    """One that depends on how something else is set up."""

    async def traits(self, now: float) -> list[StoreTrait]:
        """What holds there, and what to change; `now` is the time of day, here."""
        ...
