"""`docs/reference/http.md` and `http-types.md`, made of the OpenAPI document."""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

from lastword.server.openapi import document
from lastword.server.problems import TITLES, TYPE

Json: TypeAlias = dict[str, Any]
_NOTE = "<!-- Made from the OpenAPI document by `scripts/docs made`. Do not edit. -->"
_OPERATIONS = f"""\
# HTTP

{_NOTE}

A server describes itself at `GET /v1/openapi.json` (OpenAPI 3.1). This page is made from that
document.

- Say who asks with `Authorization: Bearer TOKEN`. [Rights](../how-to/serve.md#rights) says what
  each right allows.
- Bodies are JSON, with `Content-Type: application/json`.
- Errors are problem documents ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)) of the type
  `application/problem+json`; see [Problems](#problems).
- A session begins with its first message. Its name has no `/`, `\\` or `#`.
- [Events and facts](events.md#the-event-stream) explains the event stream.

| call | does | right |
|---|---|---|
"""
_TYPES = f"""\
# HTTP types

{_NOTE}

The JSON objects of the [HTTP API](http.md). Times are seconds since 1970.
"""
_PROBLEMS = """\
## Problems

`type` is `{type}` and one of these names. `id` is also in the server's log, and in the header
`x-request-id`. Every call may also be answered with `bad-request`, `wrong-host`, `wrong-origin`,
`too-many` or `internal`; every call that needs a token with `unauthorized` or `forbidden`; and
every call with a body with `too-large`, `unsupported-media-type` or `too-slow`.

| name | status | title |
|---|---|---|
"""
_ANYWHERE = frozenset(
    [
        "bad-request",
        "wrong-host",
        "wrong-origin",
        "too-many",
        "internal",
        "unauthorized",
        "forbidden",
        "too-large",
        "unsupported-media-type",
        "too-slow",
    ]
)


def operations() -> str:
    """The page of what can be asked."""
    every = called(document())
    rows = "".join(_row(*one) for one in every)
    parts = [f"{_OPERATIONS}{rows}", *(_operation(*one) for one in every), _problems()]
    return "\n".join(parts)


def types() -> str:
    """The page of what is asked with, and answered."""
    schemas: dict[str, Json] = document()["components"]["schemas"]
    return "\n".join([_TYPES, *(_type(name, schemas[name]) for name in sorted(schemas))])


def called(told: Json) -> list[tuple[str, str, Json]]:
    """Every call of a document: its method, its path and what is said of it."""
    return [
        (method.upper(), path, one)
        for path, methods in told["paths"].items()
        for method, one in methods.items()
    ]


def _right(operation: Json) -> str:
    told = operation.get("description", "")
    if found := told.removeprefix("Takes the right to ").rstrip("."):
        return f"`{found}`"
    return "none" if operation.get("security") == [] else "any token"


def _operation(method: str, path: str, one: Json) -> str:
    known_as = f'#{one["operationId"]} data-toc-label="{method} {_brief(path)}"'
    lines = [
        f"## `{method} {path}` {{ {known_as} }}",
        "",
        one["summary"],
        "",
        f"- Right: {_right(one)}",
    ]
    if body := one.get("requestBody"):
        schema = body["content"]["application/json"]["schema"]
        needed = "" if body["required"] else ", which may be left out"
        lines.append(f"- Body: {_shown(schema)}{needed}")
    lines += [f"- Answer: {_answer(status, got)}" for status, got in _answers(one)]
    queries = [part for part in one["parameters"] if part["in"] == "query"]
    lines += [
        f"- Query `{part['name']}`: {part['description']} {_bounds(part['schema'])}".rstrip()
        for part in queries
    ]
    if slugs := _slugs(one):
        lines.append(f"- Problems: {', '.join(f'`{slug}`' for slug in slugs)}")
    return "\n".join(lines) + "\n"


def _row(method: str, path: str, one: Json) -> str:
    call = f"[{_breakable(f'{method} {path}')}](#{one['operationId']})"
    return f"| {call} | {one['summary']} | {_right(one)} |\n"


def _breakable(call: str) -> str:
    """For a table, which may be shown on a narrow screen."""
    return f"<code>{call.replace('/', '/<wbr>')}</code>"


def _brief(path: str) -> str:
    """For the list at the side, where there is little room."""
    return path.replace("/v1/sessions/{session}/", "… ").replace("{", "").replace("}", "")


def _answers(one: Json) -> list[tuple[str, Json]]:
    return [(status, got) for status, got in sorted(one["responses"].items()) if status < "300"]


def _answer(status: str, got: Json) -> str:
    [(media, content)] = got["content"].items()
    is_json = media == "application/json"
    return f"{status}, {_shown(content['schema']) if is_json else f'`{media}`'}"


def _bounds(schema: Json) -> str:
    if "enum" in schema:
        return f"({' or '.join(f'`{one}`' for one in schema['enum'])})"
    if schema.get("type") == "integer":
        return f"(a number from {schema['minimum']:,} to {schema['maximum']:,})"
    return ""


def _slugs(one: Json) -> list[str]:
    """The problems of a call's own."""
    told = " ".join(
        got["description"] for status, got in one["responses"].items() if status > "300"
    )
    return sorted({*re.findall(r"[\w-]+", told)} & TITLES.keys() - _ANYWHERE)


def _problems() -> str:
    rows = "".join(
        f"| `{slug}` | {status} | {title} |\n" for slug, (status, title) in TITLES.items()
    )
    return f"{_PROBLEMS.format(type=TYPE)}{rows}"


def _type(name: str, schema: Json) -> str:
    about = " ".join(schema.get("description", "").split())
    head = f"## {name}\n\n{about}\n" if about else f"## {name}\n"
    if "enum" in schema:
        return f"{head}\nOne of {_shown(schema)}.\n"
    needed = schema.get("required", [])
    rows = "".join(
        f"| `{field}` | {_shown(told)} | {_default(field, told, needed)} |\n"
        for field, told in schema.get("properties", {}).items()
    )
    return f"{head}\n| field | type | |\n|---|---|---|\n{rows}" if rows else head


def _default(field: str, told: Json, needed: list[str]) -> str:
    if field in needed:
        return ""
    default = told.get("default")
    return "may be left out" if default in (None, "", []) else f"default `{json.dumps(default)}`"


def _shown(schema: Json) -> str:  # noqa: PLR0911 - one match
    match schema:
        case {"$ref": str(ref)}:
            name = ref.rpartition("/")[2]
            return f"[{name}](http-types.md#{name.lower()})"
        case {"anyOf": [*several]}:
            return " or ".join(_shown(one) for one in several)
        case {"enum": [*values]}:
            return " or ".join(f"`{value}`" for value in values)
        case {"type": "array", "items": items}:
            return f"list of {_shown(items)}"
        case {"type": "object", "additionalProperties": values}:
            return f"object of {_shown(values)}"
        case {"type": str(kind)}:
            return f"`{kind}`" if kind == "null" else kind
        case _:
            return "anything"
