"""Who asks: by a token, or by the key that the page was given for a one-time link.

Neither is a cookie: a browser gives those to every server of the same machine, whatever its port.

A token belongs to a principal, whose sessions nobody else sees; several may belong to the same one,
with different rights. Tokens are compared by their hash, in constant time.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast, get_args

from lastword.runtime.clock import Clock, time_of_day

# To approve is to let something run: it is apart from sending, which asks for it.
Right: TypeAlias = Literal["read", "send", "approve", "stop", "admin"]
ALL: frozenset[Right] = frozenset(get_args(Right))
LOCAL = "local"  # whoever started the server
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
_LASTS = 30 * 24 * 3600.0  # seconds that a page's key does
RUNS_OUT = 600.0  # seconds after which a link that was not opened is none any more
_LINKS = 16  # that are not used yet


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody who asks: under that name, in the sessions of that principal, with those rights.

    A `who=` of an app gives one, or None for nobody. If it gives a name alone, that is a principal
    of its own, with every right but `admin`; a name of nothing is nobody. The principal `local` is
    whoever has the program itself, with the sessions that it names: no name alone is that.
    """

    name: str
    principal: str
    rights: frozenset[Right]

    def __post_init__(self) -> None:
        # a session of theirs is PRINCIPAL/NAME, and one of a child run SESSION#1/1
        if not self.principal.isprintable() or {"/", "#"} & set(self.principal):
            raise ValueError(f"a principal's name has no / and no # in it: {self.principal!r}")
        object.__setattr__(self, "rights", _rights(self.name, self.rights))

    @classmethod
    def named(cls, name: str) -> Who:
        """Who is known by a name alone. One that is called `local` has a space of their own."""
        mark = "=" if name == LOCAL or name.startswith("=") else ""  # so no two have the same
        return cls(name, mark + name, ALL - {"admin"})

    @property
    def space(self) -> str:
        """What the names of their sessions begin with, inside."""
        return "" if self.principal == LOCAL else f"{self.principal}/"

    def has(self, session: str, others: Collection[str] | None) -> bool:
        """Whether a session is one of theirs. Whoever started the server has what is in the space
        of none of the `others`; if nobody knows those, what is named as if it were in nobody's."""
        if self.space:
            return session.startswith(self.space)
        if others is None:
            return "/" not in session
        return not any(session.startswith(f"{one}/") for one in others)


def known_as(name: str, space: str) -> str:
    """A session, run or call of a principal's, as they know it."""
    return name.removeprefix(space)


def _rights(name: str, rights: object) -> frozenset[Right]:
    """As they are held; they may be read only once."""
    if isinstance(rights, str) or not isinstance(rights, Iterable):
        raise ValueError(  # noqa: TRY004 - a mistake in a setting, as any other
            f"the rights of {name} are a list, as of {', '.join(get_args(Right))}, "
            f"and {rights!r} is none"
        )
    given = tuple(cast("Iterable[object]", rights))
    for right in given:
        if right not in get_args(Right):
            raise ValueError(
                f"{name} has the right {right!r}, which there is not; there "
                f"are {', '.join(get_args(Right))}"
            )
    return frozenset(cast("tuple[Right, ...]", given))


PERSON = Who(LOCAL, LOCAL, ALL)
NOBODY = Who("", "", frozenset())  # who is not known: may ask what anybody may


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A key to a principal's sessions. `admin` has every right."""

    secret: str = field(repr=False)
    name: str = LOCAL
    rights: Iterable[Right] = ALL
    principal: str = ""  # its name, if it is not said

    def __post_init__(self) -> None:
        if len(self.secret) < 16:
            raise ValueError(f"the token of {self.name} is too short: 16 characters at least")
        if not (self.secret.isascii() and self.secret.isprintable() and self.secret[-1] != " "):
            raise ValueError(f"the token of {self.name} cannot be sent: it is not plain ASCII")
        for what, name in (("name", self.name), ("principal", self.principal or self.name)):
            if not _NAME.fullmatch(name):
                raise ValueError(
                    f"a token's {what} is letters, digits and . _ @ + -, 64 at most, and "
                    f"{name!r} is not"
                )
        object.__setattr__(self, "rights", _rights(self.name, self.rights))

    @property
    def who(self) -> Who:
        rights = frozenset(self.rights)
        return Who(self.name, self.principal or self.name, ALL if "admin" in rights else rights)


