"""What one server asks of another in somebody's name: signed, for that one alone, and once.

The key is in the database that they share. What is signed is who asks, the method, the path, what
the body is, and both servers' numbers, which are new with each start and never used again. So
nothing of it can be changed, sent to another, or sent a second time; but it can be read by whoever
hears it, as what people send can, where there is no TLS.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from itertools import count
from typing import Literal, TypeAlias

import msgspec

from lastword.server.who import Right, Who

HEADER = "x-lastword-forwarded"
_WINDOW = 4096  # requests of another that may overtake each other
_SERVERS = 1024  # whose requests are remembered
Kind: TypeAlias = Literal["forward", "relay", "left"]


class Vouched(Who):
    """Who another server says asks: whether they still may is for that one to say."""

    __slots__ = ()


class Forwarded(msgspec.Struct, frozen=True):
    """What is signed of a request."""

    kind: Kind
    number: int  # no two of one server have the same
    sender: int
    url: str  # where the sender is asked
    receiver: int
    method: str
    target: str
    body: str  # its hash
    name: str
    principal: str
    rights: list[str]
    relay: str = ""  # by which the sender knows the stream

    @property
    def who(self) -> Who:
        rights: list[Right] = [one for one in self.rights if one in _RIGHTS]  # pyright: ignore[reportAssignmentType] - they are
        return Vouched(self.name, self.principal, frozenset(rights))


_RIGHTS = frozenset({"read", "send", "approve", "stop", "admin"})


class Vouching:
    """One server's, which is known to the others by its url."""

    def __init__(self, key: bytes, url: str) -> None:
        self._key = key
        self._url = url
        self._numbers = count(1)
        self._seen: dict[int, tuple[int, int]] = {}  # of each sender: the highest, and a mask

    def sign(
        self,
        *,
        kind: Kind,
        sender: int,
        receiver: int,
        method: str,
        target: str,
        body: bytes,
        who: Who,
        relay: str = "",
    ) -> str:
        """What goes into the header."""
        told = Forwarded(
            kind,
            next(self._numbers),
            sender,
            self._url,
            receiver,
            method,
            target,
            hash_of(body),
            who.name,
            who.principal,
            sorted(who.rights),
            relay,
        )
        text = base64.urlsafe_b64encode(msgspec.json.encode(told)).decode()
        return f"{text}.{self._mark(text)}"

    def read(self, header: str, epoch: int) -> Forwarded | None:
        """What another server asks of the one with this number; None if it is not so, or was asked
        before."""
        text, _, mark = header.rpartition(".")
        if not hmac.compare_digest(self._mark(text).encode(), mark.encode(errors="replace")):
            return None
        try:
            told = msgspec.json.decode(base64.urlsafe_b64decode(text), type=Forwarded)
        except (ValueError, msgspec.DecodeError):  # of a newer one, which says more
            return None
        return told if told.receiver == epoch and self._is_new(told) else None

    def _is_new(self, told: Forwarded) -> bool:
        highest, mask = self._seen.pop(told.sender, (0, 0))
        behind = highest - told.number
        fresh = behind < 0 or (behind < _WINDOW and not mask >> behind & 1)
        if behind < 0:
            highest, mask = told.number, (mask << min(-behind, _WINDOW) | 1) & ((1 << _WINDOW) - 1)
        elif fresh:
            mask |= 1 << behind
        self._seen[told.sender] = highest, mask  # those that were heard of last come last
        while len(self._seen) > _SERVERS:
            del self._seen[next(iter(self._seen))]
        return fresh

    def _mark(self, text: str) -> str:
        mark = hmac.new(self._key, text.encode(errors="replace"), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(mark).decode().rstrip("=")


def hash_of(body: bytes) -> str:
    """By which a body is known to be the one that was signed."""
    return hashlib.sha256(body).hexdigest()
