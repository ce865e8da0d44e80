"""One thing that can be asked over HTTP: what it takes, what it gives, and whose right it needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from starlette.types import Receive, Scope, Send

from lastword.server.desk import ApiRequest, Reply
from lastword.server.limits import has_right_of_way
from lastword.server.who import Right

Handler: TypeAlias = Callable[[ApiRequest], Awaitable[Reply]]
Stream: TypeAlias = Callable[[ApiRequest, Scope, Receive, Send], Awaitable[None]]
Method: TypeAlias = Literal["GET", "POST", "PATCH", "DELETE"]


@dataclass(frozen=True, slots=True)
class Query:
    """Something that can be said in the query."""

    name: str
    about: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that can be asked."""

    method: Method
    path: str
    handler: Handler | Stream
    right: Right | None  # that it takes; None: none
    about: str
    gives: type[Any] | str  # a type of the wire's, or a media type
    status: int = 200
    takes: type[Any] | None = None
    needs_body: bool = True
    query: tuple[Query, ...] = ()
    problems: tuple[str, ...] = ()
    open: bool = False  # to who is not known, too
    sends: bool = False  # its handler sends the answer itself
    live: bool = False  # it is asked of whoever has the session
    named: bool = False  # what it sends has an id, or is given one
    find: Callable[[ApiRequest], Awaitable[object]] | None = None  # of which, if no path tells
    may_stop: Callable[[ApiRequest], Awaitable[bool]] | None = (
        None  # by what it says, a stop after all
    )

    @property
    def first(self) -> bool:
        """Whether it has right of way."""
        return has_right_of_way(self.method, self.path)

    @property
    def name(self) -> str:
        return f"{self.handler.__module__.rpartition('.')[2]}_{self.handler.__name__}"
