"""Entries as JSON, and back: the same, whatever they hold; and what a file has today stays."""

import json
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any, NewType, cast, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastword.core.cell import StoredCell
from lastword.core.entries import Called, Entry, Finished, Native, Result, Said, Text
from lastword.core.model import (
    Attachment,
    CallId,
    Message,
    MessageId,
    Outcome,
    RunId,
    Status,
)
from lastword.core.receipt import Receipt
from lastword.errors import StoreError
from lastword.stores.codec import decode, decode_cell, encode, encode_cell

KINDS: tuple[type[Any], ...] = get_args(Entry)
RUN = RunId("s#1")


def of(hint: Any) -> st.SearchStrategy[Any]:  # noqa: PLR0911 - one for each kind of type
    """Values of a type, every field filled."""
    if isinstance(hint, NewType):
        return of(hint.__supertype__)
    if is_dataclass(hint) and isinstance(hint, type):
        hints = get_type_hints(hint)
        names = [field.name for field in fields(hint) if field.name != "later"]
        return st.builds(hint, **{name: of(hints[name]) for name in names})
    if get_origin(hint) is tuple and get_args(hint)[1:] != (...,):
        return st.tuples(*map(of, get_args(hint)))
    if get_origin(hint) is tuple:
        return st.lists(of(get_args(hint)[0]), max_size=3).map(tuple)
    if NoneType in get_args(hint):
        some = [of(arg) for arg in get_args(hint) if arg is not NoneType]
        return st.none() | st.one_of(some)
    plain = cast("type[Any]", hint)
    if plain is float:
        return st.floats(allow_nan=False).map(lambda number: number + 0.0)  # there is no time -0.0
    return st.from_type(plain)


@settings(deadline=None)
@given(cell=of(StoredCell))
def test_a_cell_that_was_taken_apart_is_put_together_the_same(cell: StoredCell) -> None:
    assert decode_cell(encode_cell(cell)) == cell


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(deadline=None)
@given(data=st.data())
def test_what_was_taken_apart_is_put_together_the_same(
    kind: type[Any], data: st.DataObject
) -> None:
    entry = data.draw(of(kind))
    name, body = encode(entry)
    again = decode(name, body)

    assert again == entry
    assert type(again) is kind
    assert repr(again) == repr(entry)
    assert "\n" not in body


@pytest.mark.parametrize(
    ("entry", "kind", "plain"),
    [
        (
            Said(Message(MessageId("m1"), "hi", attachments=(Attachment("text/plain", "x"),)), RUN),
            "said",
            {
                "message": {
                    "id": "m1",
                    "text": "hi",
                    "attachments": [{"media_type": "text/plain", "data": "x"}],
                },
                "run": "s#1",
            },
        ),
        (Text(RUN, "yes"), "text", {"run": "s#1", "text": "yes"}),
        (
            Called(RUN, CallId("c1"), "rm", "{}", "read_only", Native("e", "d")),
            "called",
            {
                "run": "s#1",
                "call": "c1",
                "name": "rm",
                "arguments": "{}",
                "nature": "read_only",
                "native": {"engine": "e", "data": "d"},
            },
        ),
        (
            Result(RUN, CallId("c1"), Status.MAY_HAVE_EXECUTED),
            "result",
            {"run": "s#1", "call": "c1", "status": "may have executed"},
        ),
        (
            Finished(RUN, Outcome.LOST, (MessageId("m1"),), started=True),
            "finished",
            {"run": "s#1", "outcome": "lost", "messages": ["m1"], "started": True},
        ),
    ],
)
def test_what_files_hold_today_is_still_read(
    entry: Entry, kind: str, plain: dict[str, object]
) -> None:
    name, body = encode(entry)

    assert (name, json.loads(body)) == (kind, plain)
    assert decode(kind, json.dumps(plain)) == entry


def test_no_kind_changes_its_name() -> None:
    known = {"said", "began", "text", "thinking", "called", "result", "note", "summary"}

    assert known | {"finished", "receipt"} <= {kind.__name__.lower() for kind in KINDS}


def test_half_a_character_is_kept_in_a_form_that_every_database_takes() -> None:
    entry = Text(RUN, "caf\udce9 und \ud800 …")
    _, body = encode(entry)

    assert body.encode()
    assert decode("text", body) == entry


@pytest.mark.parametrize(
    ("kind", "body", "why"),
    [
        ("telepathy", "{}", "kind 'telepathy', which this lastword does not know; a newer one"),
        ("text", '{"run": "r", "text": "x", "mood": "sad"}', "it has mood.*a newer one wrote it"),
        ("text", '{"run": "r"}', "a text that this lastword cannot read"),
        ("text", "[]", "a text that this lastword cannot read"),
        ("text", '{"run": ', "a text that this lastword cannot read"),
        ("result", '{"run": "r", "call": "c", "status": "sung"}', "'sung' is not a valid Status"),
        ("receipt", "{}", "a receipt that this lastword cannot read"),
    ],
)
def test_what_cannot_be_understood_whole_is_not_read(kind: str, body: str, why: str) -> None:
    with pytest.raises(StoreError, match=why):
        decode(kind, body)


def test_what_is_not_an_entry_or_not_json_is_not_stored() -> None:
    with pytest.raises(StoreError, match="Native is not an entry"):
        encode(Native("e", "d"))  # pyright: ignore[reportArgumentType] - callers may be untyped
    with pytest.raises(StoreError, match="this text cannot be written as JSON"):
        encode(Text(RUN, {"a", "set"}))  # pyright: ignore[reportArgumentType] - the same


def test_receipts_are_among_the_kinds() -> None:
    assert Receipt in KINDS
