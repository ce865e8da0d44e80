"""Where the framework reaches a tool's own first line; the check is there.

Between the framework's order and that line are hooks, wrappers around toolsets, processors of MCP
calls and a thread to be started, all of which may wait. So it is asked in the places where the code
of others begins: at every toolset's `call_tool`, at the function of a tool or of an output, and
where a request to an MCP server leaves. Classes are changed once, and do what they did wherever
there is no run of lastword's; a framework that has moved them is an error at the start.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, wraps
from typing import Any, Protocol, cast
from weakref import WeakSet

from pydantic_ai import _function_schema  # where functions are called
from pydantic_ai.toolsets import AbstractToolset

from lastword.runtime.checks import must_not_be_generated, must_not_generate
from lastword.runtime.run import Run

_PASS_ON = ("pydantic_ai.toolsets.", "pydantic_ai.mcp")  # they call what is checked by itself
_CALLED = ("call_tool", "direct_call_tool")  # the latter of an MCP toolset's, if somebody has one
_SENDS = ("mcp.client.session", "ClientSession", "send_request")


@dataclass(frozen=True, slots=True)
class Held:
    """Whose tools these are, and where that run lives."""

    run: Run
    loop: asyncio.AbstractEventLoop


class Counted(Protocol):
    """A call that is being made: the ledger's, or one that only the run counts."""

    def under_way(self) -> AbstractContextManager[None]: ...


holding: ContextVar[Held | None] = ContextVar("lastword_holding", default=None)
_making: ContextVar[Counted | None] = ContextVar("lastword_making", default=None)


def hold(run: Run) -> None:
    """Whatever is called from here belongs to this run, and so far to no call of it."""
    holding.set(Held(run, asyncio.get_running_loop()))
    _making.set(None)


@contextmanager
def making(call: Counted | None) -> Generator[None]:
    """What is reached inside belongs to this call."""
    token = _making.set(call)
    try:
        yield
    finally:
        _making.reset(token)


@contextmanager
def reached(name: str) -> Generator[None]:
    """Around code of others that is a tool, or may be; refused once the run lost its session."""
    if (held := holding.get()) is None:
        yield
        return
    with (_making.get() or held.run.act(name)).under_way():
        yield


@cache
def hold_functions() -> None:
    """Check where the functions of tools and of outputs are called."""
    schema = _function_schema.FunctionSchema
    unheld = cast("Callable[..., Awaitable[Any]]", _of(schema, "call"))

    @wraps(unheld)
    async def call(self: Any, args_dict: dict[str, Any], ctx: Any) -> Any:  # noqa: ANN401 - the framework's
        if holding.get() is None:
            return await unheld(self, args_dict, ctx)
        must_not_generate(self.function)
        name = ctx.tool_name or self.name
        guard = _in_step if self.is_async else _in_thread
        return await unheld(replace(self, function=guard(self.function, name)), args_dict, ctx)

    schema.call = call


def hold_toolsets() -> None:
    """Check where toolsets, of the framework and of others, are called; those there are by now."""
    for kind in _kinds(AbstractToolset):
        if kind not in _held and not kind.__module__.startswith(_PASS_ON):
            _held.add(kind)
            for name in _CALLED:
                _hold_method(kind, name)
    if (module := sys.modules.get(_SENDS[0])) is not None:
        _hold_requests(_of(module, _SENDS[1]))


_held: WeakSet[type[Any]] = WeakSet()


def _hold_method(kind: type[Any], name: str) -> None:
    if (unheld := vars(kind).get(name)) is None:
        return  # it has another's, which is held there

    @wraps(unheld)
    async def checked(self: Any, tool: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        with reached(tool):
            return await unheld(self, tool, *args, **kwargs)

    setattr(kind, name, checked)


@cache
def _hold_requests(session: type[Any]) -> None:
    unheld = _of(session, _SENDS[2])

    @wraps(unheld)
    async def send_request(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if getattr(request, "method", "") != "tools/call":
            return await unheld(self, request, *args, **kwargs)
        with reached(request.params.name):
            return await unheld(self, request, *args, **kwargs)

    session.send_request = send_request


def _in_step(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    async def checked(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the tool's own
        with reached(name):
            result = await function(*args, **kwargs)
        must_not_be_generated(result, name)
        return result

    return checked


def _in_thread(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def checked(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the tool's own
        with reached(name):
            result = function(*args, **kwargs)
        if inspect.isawaitable(result):  # its first line is yet to come, where it is awaited
            return _awaited(result, name)
        must_not_be_generated(result, name)
        return result

    return checked


async def _awaited(result: Awaitable[Any], name: str) -> Any:  # noqa: ANN401 - the tool's own
    with reached(name):
        return await result


def _kinds(of: type[Any]) -> Iterator[type[Any]]:
    for kind in of.__subclasses__():
        yield kind
        yield from _kinds(kind)


def _of(home: Any, name: str) -> Any:  # noqa: ANN401 - a name of the framework's
    if (found := getattr(home, name, None)) is None:
        raise ImportError(
            f"{home.__name__} has no {name}: this pydantic-ai is of another make, and its tools "
            "could not be held to their runs, so no agent was made an engine"
        )
    return found
