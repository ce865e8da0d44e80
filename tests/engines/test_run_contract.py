"""The contract of `Run`: the same stories, whether its engine is here or in a process of its own.

They are told once. What a person hears, what is in the log, and what a receipt says are the same.
"""

from __future__ import annotations

import ast
import json
import logging
from pathlib import Path

import pytest

from lastword import Outcome, Status, Ticket
from lastword.core.asks import Answer
from lastword.core.entries import Called, Declined, LeftOut, Result, Text, Thinking, Used
from lastword.core.story import Typing
from tests.engines.contract import Place, asked
from tests.promise.workshop import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_it_speaks_thinks_types_and_tells_of_its_progress(place: Place) -> None:
    session = await place.told("speaks")

    assert place.said(session) == "one two three four"
    kinds = list(dict.fromkeys(place.kinds(session)))
    assert kinds == ["typing", "text", "progress", "thinking"]
    told = [one.fact for one in place.heard if one.session == session.id]
    assert [mark.on for mark in told if isinstance(mark, Typing)] == [True, False]
    [thought] = await place.log(session, Thinking)
    assert (thought.text, thought.native.data) == ("hm", "sealed")
    assert (await place.log(session, Text))[-1].native.data == "whole"


@pytest.mark.scenario("Z18")
async def test_a_text_may_be_longer_than_what_goes_over_a_line_at_once(place: Place) -> None:
    session = await place.told("speaks_long")

    long = "é" * 700_000
    said = place.said(session)
    assert said == f"{long}{long} is here"
    [thought] = await place.log(session, Thinking)
    assert (thought.text, thought.native.data) == (long, long)


async def test_it_knows_what_it_answers_and_for_whom(place: Place) -> None:
    session = await place.told("knows_itself")

    said = json.loads(place.said(session))
    assert said == {
        "text": "knows_itself",
        "by": "Ann",
        "session": "knows_itself",
        "sessions": ["knows_itself"],
        "above": None,
        "messages": ["knows_itself"],
        "history": [["user", "knows_itself"]],
        "current": True,
        "token": ["knows_itself", said["generation"]],
        "generation": said["generation"],
    }


async def test_its_calls_are_in_the_ledger_with_what_came_of_them(place: Place) -> None:
    session = await place.told("calls")

    got = ["soap is here", 3, 2, "secret is here", 1, "no soap"]
    assert ast.literal_eval(place.said(session)) == got
    called = {one.call: one for one in await place.log(session, Called)}
    results = [(called[one.call].name, one) for one in await place.log(session, Result)]
    assert [(name, one.status.value, one.content, one.error) for name, one in results] == [
        ("lookup", "completed", "soap is here", False),
        ("count", "completed", "3", False),
        ("count", "completed", "2", False),
        ("find", "completed", "secret is here", False),
        ("count", "completed", "1", False),
        ("fails", "completed", "ValueError('no soap')", True),
        ("later", "not started", "not now", True),
    ]
    by_name = {one.name: one for one in called.values()}
    assert json.loads(by_name["find"].arguments) == {"what": "it"}
    assert json.loads(by_name["lookup"].arguments) == {"name": "soap"}
    assert (by_name["later"].nature, by_name["later"].native.data) == ("inner", "id-7")


async def test_a_call_may_be_carried_out_late_elsewhere_or_not_yet(place: Place) -> None:
    session = await place.told("carried_out_elsewhere")

    assert place.said(session) == "walked"
    results = await place.log(session, Result)
    assert [(one.status.value, one.content) for one in results] == [
        ("completed", "painted"),
        ("completed", "walked"),
        ("not started", "nobody came"),
    ]


async def test_of_a_call_that_its_engine_cancels_nobody_says_that_it_ended(place: Place) -> None:
    session = await place.told("cancels_its_own_call")

    [result] = await place.log(session, Result)
    assert result.status is Status.MAY_HAVE_EXECUTED


async def test_an_idempotent_call_has_the_key_that_is_in_the_log(place: Place) -> None:
    session = await place.told("idempotent")

    [called] = await place.log(session, Called)
    assert called.key
    assert place.said(session) == called.key


async def test_what_it_posts_is_written_down_as_that(place: Place) -> None:
    session = await place.told("posts")

    [called] = await place.log(session, Called)
    assert (called.name, called.nature, place.said(session)) == ("mail", "post", "dear all")


