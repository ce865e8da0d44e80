"""Where requests are answered: what every answer has to know.

A name in a request is looked up within its principal's space, so nobody reaches another's session;
to look for one makes none.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from lastword.agent.permission import Question, Questions
from lastword.core.cell import StoredCell
from lastword.core.receipt import Receipt
from lastword.errors import UnknownSession
from lastword.runtime.runtime import Runtime
from lastword.runtime.session import Session
from lastword.server.limits import ServerLimits, Shares
from lastword.server.neighbours import Neighbours
from lastword.server.problems import Trouble
from lastword.server.shapes import Shapes, encode, unread
from lastword.server.streams import Streams
from lastword.server.vouching import Vouched
from lastword.server.who import ApiToken, Keys, Who
from lastword.server.wire import ReceiptOut
from lastword.stores.aside import Breathe, aside

T = TypeVar("T")
_LONGEST_NAME = 200
_SMALL = 16 << 10  # bytes of a body that has right of way, and takes nobody's room
_FORBIDDEN = frozenset("/#\\")
_QUICK = 64 << 10  # bytes that are decoded in no time
_PARTS = 50_000


@dataclass(eq=False)
class ServerState:
    """One server's."""

    runtime: Runtime
    questions: Questions | None
    keys: Keys | None
    limits: ServerLimits
    agent: str
    folders: tuple[str, ...] = ()  # that it works in, as far as that is known
    window: int | None = None  # tokens that its model takes in
    neighbours: Neighbours | None = None  # if other servers have the same store
    leaving: bool = False  # it ends when what goes on has ended, or soon
    closing: bool = False
    anybody: bool = False  # an app around it says who asks: anybody may be a principal
    shares: Shares = field(init=False)
    streams: Streams = field(init=False)
    known: dict[str, set[str]] = field(default_factory=dict[str, set[str]])  # by principal
    coming: Counter[str] = field(default_factory=Counter[str])  # bytes, by session, being accepted
    named: dict[str, set[str]] = field(default_factory=dict[str, set[str]])  # and asked for

    def __post_init__(self) -> None:
        self.shares = Shares(self.limits)
        knows = self._knows if self.keys else _anybody
        self.streams = Streams(stalled=self.limits.stalled, knows=knows)

    def _knows(self, who: Who | None) -> bool:
        """Who another server vouches for is that one's to know."""
        return isinstance(who, Vouched) or (self.keys is not None and self.keys.knows(who))

    def replace_tokens(self, tokens: Iterable[ApiToken]) -> int:
        """Know these from here on, and no others: who has lost theirs sees no more of what they
        watch. How many streams that ended."""
        if self.keys is None:
            return 0
        self.keys.replace(tokens)
        return self.streams.dismiss()


