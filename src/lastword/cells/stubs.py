"""Tools as a program sees them: functions with types, made of their JSON schemas.

The same text is shown to a model and given to the type checker, so that a program that was written
by it is checked against what it was told. What a schema says beyond Python's types is left out: a
type that is too wide costs nothing, one that is too narrow refuses a program that is right.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, cast

from lastword.core.value import value

_SCALARS = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "object": "dict[str, Any]",
    "array": "list[Any]",
}
_OURS = {
    "remember": "def remember(name: str, value: Any) -> None:\n"
    '    """Keep plain data for later programs, once this one has come to its end."""',
    "recall": "def recall(name: str) -> Any:\n"
    '    """What was remembered by that name. Raises KeyError if nothing was."""',
}
_TAKEN = frozenset(_OURS) | {"Any", "Literal", "asyncio", "print"}
_DEEPEST = 8  # types in types; beyond that it is anything
_LONGEST = 60  # characters of a type that a reader still reads


@value
class Tool:
    """A tool that a program can call."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of its arguments, an object
    description: str = ""
    returns: Mapping[str, Any] | None = None  # a schema of what it gives, if that is known


def callable_as(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Each tool by the name under which a program calls it: its own, if that can be one."""
    found: dict[str, Tool] = {}
    for tool in tools:
        name = re.sub(r"\W", "_", tool.name, flags=re.ASCII)
        if not name.isidentifier() or keyword.iskeyword(name):
            name = f"_{name}"
        if name in found or name in _TAKEN:
            other = f"like {found[name].name!r}" if name in found else "which is taken"
            raise ValueError(
                f"the tool {tool.name!r} would be called {name!r} in a program, {other}; rename it"
            )
        found[name] = tool
    return found


def stubs(tools: Iterable[Tool]) -> str:
    """What a program can call, as Python declares it."""
    declared = [_declared(name, tool) for name, tool in callable_as(tools).items()]
    ours = [f"{text}\n    ..." for text in _OURS.values()]
    return "\n\n".join(["from typing import Any, Literal", *declared, *ours]) + "\n"


def arguments(tool: Tool, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """What a call brings, by the names that the tool knows. Raises TypeError as Python would."""
    names = [*_parameters(tool.schema)]
    if len(args) > len(names):
        raise TypeError(f"{tool.name} takes {len(names)} arguments, and {len(args)} were given")
    given = dict(zip(names, args, strict=False))
    if twice := given.keys() & kwargs.keys():
        raise TypeError(f"{tool.name} got more than one value for {', '.join(sorted(twice))}")
    given |= kwargs
    required = cast("list[str]", tool.schema.get("required", []))
    if missing := [name for name in required if name not in given]:
        raise TypeError(f"{tool.name} needs {', '.join(missing)}")
    return given


def _parameters(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Those that have a name in Python, in the order in which they are declared."""
    properties = cast("dict[str, Any]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    named = {
        name: cast("Mapping[str, Any]", about if isinstance(about, Mapping) else {})
        for name, about in properties.items()
        if name.isidentifier() and not keyword.iskeyword(name)
    }
    return {name: named[name] for name in sorted(named, key=lambda name: name not in required)}


def _declared(name: str, tool: Tool) -> str:
    defs = cast("Mapping[str, Any]", tool.schema.get("$defs", {}))
    required = cast("list[str]", tool.schema.get("required", []))
    parameters = [
        f"{key}: {_type(about, defs)}{'' if key in required else _default(about)}"
        for key, about in _parameters(tool.schema).items()
    ]
    properties = cast("dict[str, Any]", tool.schema.get("properties", {}))
    if tool.schema.get("additionalProperties") or len(parameters) < len(properties):
        parameters.append("**others: Any")
    gives = "Any"
    if tool.returns is not None:
        gives = _type(tool.returns, cast("Mapping[str, Any]", tool.returns.get("$defs", {})))
    return f"async def {name}({', '.join(parameters)}) -> {gives}:{_described(tool)}\n    ..."


def _described(tool: Tool) -> str:
    """Its description, which somebody else may have written, as nothing but text."""
    text = tool.description.replace("\0", "").strip()
    if not text:
        return ""
    safe = text.replace("\\", "\\\\").replace('"""', "'''")
    lines = [line.rstrip() for line in safe.splitlines()]
    end = " " if lines[-1].endswith('"') else ""
    body = "\n    ".join(lines) + end
    return f'\n    """{body}"""'


def _default(about: Mapping[str, Any]) -> str:
    default = about.get("default", ...)
    plain = default is None or isinstance(default, str | int | bool)
    plain = plain or (isinstance(default, float) and math.isfinite(default))
    return f" = {default!r}" if plain and len(repr(default)) <= _LONGEST else " = ..."


def _type(about: object, defs: Mapping[str, Any], depth: int = 0) -> str:
    """The Python type of what a schema describes; `Any` if it has none."""
    if not isinstance(about, Mapping) or depth > _DEEPEST:
        return "Any"
    schema = cast("Mapping[str, Any]", about)

    def inner(one: object) -> str:
        return _type(one, defs, depth + 1)

    match schema:
        case {"$ref": str(ref)}:
            return inner(defs.get(ref.rpartition("/")[2]))
        case {"anyOf": [*ones]} | {"oneOf": [*ones]}:
            return _either([inner(one) for one in ones])
        case {"type": [*kinds]}:
            return _either([inner({**schema, "type": kind}) for kind in kinds])
        case _:
            return _simple(schema, inner)


def _simple(schema: Mapping[str, Any], inner: Callable[[object], str]) -> str:
    match schema:
        case {"enum": [*choices]}:
            return _choice(choices)
        case {"const": constant}:
            return _choice([constant])
        case {"type": "array", "items": items}:
            return f"list[{inner(items)}]"
        case {"type": "object", "additionalProperties": others} if others is not False:
            return f"dict[str, {inner(others)}]"
        case _:
            return _SCALARS.get(str(schema.get("type")), "Any")


def _either(types: list[str]) -> str:
    known = dict.fromkeys(types)
    return "Any" if "Any" in known or not known else " | ".join(known)


def _choice(choices: list[Any]) -> str:
    if all(one is None or isinstance(one, str | int | bool) for one in choices):
        return f"Literal[{', '.join(map(repr, choices))}]"
    return "Any"
