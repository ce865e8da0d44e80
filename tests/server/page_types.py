"""What goes over the wire, as the page's modules are checked against it: TypeScript, made from the
schemas that the server's OpenAPI document has. Run, it writes the file anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lastword.server
from lastword.server.openapi import document

FILE = Path(lastword.server.__file__).parent / "page" / "told.d.ts"
_HEAD = """\
// What goes over the wire, made of the server's own types by tests/server/page_types.py.
// A test holds it to them. It is not served: only the type checker reads it.
"""
_NAMES = {"integer": "number"}  # where TypeScript has another one


def written() -> str:
    """The file's text."""
    schemas: dict[str, dict[str, Any]] = document()["components"]["schemas"]
    return "\n".join([_HEAD, *(_named(name, schemas[name]) for name in sorted(schemas))])


def _named(name: str, schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return f"export type {name} = {_type(schema)};\n"
    needed = schema.get("required", [])
    fields = [
        f"  {field}{'' if field in needed else '?'}: {_type(about)};\n"
        for field, about in schema.get("properties", {}).items()
    ]
    return f"export interface {name} {{\n{''.join(fields)}}}\n"


def _type(schema: dict[str, Any]) -> str:
    match schema:
        case {"$ref": str(ref)}:
            told = ref.rpartition("/")[2]
        case {"anyOf": [*several]}:
            told = " | ".join(_type(one) for one in several)
        case {"enum": [*values]}:
            told = " | ".join(json.dumps(value) for value in values)
        case {"type": "array", "items": items}:
            told = f"Array<{_type(items)}>"
        case {"type": "object", "additionalProperties": values}:
            told = f"Record<string, {_type(values)}>"
        case {"type": str(kind)}:
            told = _NAMES.get(kind, kind)
        case _:
            told = "unknown"
    return told


if __name__ == "__main__":
    FILE.write_text(written())
