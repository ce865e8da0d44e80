"""Tools that a program's calls can be made with: what a program sees of one, and how it is called.

A call goes through the run that the cell works for, so it is asked for, written down and stopped
like any other call of that run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import NoneType
from typing import Any, TypeAlias, get_origin, get_type_hints

from lastword.cells.stubs import Tool
from lastword.core.value import value
from lastword.runtime.call import Call
from lastword.runtime.checks import must_be_callable
from lastword.runtime.run import Run

Intend: TypeAlias = Callable[[Run, dict[str, Any]], Call[Any]]
_TYPES: Mapping[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    dict: "object",
    list: "array",
}
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@value
class Function:
    """A tool, and how a run writes down a call of it."""

    tool: Tool
    intend: Intend


def function(tool: Callable[..., Any]) -> Function:
    """A function as a tool of programs, by its own name and with the types that it declares."""
    must_be_callable(tool, "a tool")

    def intend(run: Run, arguments: dict[str, Any]) -> Call[Any]:
        return run.intend(tool, **arguments)

    return Function(_declared(tool), intend)


def functions(tools: Iterable[Function | Callable[..., Any]]) -> tuple[Function, ...]:
    """All of them, whatever way they were given."""
    return tuple(tool if isinstance(tool, Function) else function(tool) for tool in tools)


def _declared(tool: Callable[..., Any]) -> Tool:
    try:
        hints = get_type_hints(tool)
    except (NameError, TypeError):  # of names that are not there at run time
        hints = {}
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(tool).parameters.items()
        if parameter.kind in _NAMED
    }
    empty = inspect.Parameter.empty
    schema = {
        "type": "object",
        "properties": {
            name: _schema(hints.get(name, empty))
            | ({"default": parameter.default} if _plain(parameter.default) else {})
            for name, parameter in parameters.items()
        },
        "required": [name for name, one in parameters.items() if one.default is empty],
    }
    name = getattr(tool, "__name__", type(tool).__name__)
    returns = hints.get("return", empty)
    described = inspect.getdoc(tool) or ""
    return Tool(name, schema, described, None if returns is empty else _schema(returns))


def _plain(default: object) -> bool:
    """Whether it can be told; of any other, a program knows that there is one."""
    return default is None or isinstance(default, str | int | float)


def _schema(hint: object) -> dict[str, Any]:
    """What is known of a type; nothing, if that is no plain one: too wide costs nothing."""
    kind = _TYPES.get(get_origin(hint) or hint)
    return {"type": kind} if kind else {}
