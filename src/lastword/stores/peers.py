"""The servers over one database: where each is asked, and which of them has a session.

Nothing that is stored, or that leaves, depends on what is told here: that is the claim's and the
lease's. Who asks at the wrong one is told so, and looks again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol, runtime_checkable

from lastword.core.model import SessionId
from lastword.core.value import value


@value
class NodePeer:
    """One of them that lives, as far as is known."""

    epoch: int  # its number, which is never used again
    url: str  # where others ask it; empty: nowhere
    process: int
    host: str
    since: float  # when it opened the store, in seconds since 1970
    version: str = ""
    lease: float = 0.0
    leaving: bool = False  # it ends soon
    digest: str = ""  # of what has to be the same everywhere
    sessions: int = 0  # how many it has, if that was asked
    beats: int = 0  # a count that moves as long as it renews its lease

    def __str__(self) -> str:
        where = f" ({self.url})" if self.url else ""
        return f"process {self.process} on {self.host}{where}"


class Peers(Protocol):
    """An opened store's."""

    url: str  # where this one is asked; set before the store is opened
    digest: str

    @property
    def epoch(self) -> int:
        """This one's number; another once its lease was lost, and 0 in between."""
        ...

    @property
    def known(self) -> tuple[NodePeer, ...]:
        """The others, as they were seen last: nothing is asked for that."""
        ...

    def leave(self) -> None:
        """Let the others know that this one ends soon."""
        ...

    async def whose(self, among: Collection[SessionId]) -> Mapping[SessionId, NodePeer]:
        """Who has each of these sessions, this one included; those that nobody has who lives are
        not in it."""
        ...

    async def every(self) -> tuple[NodePeer, ...]:
        """All that live, this one included, with how many sessions each has."""
        ...

    async def secret(self) -> bytes:
        """What only they know; made if there is none yet."""
        ...

    async def put_link(self, code: bytes, seconds: float) -> None:
        """Something that can be taken once, by any of them, and soon."""
        ...

    async def take_link(self, code: bytes) -> bool:
        """Whether it was there, and has not run out. It is not there any more."""
        ...


@runtime_checkable
class PeeredStore(Protocol):
    """A store that several servers have, and know each other by."""

    peers: Peers
