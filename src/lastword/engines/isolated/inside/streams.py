"""What a process of a run's writes and reads, as the host has it: asked for when it is wanted.

Of what it writes nothing comes here that nobody wants to read, so one that writes without end is
no more to a run's process than one that is silent.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from lastword.engines.isolated.inside.post import Post
from lastword.engines.isolated.started import Stream
from lastword.processes import Process
from lastword.processes.input import Input, the_owner
from lastword.processes.inside.family import Relative
from lastword.processes.output import Output

May: TypeAlias = Callable[[str], None]
_PIECE = 1 << 20  # bytes that are written at once
next_reader = itertools.count(1).__next__


class HostsProcess:
    """Where it is; the host forgets it when nothing here has a handle on it any more."""

    def __init__(self, post: Post, n: int) -> None:
        self.post = post
        self.n = n
        weakref.finalize(self, post.tell_soon, "process_forget", n).atexit = False

    # as a process asks its warden

    @property
    def processes(self) -> Mapping[int, Process]:
        """The host knows which others there are."""
        return {}

    def living(self) -> list[Relative]:
        return self.post.at_once("process_living", self.n)

    def signal(self, id: int, number: int, *, group: bool = False) -> None:
        self.post.tell("process_signal", id, number, group)

    def end(self, id: int, grace: float) -> None:
        self.post.tell("process_drop", id, grace)


class OutputInside(Output):
    """What it writes."""

    def __init__(self, there: HostsProcess, which: Stream, may_read: May, first: int) -> None:
        self._there = there
        self._which: Stream = which
        self._may_read = may_read
        self._first: object | None = first

    def _now(self, what: str, *given: object) -> Any:  # noqa: ANN401 - whatever the host answers
        return self._there.post.at_once(what, self._there.n, self._which, *given)

    @property
    def open(self) -> bool:
        return self._now("process_stream").open

    @property
    def total(self) -> int:
        return self._now("process_stream").total

    @property
    def cut(self) -> int:
        return self._now("process_stream").cut

    def kept(self) -> tuple[bytes, bytes]:
        return self._now("process_kept")

    def since(self, offset: int) -> tuple[int, bytes]:
        return self._now("process_since", offset)

    def handed_over(self) -> deque[bytes | bytearray]:
        return deque(self._now("process_taken"))

    def begin(self) -> object:
        first, self._first = self._first, None
        return next_reader() if first is None else first

    async def read(self, me: object) -> bytes:
        there = self._there
        return await there.post.request("process_read", there.n, self._which, me)

    def done(self, me: object) -> None:
        self._there.post.tell("process_read_over", me)

    async def finished(self) -> None:
        await self._there.post.request("process_finished", self._there.n, self._which)

    def finish(self) -> None:
        """The host has read what it left."""

    def close(self) -> None:
        """The host does."""


class InputInside(Input):
    """What it reads."""

    def __init__(self, there: HostsProcess, name: str, may_write: May) -> None:
        self._there = there
        self._name = name
        self._may_write = may_write

    def feed_for(self, may: May, data: bytes, *, last: bool = False) -> asyncio.Future[bool]:
        may("writing to it")
        pieces = [data[at : at + _PIECE] for at in range(0, len(data), _PIECE)] or [b""]
        for piece in pieces[:-1]:
            self._say(piece, may, last=False)
        return self._say(pieces[-1], may, last=last)  # which is read only after those before it

    def _say(self, piece: bytes, may: May, *, last: bool) -> asyncio.Future[bool]:
        data, owner = base64.b64encode(piece).decode(), may is the_owner
        return self._there.post.ask("process_write", self._there.n, data, last, owner)

    @property
    def unread(self) -> int:
        return self._there.post.at_once("process_unread", self._there.n)

    def end(self) -> None:
        self._there.post.tell("process_input_over", self._there.n, False)

    def let_go(self) -> None:
        self._there.post.tell("process_input_over", self._there.n, True)
