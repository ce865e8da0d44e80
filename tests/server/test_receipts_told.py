"""A receipt on the wire: every field of it, in rows, with the names that its principal knows."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any, cast

import msgspec
import pytest

from lastword import Run, Runtime
from lastword.core.plain import written
from lastword.core.receipt import Receipt
from lastword.server.shapes import Shapes, encode, unread
from lastword.server.wire import ReceiptOut
from tests.core.filled import receipts
from tests.promise.workshop import until
from tests.server.client import served

BESIDES = {"idle", "quiet", "words", "rows"}
NO_SECRET = {"level"}  # how strictly processes are held is said to whoever stops
SEEN = {"calls": {"name"}, "answers": {"name", "by"}, "messages": {"by"}, "cells": {"cell"}}


@pytest.mark.scenario("W51", part="server")
def test_the_wire_has_every_field_of_a_receipt_and_its_rows() -> None:
    names = {field.name for field in msgspec.structs.fields(ReceiptOut)}
    assert names == BESIDES | {field.name for field in written(Receipt)}

    for name, receipt in receipts():
        told = json.loads(encode(Shapes("").receipt(receipt)))
        if name != "messages":  # which are told without what is attached to them
            assert told[name] == receipt.to_dict()[name]
        assert told["words"] == str(receipt)
        assert [row["words"] for row in told["rows"]] == [
            row.words for row in receipt.rows(ids=False)
        ]


@pytest.mark.scenario("W51", part="server")
def test_no_id_on_the_wire_has_the_principals_space_in_it() -> None:
    for name, receipt in receipts(ids="bob/s#1"):
        if name != "messages":
            assert b"bob/" not in encode(Shapes("bob/").receipt(receipt)), name
        assert b"bob/" in encode(Shapes("").receipt(receipt)) or "bob/" not in repr(receipt)


@pytest.mark.scenario("W12", part="server")
def test_who_may_not_read_is_told_no_words_of_any_field() -> None:
    for name, receipt in receipts(words="secret"):
        if name not in NO_SECRET:
            told = unread(receipt)
            assert "secret" not in _words(told.to_dict()[name], SEEN.get(name, set())), name
            assert told.rows() == unread(told).rows()


@pytest.mark.scenario("W51", part="server")
async def test_what_has_ended_since_is_told_so_wherever_its_receipt_is_read() -> None:
    ends, called = threading.Event(), asyncio.Event()

    async def engine(run: Run) -> None:
        loop = asyncio.get_running_loop()

        def deaf() -> None:
            loop.call_soon_threadsafe(called.set)
            ends.wait()

        await run.call(deaf)

    async with (
        Runtime(engine, deadline=0.1, grace=0.05) as runtime,
        served(runtime) as client,
    ):
        await client.send("s", "go")
        await called.wait()
        first = await client.stop("s")
        before = (await client.get("/v1/sessions/s/receipts")).json["receipts"]
        ends.set()
        await until(lambda: not runtime.session("s").ending)
        async with client.events("s") as anew:
            snapshot = await anext(anew)
        past = (await client.get("/v1/sessions/s/past")).json
        listed = (await client.get("/v1/sessions/s/receipts")).json["receipts"]

    assert "still ending" in first["words"]
    assert [_ending(one) for one in before] == [("not all quiet yet", "still ending")]
    items = [item["receipt"] for item in snapshot["items"] if item["kind"] == "receipt"]
    items += [item["receipt"] for item in past["items"] if item["kind"] == "receipt"]
    assert [_ending(one) for one in (*items, *listed)] == [("quiet by now", "ended only later")] * 3
    assert all("still ending" not in one["words"] for one in (*items, *listed))


def _ending(receipt: Any) -> tuple[str, str]:
    rows = {row["kind"]: row for row in receipt["rows"]}
    return rows["quiet"]["words"], rows["ending"]["label"]


def _words(plain: Any, seen: set[str]) -> set[str]:
    """All that is said in it, but for what may be seen."""
    if isinstance(plain, str):
        return {plain}
    if isinstance(plain, dict):
        named = cast("dict[str, Any]", plain)
        return _words([value for key, value in named.items() if key not in seen], seen)
    if isinstance(plain, list):
        return set[str]().union(*(_words(one, seen) for one in cast("list[Any]", plain)))
    return set()
