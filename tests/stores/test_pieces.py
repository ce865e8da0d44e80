"""JSON in pieces says what `json.dumps` says, and looks no further than it has to."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from lastword.core.entries import Called, Entry, Result, Said, Text
from lastword.core.model import Attachment, CallId, Message, MessageId, RunId, Status
from lastword.stores.codec import decode, encode, encode_large, is_large
from lastword.stores.pieces import AT_ONCE, pieces
from lastword.stores.pieces import is_large as large

LONG = 'wörd € \ud83d\\ "quoted" \n' * AT_ONCE
VALUES: list[Any] = [
    *(None, True, 1, -1.5, float("inf"), 1e300, "", "wörd", LONG, [], {}, ()),
    [1, [2, {"three": (4, None)}], LONG],
    {"a": 1, 2: "b", None: [], True: {}, 1.5: LONG},
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_the_pieces_together_are_what_json_says(value: object) -> None:
    assert "".join(pieces(value)) == json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("value", [{1, 2}, [b"bytes"], {(1, 2): 3}, {"a": {"b": object()}}])
def test_what_has_no_json_is_refused_as_json_refuses_it(value: object) -> None:
    with pytest.raises(TypeError):
        json.dumps(value)
    with pytest.raises(TypeError):
        "".join(pieces(value))


def test_whoever_needs_only_the_beginning_reads_only_that() -> None:
    class Items(list[int]):
        read = 0

        def __iter__(self) -> Iterator[int]:
            for item in super().__iter__():
                self.read += 1
                yield item

    many = Items(range(1_000_000))
    said = pieces({"items": many})
    assert "".join(next(said) for _ in range(20)).startswith('{"items": [0, 1, 2')
    assert many.read < 20


@pytest.mark.parametrize(
    "value", ["x" * 101, ["x" * 60, "y" * 60], {"x" * 101: 1}, list(range(101)), [[[b"x" * 101]]]]
)
def test_what_is_large_is_known_without_encoding_it(value: object) -> None:
    assert large(value, 100)


@pytest.mark.parametrize("value", ["x" * 90, ["x" * 30, "y" * 30], {"x": 1}, list(range(90)), 1.5])
def test_what_is_small_is_not_large(value: object) -> None:
    assert not large(value, 100)


RUN = RunId("s#1")
ENTRIES: list[Entry] = [
    Said(Message(MessageId("m1"), LONG), RUN),
    Said(Message(MessageId("m1"), "", attachments=(Attachment("a/b", data=LONG),)), RUN),
    Text(RUN, LONG),
    Called(RUN, CallId("c"), "tool", LONG),
    Result(RUN, CallId("c"), Status.COMPLETED, LONG),
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: type(entry).__name__)
def test_a_large_entry_is_stored_as_any_other(entry: Entry) -> None:
    assert is_large(entry)
    assert encode_large(entry) == encode(entry)
    kind, body = encode_large(entry)
    assert decode(kind, body) == entry
