"""JSON-RPC, a message in a line: what comes is taken apart, and what is wrong with it is said.

Nothing here waits, and nothing that comes can end the conversation: a line that cannot be read is
answered with the error that JSON-RPC has for it, and the next line is another matter.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, TypeAlias, cast

from lastword.core.value import value

PARSE, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
CANCELLED, NOT_FOUND = -32800, -32002
LONGEST = 64 << 20  # bytes of a line

Id: TypeAlias = int | str | None
Params: TypeAlias = dict[str, Any]
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_SURROGATES = re.compile("[\ud800-\udfff]")


class RpcError(Exception):
    """What a request is answered with that cannot be done."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@value
class RpcRequest:
    """The other side wants an answer."""

    id: Id
    method: str
    params: Params


@value
class Notification:
    """The other side wants none."""

    method: str
    params: Params


@value
class RpcReply:
    """To something that was asked from here."""

    id: Id
    result: object = None
    error: RpcError | None = None


@value
class Bad:
    """Not a message; with the id that its error goes to."""

    id: Id
    error: RpcError


Incoming: TypeAlias = RpcRequest | Notification | RpcReply | Bad


class Lines:
    """Cuts what comes into lines. One that is too long is passed over to its end, and counted."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._length = 0
        self._passing_over = False

    def feed(self, data: bytes) -> list[bytes | None]:
        """The lines that are whole now; None for one that was too long."""
        *ends, rest = data.split(b"\n")
        lines: list[bytes | None] = []
        for end in ends:
            self._add(end)
            lines.append(None if self._passing_over else b"".join(self._parts))
            self._parts, self._length, self._passing_over = [], 0, False
        self._add(rest)
        return lines

    def _add(self, part: bytes) -> None:
        self._length += len(part)
        if self._length > self._longest:
            self._parts, self._passing_over = [], True
        elif part:
            self._parts.append(part)


def read(line: bytes | None) -> list[Incoming]:
    """What a line says; several things if it is a batch, none if it is empty."""
    if line is None:
        return [Bad(None, RpcError(INVALID_REQUEST, f"a message may have {LONGEST >> 20} MB"))]
    if not line.strip():
        return []
    try:
        said = cast("object", json.loads(line.decode()))
    except (ValueError, RecursionError) as error:
        return [Bad(None, RpcError(PARSE, f"this is not JSON: {_short(str(error))}"))]
    if isinstance(said, list):
        batch = cast("list[object]", said)
        return [_message(one) for one in batch] or [_not("an empty batch")]
    return [_message(said)]


def _message(said: object) -> Incoming:  # noqa: PLR0911 - one for each thing that it may be
    if not isinstance(said, dict):
        return _not(f"a {type(said).__name__}")
    message = cast("dict[str, Any]", said)
    id_ = message.get("id")
    if isinstance(id_, bool) or not isinstance(id_, int | str | None):
        return _not(f"a message with a {type(id_).__name__} for an id")
    if message.get("jsonrpc") != "2.0":
        return _not('a message without "jsonrpc": "2.0"', id_)
    method, params = message.get("method"), message.get("params")
    if method is None and "id" in message and ("result" in message or "error" in message):
        return RpcReply(id_, message.get("result"), _error(message.get("error")))
    if not isinstance(method, str):
        return _not("a message without a method", id_)
    if not isinstance(params, dict | None):
        why = RpcError(INVALID_PARAMS, f"params of {_short(method)} must be an object")
        return Bad(id_, why) if "id" in message else Notification("", {})
    given = cast("Params", params or {})
    return RpcRequest(id_, method, given) if "id" in message else Notification(method, given)


def _error(said: object) -> RpcError | None:
    if said is None:
        return None
    plain = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
    code = plain.get("code")
    return RpcError(code if isinstance(code, int) else INTERNAL, str(plain.get("message", said)))


def _not(what: str, id_: Id = None) -> Bad:
    return Bad(id_, RpcError(INVALID_REQUEST, f"{what} is not a JSON-RPC message"))


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"


# what is said


def line_of(message: Params) -> bytes:
    """A message as it is written. What no text can hold has a mark in its place."""
    text = _encode({"jsonrpc": "2.0", **message})
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:
        return (_SURROGATES.sub("\ufffd", text) + "\n").encode()


def error_of(error: RpcError) -> Params:
    """An error as it is written."""
    plain: Params = {"code": error.code, "message": error.message}
    return plain if error.data is None else plain | {"data": error.data}


class Field(NamedTuple):
    """What a parameter has to be."""

    kind: type | tuple[type, ...]
    called: str


TEXT, LIST, OBJECT = Field(str, "a string"), Field(list, "a list"), Field(dict, "an object")


def take(params: Params, name: str, field: Field, default: object = ...) -> Any:  # noqa: ANN401 - of the kind asked for
    """A parameter, which must be of its kind; left out only if there is a default."""
    found = params.get(name)
    if found is None and default is not ...:
        return default
    if not isinstance(found, field.kind) or isinstance(found, bool):
        why = f"it is {_short(repr(found))}" if name in params else "it is missing"
        raise RpcError(INVALID_PARAMS, f"{name} must be {field.called}; {why}")
    return found
