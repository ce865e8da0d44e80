"""What the CLI says of results and files, in the words that the log keeps and a model reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from lastword.engines.kit.files import Content, File, PictureLink


def content_in_words(content: object) -> str:
    """A tool's result: a text, or blocks; what is no text, by what it is."""
    if isinstance(content, str) or content is None:
        return content or ""
    if isinstance(content, list):
        return "\n".join(map(_block, cast("list[object]", content)))
    if isinstance(content, Mapping) and "stdout" in content:  # of a command
        given = cast("Mapping[str, Any]", content)
        return "\n".join(part for part in (given["stdout"], given.get("stderr")) if part)
    return json.dumps(content, ensure_ascii=False, default=str)


def in_brackets(part: Content) -> str:
    """A part of a message, where only words can stand."""
    match part:
        case File():
            return f"[{part.title} cannot be shown here]"
        case PictureLink():
            return f"[{part.url}]"
        case _:
            return part


def _block(block: object) -> str:
    if not isinstance(block, Mapping):
        return str(block)
    given = cast("Mapping[str, Any]", block)
    if isinstance(text := given.get("text"), str):
        return text
    source = cast("Mapping[str, Any]", given.get("source") or given)
    return f"[{source.get('media_type') or source.get('mimeType') or given.get('type')}]"
