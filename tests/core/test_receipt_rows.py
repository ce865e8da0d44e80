"""Whatever a receipt holds is in a row, and every way to tell it is made of those rows."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lastword.core.model import Generation, Reason, SessionId
from lastword.core.plain import written
from lastword.core.receipt import CellReport, Receipt, Unconfirmed
from lastword.core.rows import at_length, headline, in_brief, noteworthy
from tests.core.filled import BASE, receipts

FOR_PROGRAMS = {"fenced_at"}  # a surface says when, in the reader's own time
EVERY = [(name, one) for name, one in receipts() if one != BASE]
LEVELS = {"level"}  # it is told with the processes that it held
ISOLATED = {"isolated"}  # of those runs there is nothing that cannot be seen


@pytest.mark.scenario("W51", part="core")
def test_every_field_of_a_receipt_is_told_in_a_row() -> None:
    told = {name for name, one in EVERY if one.rows() != BASE.rows()}
    held = {name for name in LEVELS if _with_processes(name).rows() != _processes().rows()}

    whole = ISOLATED if replace(BASE, isolated=BASE.runs).rows() != BASE.rows() else set[str]()

    assert told | held | whole | FOR_PROGRAMS == {field.name for field in written(Receipt)}


@pytest.mark.scenario("W51", part="core")
def test_each_fate_is_told_apart_from_the_others() -> None:
    for field in written(Receipt):
        several = [one.rows() for name, one in EVERY if name == field.name]
        assert len(set(several)) == len(several), field.name


@pytest.mark.scenario("W51", part="core")
def test_what_is_said_in_short_and_in_full_is_what_the_rows_say() -> None:
    for _, receipt in EVERY:
        rows = receipt.rows()
        full, brief = str(receipt), " ".join(in_brief(rows))
        for row in rows:
            assert row.words, row
            assert row.words in full
            assert row.tone == "fine" or row.brief in brief
        assert full.startswith(headline(rows))
        assert receipt.words == at_length(receipt.rows(ids=False))


@pytest.mark.scenario("W51", part="core")
def test_a_stop_that_only_froze_a_program_says_what_it_ended() -> None:
    frozen = Receipt(
        SessionId("s"),
        Generation(4),
        Reason.STOPPED,
        1000.0,
        took=0.012,
        cells=(CellReport("c1", 2, ("shell",)), CellReport("c2", 1, ())),
    )

    assert in_brief(frozen.rows(ids=False)) == [
        "Stopped: 2 programs frozen, quiet after 12 ms. "
        "Programs frozen: one that waited on shell, one that was running."
    ]


@pytest.mark.scenario("W51", part="core")
def test_a_receipt_from_the_log_of_what_has_ended_since_claims_no_more_than_that() -> None:
    left = replace(BASE, unconfirmed=(Unconfirmed("tool", "deploy"),))

    rows = left.rows(ids=False, settled=True)

    assert headline(rows) == "Stopped: 1 answer cut off, quiet by now."
    assert "still ending: tool deploy" in at_length(left.rows())
    assert "ended only later: tool deploy" in at_length(rows)
    assert {row.tone for row in rows} == {"fine", "news"}
    assert BASE.rows(settled=True) == BASE.rows()
    elsewhere = replace(BASE, unconfirmed=(Unconfirmed("session", "another process has it"),))
    assert elsewhere.rows(settled=True) == elsewhere.rows()  # of that, nothing is known here


def test_an_answer_that_was_cut_off_and_nothing_else_is_not_worth_a_word() -> None:
    assert not noteworthy(BASE.rows())
    worth = {name for name, one in EVERY if noteworthy(one.rows())}
    assert {"children", "processes", "cells", "messages", "unconfirmed", "durable"} <= worth


@pytest.mark.scenario("W51", part="core")
def test_every_field_survives_json() -> None:
    for name, receipt in EVERY:
        assert Receipt.from_json(receipt.to_json()) == receipt, name
        assert receipt.to_dict() == json.loads(receipt.to_json())
        assert receipt.to_dict().keys() == {"quiet", *(one.name for one in written(Receipt))}


def test_json_with_a_field_that_nobody_knows_is_no_receipt() -> None:
    told = json.dumps(BASE.to_dict() | {"tomorrow": 1})

    with pytest.raises(ValueError, match="tomorrow"):
        Receipt.from_json(told)


def _processes() -> Receipt:
    return next(one for name, one in EVERY if name == "processes")


def _with_processes(name: str) -> Receipt:
    [value] = [getattr(one, name) for field, one in EVERY if field == name]
    return replace(_processes(), **{name: value})
