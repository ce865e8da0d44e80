"""Results and errors of tools, as the log keeps them and a later model is shown them.

A file in a result is shown to the model while the run lasts. The log has its name: no later
request carries it as letters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic_ai.exceptions import ModelRetry, ToolFailed, ToolFailedError, ToolRetryError
from pydantic_ai.messages import (
    BinaryContent,
    FileUrl,
    RetryFeedbackPart,
    TextContent,
    ToolReturn,
    ToolReturnPart,
    UploadedFile,
)
from pydantic_core import to_json

from lastword.engines.pydantic_ai.files import named
from lastword.engines.pydantic_ai.sendable import readable, safe_part, said_of_itself
from lastword.runtime.checks import encodable

_DATA = re.compile(r"[A-Za-z0-9+/_-]{1000,}={0,2}")  # bytes in a value, as JSON has them


def rendered(result: object) -> str:
    """A result: what the tool gave, and what it gave beside it."""
    if not isinstance(result, ToolReturn):
        return _text(result)
    beside: Any = result.content
    pieces = [result.return_value, *([beside] if isinstance(beside, str) else beside or ())]
    return "\n".join(text for piece in pieces if (text := _text(piece)).strip())


def explained(error: Exception | ToolReturnPart) -> str:
    """An error, in the words that the model is told."""
    if isinstance(error, ToolRetryError | ToolFailedError):
        told = error.tool_retry if isinstance(error, ToolRetryError) else error.tool_failed
        return explained(told) if isinstance(told, ToolReturnPart) else _feedback(told)
    if isinstance(error, ToolReturnPart):
        told = safe_part(readable(error))
        return encodable(told.model_response_str(wrap_if_error=False))
    return encodable(error.message) if isinstance(error, ModelRetry | ToolFailed) else repr(error)


def _feedback(told: RetryFeedbackPart) -> str:
    return encodable(told.content if isinstance(told.content, str) else told.model_response())


def _text(value: object) -> str:
    try:
        value = _without_files(value)
        if isinstance(value, str):
            return encodable(value)
        return _DATA.sub(_counted, to_json(value, fallback=repr).decode())
    except Exception:  # noqa: BLE001 - half of a character, no end, or what its own `repr` raises
        return said_of_itself(value)


def _counted(data: re.Match[str]) -> str:
    return f"[{len(data[0])} characters of data]"


def _without_files(value: object) -> object:
    """The value, in which files are their names."""
    match value:
        case BinaryContent() | FileUrl() | UploadedFile():
            return f"[{named(value)}]"
        case TextContent():
            return value.content
        case bytes() | bytearray():
            return f"[{len(value)} bytes]"
        case Mapping():
            pairs = cast("Mapping[object, object]", value)
            return {key: _without_files(item) for key, item in pairs.items()}
        case list() | tuple():
            items = cast("Sequence[object]", value)
            return [_without_files(item) for item in items]
        case _:
            return value