def _anybody(_: Who | None) -> bool:
    """An app that says itself who asks is asked each time."""
    return True


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered."""

    body: bytes
    status: int = 200
    media: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def reply(told: object, status: int = 200) -> Reply:
    """The same, of something that the wire knows."""
    return Reply(encode(told), status)


async def made(told: object, status: int = 200) -> Reply:
    """The same, of something that may be long: it is put into words beside the loop."""
    return await asyncio.to_thread(reply, told, status)


class ApiRequest:
    """A request, and who makes it."""

    def __init__(self, desk: ServerState, who: Who, request: Request) -> None:
        self.desk = desk
        self.who = who
        self.request = request
        self.shapes = Shapes(who.space, desk.questions)
        self._body: bytes | None = None

    @property
    def name(self) -> str:
        """Of the session that it is about, as who asks knows it."""
        return _name(self._part("session"))

    def is_about(self, name: str) -> None:
        """The session is named in the body, for the path names none."""
        self.request.path_params["session"] = name

    @property
    def id(self) -> str:
        """Of that session, inside."""
        return self.shapes.inside(self.name)

    @property
    def session(self) -> Session:
        return self.desk.runtime.session(self.id)

    def part(self, what: str) -> str:
        """A part of the path."""
        return self._part(what)

    def _part(self, what: str) -> str:
        return str(self.request.path_params[what])

    async def known(self) -> Session:
        """The session, which has to be there: to look for one must not make it, nor take it from
        another process."""
        if await self.desk.runtime.overview(self.id) is None and not self._is_new():
            raise self._unknown()
        return self.session

    def has(self, session: str) -> bool:
        """Whether it is in the space of who asks."""
        desk = self.desk
        others = desk.keys.principals if desk.keys else frozenset[str]()
        return self.who.has(session, None if desk.anybody else others)

    async def readable(self) -> Session:
        """The session; or, to be read only, that of an agent below it, at whatever depth."""
        below = self.request.query_params.get("below", "")
        if not below:
            return await self.known()
        id_, runtime = self.shapes.inside(below), self.desk.runtime
        found = await runtime.overview(id_) if below.isprintable() else None
        while found and found.parent and found.parent != self.id:
            found = await runtime.overview(found.parent)
        if found is None or found.parent is None:
            raise UnknownSession(f"there is no session {below!r} below {self.name!r}")
        return runtime.session(id_)

    def _is_new(self) -> bool:
        every = (names.get(self.who.principal, ()) for names in (self.desk.named, self.desk.known))
        return any(self.name in names for names in every) and self.session.busy

    async def named(self) -> Session:
        """The session, in which nothing need have been said yet.

        Each name takes some memory from then on, so that only so many may be asked for that nobody
        has spoken in. Nothing is waited for as long as there are not so many: this may be a stop.
        """
        if not self._has_room() and await self.desk.runtime.overview(self.id) is None:
            raise self._unknown()
        return self.session

    def _has_room(self) -> bool:
        names = self.desk.named.setdefault(self.who.principal, set())
        if len(names) < self.desk.limits.sessions:
            names.add(self.name)
        return self.name in names or any(s.id == self.id for s in self.desk.runtime.at_hand)

    def _unknown(self) -> UnknownSession:
        return UnknownSession(f"there is no session {self.name!r}")

    def seen(self, receipt: Receipt) -> ReceiptOut:
        """A receipt, as who asks may see it."""
        return self.shapes.receipt(receipt if "read" in self.who.rights else unread(receipt))

    async def arrive(self, *, first: bool = False) -> int:
        """Have all of it here, before it counts as a request that is being answered; its size."""
        if self._body is None:
            self._body = await self._read(first=first)
        return len(self._body)

    async def sent(self) -> bytes:
        """All of what was sent, as it came."""
        await self.arrive()
        return self._body or b""

    def replace(self, body: bytes) -> None:
        """It was given a name."""
        self._body = body

    async def body(self, kind: type[T]) -> T:
        """What was sent, as that type."""
        media = self.request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media != "application/json":
            raise Trouble(
                "unsupported-media-type",
                f"say content-type: application/json; it is {media or 'not said'!r}",
            )
        await self.arrive()
        body = self._body or b""
        try:
            if len(body) <= _QUICK:
                return msgspec.json.decode(body, type=kind)
            return await asyncio.to_thread(_decoded, body, kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Trouble("bad-request", f"the body is not what was expected: {error}") from error

    async def _read(self, *, first: bool) -> bytes:
        limits, shares = self.desk.limits, self.desk.shares
        most = min(limits.body, _SMALL) if first else limits.body
        length = self.request.headers.get("content-length", "0")
        if length.isdigit() and int(length) > most:
            raise too_large(most)
        parts, size = list[bytes](), 0
        try:
            with shares.arriving(self.who.principal, first=first) as more:
                async with asyncio.timeout(limits.arrival):
                    async for part in self.request.stream():
                        size += len(part)
                        if size > most:
                            raise too_large(most)
                        more(len(part))
                        parts.append(part)
        except TimeoutError:
            raise Trouble("too-slow", f"the body did not arrive in {limits.arrival:g} s") from None
        except ClientDisconnect:
            raise Trouble("bad-request", "the body did not arrive whole") from None
        return b"".join(parts)

    def number(self, name: str, default: int, *, least: int = 0, most: int = 1000) -> int:
        """A number in the query."""
        told = self.request.query_params.get(name)
        if told is None:
            return default
        plain = told.isascii() and told.isdigit() and len(told) <= 12
        if not plain or not least <= int(told) <= most:
            raise Trouble(
                "bad-request", f"{name} must be a number from {least} to {most}; it is {told!r}"
            )
        return int(told)

    def choice(self, name: str, *choices: str) -> str:
        """One of a few words in the query; the first if nothing is said."""
        told = self.request.query_params.get(name, choices[0])
        if told not in choices:
            raise Trouble("bad-request", f"{name} must be {' or '.join(choices)}; it is {told!r}")
        return told

    async def looked_at(self, cells: Iterable[StoredCell]) -> None:
        """Know what the calls would do that cells wait on, as far as a person is shown that."""
        if asked := self.desk.questions:
            for cell in cells:
                frontier = cell.record.frontier
                if frontier and cell.record.paused:
                    await asked.look(cell.session, frontier.pending)

    def questions(self) -> tuple[Question, ...]:
        """The open ones of the session, and of those below it."""
        return self.session.questions


def _decoded(body: bytes, kind: type[T]) -> T:
    """A thread decodes it; but all wait for who decodes, so it has to have few parts."""
    if aside(partial(_parts, body)) > _PARTS:
        raise Trouble("too-large", f"the body has more than {_PARTS} parts, which is the limit")
    return msgspec.json.decode(body, type=kind)


def _parts(body: bytes, breathe: Breathe) -> int:
    """How many values JSON has, about, but not more than are too many: the commas between its
    texts are counted, and the texts are passed over. Who decodes it tells what is too deep."""
    found, at, inside = 0, 0, False
    while found <= _PARTS and at <= len(body):
        quote = body.find(b'"', at)
        end = quote if quote >= 0 else len(body)
        if not inside:
            found += body.count(b",", at, end)
        text = body[at:end] if inside else b""
        if (len(text) - len(text.rstrip(b"\\"))) % 2 == 0:  # else it is a quote within
            inside = not inside
        at = end + 1
        breathe()
    return found


def _name(name: str) -> str:
    if (
        not 0 < len(name) <= _LONGEST_NAME
        or not name.isprintable()
        or _FORBIDDEN & set(name)
        or name in {".", ".."}
    ):
        raise Trouble(
            "bad-request",
            f"a session's name has 1 to {_LONGEST_NAME} printable characters, and no / \\ or #",
        )
    return name


def too_large(most: int) -> Trouble:
    """What is told of a body beyond the limit."""
    return Trouble("too-large", f"the body has more than {most} bytes, which is the limit")