async def test_what_is_asked_before_a_tool_is_asked_in_the_host(place: Place) -> None:
    session = await place.told("forbidden")

    assert place.said(session) == "no: it is forbidden"
    [result] = await place.log(session, Result)
    assert result.status is Status.NOT_STARTED


@pytest.mark.parametrize(("story", "said"), [("own_sink", "mine"), ("helpers", "True 2")])
async def test_what_is_only_work_is_done_where_the_engine_is(
    place: Place, story: str, said: str
) -> None:
    assert place.said(await place.told(story)) == said


async def test_it_takes_what_was_sent_to_steer_it(place: Place) -> None:
    session = place.session("steered")
    ticket = await session.send("steered")
    await until(lambda: place.said(session) == "ready ")
    await session.send("left", on_message="steer")

    assert await ticket.outcome() == Outcome.COMPLETED
    assert place.said(session) == "ready left ['steered', 'left']"


async def test_it_starts_a_child_and_hears_of_its_end(place: Place) -> None:
    session = await place.told("parent")

    assert place.said(session) == "below parent completed True False"


async def test_it_runs_command_lines(place: Place) -> None:
    session = await place.told("shells")

    assert place.said(session) == "3 'in err\\n' False True"


async def test_it_asks_a_person(place: Place) -> None:
    session = place.session("asks")
    ticket = await session.send("asks")
    await until(lambda: session.questions)
    [question] = session.questions
    assert (question.tool, question.subject, question.session) == ("write", "x.txt", "asks")
    asked[0].answer(question.id, question.generation, Answer(allowed=True, by="Bob"))

    assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert place.said(session) == "True Bob"
    assert "answered" in [entry.__class__.__name__.lower() for entry in await session.log()]


async def test_what_models_cost_and_did_not_take_is_told(place: Place) -> None:
    session = await place.told("asks_a_model")

    used = [(one.model, one.input_tokens) for one in await place.log(session, Used)]
    assert used == [("small", 3), ("other", 1)]
    assert len(await place.log(session, Declined)) == 1
    assert [one.text for one in await place.log(session, LeftOut)] == ["a.png"]
    assert place.said(session).startswith("False (")


async def test_it_puts_a_summary_in_place_of_what_was(place: Place) -> None:
    session = place.session("summarises")
    await (await session.send("own_sink")).outcome()
    ticket = await session.send("summarises")

    assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert "short" in place.said(session)
    assert place.said(session).endswith("True")


async def test_all_that_it_said_before_it_ended_is_heard(place: Place) -> None:
    session = await place.told("says_much")

    assert place.said(session) == "x" * 100_000


async def test_what_it_logs_is_in_the_log_of_the_program(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "lastword"):
        await place.told("logs")

    assert any("this is logged" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(
    ("story", "error"),
    [
        ("raises", "ValueError: something is wrong"),
        ("fails_in_words", "the model is out"),
        ("cancels_itself", "it was cancelled from outside"),
    ],
)
async def test_a_failure_is_told_in_its_own_words(place: Place, story: str, error: str) -> None:
    session = place.session(story)
    ticket: Ticket = await session.send(story)

    assert await ticket.outcome() == Outcome.FAILED
    assert ticket.error == error


async def test_after_a_stop_nothing_that_it_tries_is_done(place: Place, tmp_path: Path) -> None:
    tried = tmp_path / "tried"
    session = place.session("stays")
    ticket = await session.send(f"stays {tried}")
    await until(lambda: place.said(session) == "there")
    receipt = await session.stop()
    settled = await receipt.settled()

    assert await ticket.outcome() == Outcome.STOPPED
    assert receipt.quiet, receipt
    assert place.said(session) == "there"
    refused = ["None", "None", "Superseded", "Superseded", "Superseded", "Superseded"]
    words = tried.read_text().replace("'", "")
    assert words == f"[{', '.join(refused)}] False\n"
    assert settled.calls == () or all(c.status == "not started" for c in settled.calls)


async def test_a_new_message_takes_over(place: Place, tmp_path: Path) -> None:
    session = place.session("taken over")
    old = await session.send(f"stays {tmp_path / 'tried'}")
    await until(lambda: place.said(session) == "there")
    new = await session.send("own_sink")

    assert await new.outcome() == Outcome.COMPLETED
    assert await old.outcome() == Outcome.SUPERSEDED
    assert place.said(session) == "theremine"
