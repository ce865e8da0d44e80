"""Entries as a kind and a line of JSON, and back.

It is made from the entries' own types, so a new entry or field needs nothing here. A field that
has its default is left out: a default, once there is a file with it, never changes. What cannot
be understood whole is not read at all, because somebody newer meant something by it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NewType,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from lastword.core.cell import StoredCell
from lastword.core.entries import Called, Entry, Result, Said, Text, Thinking
from lastword.core.queue import Standing
from lastword.core.receipt import Receipt
from lastword.errors import StoreError
from lastword.stores.pieces import AT_ONCE, pieces

_Read: TypeAlias = Callable[[Any], Any]
_KINDS: dict[str, type[Any]] = {kind.__name__.lower(): kind for kind in get_args(Entry)}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_SURROGATE = re.compile("[\ud800-\udfff]")


def encode(entry: Entry) -> tuple[str, str]:
    """An entry's kind, and the rest of it as JSON that any database can keep."""
    kind = _NAMES.get(type(entry))
    if kind is None:
        raise StoreError(f"{type(entry).__name__} is not an entry, so it was not stored")
    try:
        body = entry.to_json() if isinstance(entry, Receipt) else _JSON.encode(_plain(entry))
    except (TypeError, ValueError) as error:
        raise StoreError(f"this {kind} cannot be written as JSON: {error}") from error
    return kind, _storable(body)


def encode_large(entry: Entry) -> tuple[str, str]:
    """The same, in pieces: a thread that does it lets others have their turn."""
    if isinstance(entry, Receipt):
        return encode(entry)
    parts = pieces(_plain(entry), _plain, (",", ":"))
    return _NAMES[type(entry)], "".join(map(_storable, parts))


def is_large(entry: Entry) -> bool:
    """Whether it takes a while to encode."""
    match entry:
        case Said(message):
            size = len(message.text) + sum(len(one.data or "") for one in message.attachments)
        case Text(text=text) | Thinking(text=text) | Result(content=text):
            size = len(text)
        case Called(arguments=text):
            size = len(text)
        case _:
            size = 0
    return size > AT_ONCE


def decode(kind: str, body: str) -> Entry:
    """The entry that `encode` took apart."""
    made = _KINDS.get(kind)
    if made is None:
        raise StoreError(
            f"the log has an entry of the kind {kind!r}, which this lastword does not know; "
            "a newer one wrote it, so nothing of the log was read"
        )
    try:
        return made.from_json(body) if made is Receipt else _make(made, json.loads(body))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"the log has a {kind} that this lastword cannot read ({error}); a newer one wrote "
            "it, or it is damaged, so nothing of the log was read"
        ) from error


def encode_standing(standing: Standing) -> str:
    """How a queue stands, as JSON."""
    return _JSON.encode(_plain(standing))


def decode_standing(body: str) -> Standing:
    """What `encode_standing` took apart."""
    try:
        return _make(Standing, json.loads(body))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"how the queue stands cannot be read ({error}); a newer lastword wrote it, or it is "
            "damaged"
        ) from error


def encode_cell(cell: StoredCell) -> str:
    """A cell, as JSON."""
    return _storable(_JSON.encode(_plain(cell)))


def decode_cell(body: str) -> StoredCell:
    """What `encode_cell` took apart."""
    try:
        return _make(StoredCell, json.loads(body))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"a cell cannot be read ({error}); a newer lastword wrote it, or it is damaged"
        ) from error


def _plain(value: object) -> dict[str, object] | str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    kept = ((name, getattr(value, name), default) for name, default in _defaults(type(value)))
    return {name: held for name, held, default in kept if held != default}


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)


@cache
def _defaults(kind: type[Any]) -> tuple[tuple[str, object], ...]:
    return tuple((field.name, field.default) for field in fields(kind))


def _storable(body: str) -> str:
    """Half a character, such as a command may print, is in no encoding; JSON can spell it out."""
    try:
        body.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", body)
    return body


def _make(kind: type[Any], plain: dict[str, Any]) -> Any:  # noqa: ANN401 - what `kind` says
    readers = _readers(kind)
    if unknown := plain.keys() - readers.keys():
        raise ValueError(f"it has {', '.join(sorted(unknown))}")
    return kind(**{name: readers[name](value) for name, value in plain.items()})


@cache
def _readers(kind: type[Any]) -> dict[str, _Read]:
    hints = get_type_hints(kind)
    return {field.name: _reader(hints[field.name]) for field in fields(kind)}


def _reader(hint: Any) -> _Read:  # noqa: ANN401, C901, PLR0911 - any annotation
    """What makes a value of that type of what JSON gives back."""
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(hint, NewType):
        return _reader(hint.__supertype__)
    if is_dataclass(hint):
        made = cast("type[Any]", hint)
        return lambda plain: _make(made, plain)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint
    if origin is tuple and args[1:] == (...,):
        item = _reader(args[0])
        return lambda plain: tuple(map(item, plain))
    if origin is tuple:
        items = tuple(map(_reader, args))
        return lambda plain: tuple(read(one) for read, one in zip(items, plain, strict=True))
    if hint is bytes:
        return base64.b64decode
    if origin in (Union, UnionType) and len(args) == 2 and NoneType in args:
        some = _reader(args[args.index(NoneType) - 1])
        return lambda plain: None if plain is None else some(plain)
    if origin is Literal or hint in (str, int, float, bool):
        return _itself
    raise TypeError(f"an entry cannot have a {hint}: the codec does not know how to read it back")


def _itself(plain: object) -> object:
    return plain
