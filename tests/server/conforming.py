"""Whether answers are what the OpenAPI document says of them."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import jsonschema_rs

from lastword.server.openapi import document
from tests.server.client import Answer


@cache
def told() -> dict[str, Any]:
    """The document."""
    return document()


@cache
def validator(name: str) -> jsonschema_rs.Draft202012Validator:
    """For one of the document's schemas."""
    return of_schema({"$ref": f"#/components/schemas/{name}"})


def of_schema(schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """For a schema that may name others of the document."""
    return jsonschema_rs.Draft202012Validator({**schema, "components": told()["components"]})


@cache
def _paths() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    # a fixed word in a path comes before a name
    ordered = sorted(told()["paths"].items(), key=lambda path: path[0].count("{"))
    return [(re.compile(re.sub(r"{\w+}", "[^/]+", path)), ways) for path, ways in ordered]


@cache
def _answers(method: str, path: str) -> dict[str, Any] | None:
    for known, ways in _paths():
        if known.fullmatch(path):
            way = ways.get(method.lower())
            return way["responses"] if way else None
    return None


def must_conform(method: str, target: str, answer: Answer) -> None:
    """An error if something was answered that the document does not tell of."""
    known = _answers(method, target.partition("?")[0])
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if kind == "application/problem+json":
        validator("Problem").validate(answer.json)
    if known is None or answer.status >= 400:
        return
    asked = f"{method} {target}"
    assert str(answer.status) in known, f"{asked} is not documented to answer {answer.status}"
    content = known[str(answer.status)]["content"]
    assert kind in content, f"{asked} is not documented to answer with {kind}"
    if kind == "application/json":
        of_schema(content[kind]["schema"]).validate(answer.json)
