"""Entries as a kind and a line of JSON, and back.

It is made from the entries' own types, so a new entry or field needs nothing here. A field that
has its default is left out: a default, once there is a file with it, never changes. What cannot
be understood whole is not read at all, because somebody newer meant something by it.
"""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from typing import Any, get_args

from lastword.core.cell import StoredCell
from lastword.core.entries import Called, Entry, Result, Said, Text, Thinking
from lastword.core.plain import from_plain, written
from lastword.core.queue import Standing
from lastword.core.receipt import Receipt
from lastword.errors import StoreError
from lastword.stores.pieces import AT_ONCE, pieces

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
        return made.from_json(body) if made is Receipt else from_plain(made, json.loads(body))
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
        return from_plain(Standing, json.loads(body))
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
        return from_plain(StoredCell, json.loads(body))
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
    return tuple((field.name, field.default) for field in written(kind))


def _storable(body: str) -> str:
    """Half a character, such as a command may print, is in no encoding; JSON can spell it out."""
    try:
        body.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", body)
    return body
