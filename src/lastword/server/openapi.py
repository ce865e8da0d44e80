"""What can be asked, as an OpenAPI 3.1 document, made from the table of operations."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any

import msgspec

from lastword.server import wire
from lastword.server.change_wire import Changes, Closed, Snapshot
from lastword.server.operation import Operation
from lastword.server.operations import OPERATIONS
from lastword.server.problems import TITLES

_PART = re.compile(r"{(\w+)}")
_PROBLEM = "application/problem+json"
_ALWAYS = ("bad-request", "wrong-host", "wrong-origin", "internal")


def document() -> dict[str, Any]:
    """The document."""
    kinds = {one.gives for one in OPERATIONS if not isinstance(one.gives, str)}
    kinds |= {one.takes for one in OPERATIONS if one.takes}
    kinds |= {wire.Problem, Snapshot, Changes, Closed, wire.EntryOut, wire.Stopped}
    ordered = sorted(kinds, key=lambda kind: kind.__name__)
    schemas, components = msgspec.json.schema_components(
        ordered, ref_template="#/components/schemas/{name}"
    )
    refs = dict(zip(ordered, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _told(operation, refs)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "lastword",
            "version": metadata.version("lastword"),
            "description": "Sessions with an agent in which the person has the last word.",
        },
        "paths": paths,
        "components": {
            "schemas": msgspec.json.decode(msgspec.json.encode(components)),  # no tuples in it
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _told(operation: Operation, refs: dict[type[Any], Any]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.about,
        "parameters": _parameters(operation),
        "responses": _responses(operation, refs),
    }
    if operation.right:
        told["description"] = f"Takes the right to {operation.right}."
    if operation.open:
        told["security"] = []
    if operation.takes:
        told["requestBody"] = {
            "required": operation.needs_body,
            "content": {"application/json": {"schema": refs[operation.takes]}},
        }
    return told


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    name = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[^/#\\]+$"}
    parts = [
        {"name": part, "in": "path", "required": True, "schema": name}
        for part in _PART.findall(operation.path)
    ]
    queries = [
        {"name": one.name, "in": "query", "description": one.about, "schema": one.schema}
        for one in operation.query
    ]
    return [*parts, *queries]


def _responses(operation: Operation, refs: dict[type[Any], Any]) -> dict[str, Any]:
    gives = operation.gives
    content = (
        {gives: {"schema": {"type": "string"}}}
        if isinstance(gives, str)
        else {"application/json": {"schema": refs[gives]}}
    )
    told = {str(operation.status): {"description": operation.about, "content": content}}
    if operation.takes is wire.MessageIn:
        heeded = {"application/json": {"schema": refs[wire.Stopped]}}
        told["200"] = {"description": "It was heeded as a stop.", "content": heeded}
    slugs = {*_ALWAYS, *operation.problems, "too-many"}
    slugs |= set() if operation.open else {"unauthorized", "forbidden"}
    if operation.takes:
        slugs |= {"too-large", "unsupported-media-type", "too-slow"}
    by_status: dict[int, list[str]] = {}
    for slug in sorted(slugs):
        by_status.setdefault(TITLES[slug][0], []).append(slug)
    for status, named in sorted(by_status.items()):
        told[str(status)] = {
            "description": f"Problems: {', '.join(named)}.",
            "content": {_PROBLEM: {"schema": refs[wire.Problem]}},
        }
    return told