class Keys:
    """The tokens of a server, and the links and keys that it gives out for its page."""

    def __init__(
        self, tokens: Iterable[ApiToken] = (), secret: bytes = b"", clock: Clock = time_of_day
    ) -> None:
        self._known = {_hash(token.secret): token.who for token in tokens}
        self._secret = secret or secrets.token_bytes(32)
        self._clock = clock
        self._links: dict[str, float] = {}  # and when each runs out

    def replace(self, tokens: Iterable[ApiToken]) -> None:
        """Know these tokens from here on, and no others. Who was known by one that is among them,
        with the same rights, still is."""
        fresh = {_hash(token.secret): token.who for token in tokens}
        for key, who in fresh.items():
            old = self._known.get(key)
            fresh[key] = old if old is not None and old == who else who
        self._known = fresh

    def knows(self, who: Who | None) -> bool:
        """Whether somebody who was known when they asked would be again."""
        return who is PERSON or any(who is one for one in self._known.values())

    @property
    def principals(self) -> frozenset[str]:
        """Whose tokens there are, beside those of whoever started the server."""
        return frozenset(who.principal for who in self._known.values()) - {LOCAL}

    def whose(self, told: str) -> Who | None:
        """Whose token or key it is."""
        return self._by_token(told) or self._by_key(told)

    def _by_token(self, token: str) -> Who | None:
        given = _hash(token)
        found = [who for known, who in self._known.items() if hmac.compare_digest(known, given)]
        return found[0] if found else None

    def new_link(self) -> str:
        """A code that can be turned into a key, once, and soon."""
        code = new_code()
        self._links[code] = self._clock() + RUNS_OUT
        while len(self._links) > _LINKS:
            del self._links[next(iter(self._links))]
        return code

    def open(self, code: str) -> str | None:
        """The key for a link that was not used yet, and has not run out."""
        if self._links.pop(code, 0.0) <= self._clock():
            return None
        return self.page_key()

    def page_key(self) -> str:
        """A key for whoever has opened a link."""
        return self._signed(f"{LOCAL}.{int(self._clock() + _LASTS)}")

    def _by_key(self, key: str) -> Who | None:
        """If it is one of ours and has not run out."""
        told, _, _ = key.rpartition(".")
        name, _, until = told.rpartition(".")
        if not hmac.compare_digest(self._signed(told).encode(), key.encode(errors="replace")):
            return None
        alive = until.isascii() and until.isdigit() and int(until) > self._clock()
        return PERSON if alive and name == LOCAL else None

    def _signed(self, told: str) -> str:
        mark = hmac.new(self._secret, told.encode(errors="replace"), hashlib.sha256).digest()
        return f"{told}.{base64.urlsafe_b64encode(mark).decode().rstrip('=')}"


def new_code() -> str:
    """What is in a link."""
    return secrets.token_urlsafe(24)


def token_from(secret: bytes, start: str) -> str:
    """The token of whoever can read the server's secret: its person, on the same machine.

    It is of one start of the server: whoever listens in its place later, and is given it, can do
    nothing with it when the server is back.
    """
    told = b"token of " + start.encode(errors="replace")
    return hmac.new(secret, told, hashlib.sha256).hexdigest()


def page_secret(secret: bytes, port: int) -> bytes:
    """What the keys of the page are signed with: one of a port is of no use at another. Servers of
    one database are one, whatever their ports: 0."""
    return hmac.new(secret, b"page of port %d" % port, hashlib.sha256).digest()


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="replace")).digest()
