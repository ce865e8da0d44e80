"""Where tools are called; each call is made by its run, and begins where the tool's own code does.

Every way to call a tool goes by `BaseTool.arun` or `run`: there the call is made, with all that the
framework has around it. It begins in the step of the tool's first line, which is where the class
has the code that runs it: in between are callbacks, a new task and maybe a thread.

What is called inside of a tool, or by a plain engine, the session's own model did not ask for: it
is held and named all the same (`kit.inner`).
"""

# ruff: noqa: ANN401 - what the framework's methods take and give is anything

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial, wraps
from typing import Any, TypeAlias, cast

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, Tool

from lastword.engines.kit import NotMade, inner, reached
from lastword.engines.langgraph.rendering import rendered
from lastword.engines.langgraph.seams import Check, Kinds, hold, must_take
from lastword.engines.langgraph.talk import GraphTalk, talk_here
from lastword.engines.langgraph.threads import Body, in_thread, must_not_block, on_own_loop
from lastword.runtime.framework import ForFrameworks, run_inside

_NOT_ALLOWED = "This call was not allowed, and not made:"
_OWN = "langchain_core.tools."  # the framework's, which only passes on what has no coroutine
Given: TypeAlias = str | dict[str, Any]


def hold_tools() -> None:
    """Hold every tool that is called inside of a run, wherever a graph has it."""
    hold(BaseTool, "arun", _arun, "self", "tool_input", "tool_call_id", "config")
    hold(BaseTool, "run", _run, "self", "tool_input", "tool_call_id", "config")
    for kind in (BaseTool, StructuredTool, Tool):
        for name in _FIRST_LINES:
            must_take(kind, name, "self", "args", "kwargs")
    _BODIES.hold_all()


def _arun(unheld: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @wraps(unheld)
    async def arun(self: BaseTool, tool_input: Given, *args: Any, **kwargs: Any) -> Any:
        body = partial(unheld, self, tool_input, *args, **kwargs)
        if (run := run_inside()) is None:
            return await body()
        _BODIES.hold(type(self))
        try:
            return await on_own_loop(run, _making(run, self, tool_input, kwargs), body)
        except NotMade as why:
            return _refused(self, kwargs, why)

    return arun


def _run(unheld: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(unheld)
    def run(self: BaseTool, tool_input: Given, *args: Any, **kwargs: Any) -> Any:
        body = partial(unheld, self, tool_input, *args, **kwargs)
        if (held := run_inside()) is None:
            return body()
        must_not_block(held, f"the tool {self.name}", f"`await {self.name}.ainvoke(...)`")
        _BODIES.hold(type(self))
        try:
            return in_thread(held, _making(held, self, tool_input, kwargs), body)
        except NotMade as why:
            return _refused(self, kwargs, why)

    return run


def _making(
    run: ForFrameworks, tool: BaseTool, given: Given, kwargs: Mapping[str, Any]
) -> Callable[[Body], Any]:
    """How this call is made: as one that the model asked for, or as one inside of a tool."""
    talk, arguments = talk_here(run), _arguments(tool, given)
    if talk is None:
        return lambda body: inner(tool.name, arguments, body, render=rendered)
    return partial(_asked, talk, tool.name, arguments, kwargs.get("tool_call_id"))


async def _asked(
    talk: GraphTalk, name: str, arguments: dict[str, Any], id: str | None, body: Body
) -> Any:
    key = talk.claim(name, arguments, id)
    if key is None:  # a node calls it of its own accord
        with talk.left():
            return await inner(name, arguments, body, render=rendered)
    return await talk.make(key, body)


def _refused(tool: BaseTool, kwargs: Mapping[str, Any], why: NotMade) -> ToolMessage | str:
    """What the model is told of a call that was not allowed, as the framework has it."""
    told, id_ = f"{_NOT_ALLOWED} {why}", kwargs.get("tool_call_id")
    if id_ is None:
        return told
    return ToolMessage(told, tool_call_id=id_, name=tool.name, status="error")


def _arguments(tool: BaseTool, given: Given) -> dict[str, Any]:
    """What the tool is given, without what the framework puts in."""
    if isinstance(given, str):
        return {"input": given}
    return tool._filter_injected_args(given)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - looked at in `hold_tools`


# a tool's own code


def _in_step(unheld: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @wraps(unheld)
    async def _arun(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        if run_inside() is None or _passes_on(self, unheld):
            return await unheld(self, *args, **kwargs)
        with reached(_name(self)) as part:
            result = await unheld(self, *args, **kwargs)
            part.gave(_content(self, result))
        return result

    return _arun


def _in_thread(unheld: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(unheld)
    def _run(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        if run_inside() is None:
            return unheld(self, *args, **kwargs)
        with reached(_name(self)) as part:
            result = unheld(self, *args, **kwargs)
            part.gave(_content(self, result))
        return result

    return _run


def _passes_on(tool: BaseTool, unheld: Callable[..., Any]) -> bool:
    """Whether it only hands the call to a thread, where it is asked again."""
    return unheld.__module__.startswith(_OWN) and getattr(tool, "coroutine", tool) is None


def _name(tool: object) -> str:
    return str(getattr(tool, "name", type(tool).__name__))


def _content(tool: BaseTool, result: object) -> object:
    """Of what its code gave, what the model is shown."""
    pair = getattr(tool, "response_format", "") == "content_and_artifact"
    return cast("tuple[object, ...]", result)[0] if pair and isinstance(result, tuple) else result


_FIRST_LINES: Mapping[str, Check] = {"_arun": _in_step, "_run": _in_thread}
_BODIES = Kinds(BaseTool, _FIRST_LINES)
