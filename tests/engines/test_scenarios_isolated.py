"""The stories of docs/scenarios.md again, of engines by name that live in processes of their own.

The engines are in `apart_scenarios`. Each tells where it stands by a service of the program, and
leaves what it did in a folder; whatever is left of it after a receipt would still write there.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from pathlib import Path

import pytest

from lastword import Outcome
from lastword.core.entries import Finished, Result, Text
from lastword.core.story import Typing
from lastword.errors import AnswerRefused, UnknownQuestion
from tests.engines.stage_isolated import Stage, another_answers, quiet
from tests.promise.stories import check_log
from tests.promise.workshop import until

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.scenario("Z29"),
]


@pytest.mark.scenario("S1")
async def test_nothing_of_a_stream_comes_after_a_stop(stage: Stage, tmp_path: Path) -> None:
    session = stage.session("streams")
    await session.send(f"streams {tmp_path}")
    await until(lambda: len(stage.said(session)) > 50)
    await quiet(session)
    said, kinds = stage.said(session), stage.kinds(session)
    await another_answers(stage)

    assert stage.said(session) == said
    assert stage.kinds(session) == kinds
    assert "".join(e.text for e in await session.log() if isinstance(e, Text)) == said
    assert len([e for e in await session.log() if isinstance(e, Finished)]) == 1


@pytest.mark.scenario("S2")
async def test_five_hundred_late_words_are_neither_shown_nor_stored(
    stage: Stage, tmp_path: Path
) -> None:
    session = stage.session("pushes")
    await session.send(f"pushes_on {tmp_path}")
    await until(lambda: "tardy" in stage.said(session))
    receipt = await quiet(session)
    said = stage.said(session)
    answer = await session.send("and now?")
    await answer.outcome()

    assert (tmp_path / "pushed").read_text() == "500"
    assert receipt.dropped >= 500
    assert stage.said(session).startswith(said)
    shown = stage.said(session).removeprefix(said)
    assert said.strip() in shown
    assert shown.count("tardy") == said.count("tardy")


@pytest.mark.scenario("S3")
async def test_of_five_messages_only_the_one_in_flight_lands(stage: Stage, tmp_path: Path) -> None:
    stage.slow = asyncio.Event()
    session = stage.session("five")
    await session.send(f"says_five {tmp_path}")
    await until(lambda: stage.said(session))
    stopping = asyncio.ensure_future(session.stop())
    await until(lambda: session.fenced)
    stage.slow.set()
    receipt = await stopping

    assert receipt.quiet
    assert stage.said(session) == "0"


@pytest.mark.scenario("S4")
async def test_nothing_is_sent_on_waking_from_a_pace(stage: Stage, tmp_path: Path) -> None:
    session = await stage.begun("paces", "paces", tmp_path, "first")
    await quiet(session)

    assert (tmp_path / "sent").read_text() == "1"


@pytest.mark.scenario("S5")
async def test_no_retry_begins_after_a_stop_in_its_back_off(stage: Stage, tmp_path: Path) -> None:
    session = await stage.begun("retries", "retries", tmp_path, "attempt 0")
    await quiet(session)

    assert stage.said(session) == "attempt 0 "
    assert stage.stands("attempt 1") == 0


@pytest.mark.scenario("S6")
async def test_the_typing_mark_is_taken_down_once_and_no_pulse_follows(
    stage: Stage, tmp_path: Path
) -> None:
    session = stage.session("types")
    await session.send(f"streams {tmp_path}")
    await until(lambda: stage.kinds(session).count("typing") > 2)
    await quiet(session)
    await another_answers(stage)

    marks = [e.fact.on for e in stage.heard if e.session == "types" and isinstance(e.fact, Typing)]
    assert marks.count(False) == 1
    assert marks[-1] is False


@pytest.mark.scenario("S7")
async def test_what_was_checked_in_a_thread_before_a_stop_is_dropped_on_the_loop_after_it(
    stage: Stage, tmp_path: Path
) -> None:
    session = await stage.begun("hops", "hops", tmp_path, "hopping")
    await quiet(session)
    said = stage.said(session)
    await another_answers(stage)

    assert said
    assert stage.said(session) == said


@pytest.mark.scenario("S8")
async def test_last_words_are_dropped_and_counted_in_the_receipt(
    stage: Stage, tmp_path: Path
) -> None:
    session = await stage.begun("last", "last_words", tmp_path)
    receipt = await quiet(session)

    assert stage.said(session) == ""
    assert receipt.dropped == 4
    assert [one.what for one in receipt.refused] == ["text", "text", "text", "progress"]


@pytest.mark.scenario("S19", part="isolated")
async def test_a_stop_from_a_thread_holds_while_the_loop_is_stalled(
    stage: Stage, tmp_path: Path
) -> None:
    session = stage.session("stalled")
    await session.send(f"streams {tmp_path}")
    await until(lambda: stage.said(session))
    stopping = threading.Thread(target=session.stop_soon)
    stopping.start()
    stopping.join()  # and the loop does not turn
    said = len(stage.events)
    receipt = await session.stop()

    assert receipt.quiet
    assert not [e for e in stage.events[said:] if e.kind == "text" and e.session == "stalled"]


@pytest.mark.scenario("G1")
async def test_of_five_calls_those_after_the_stop_have_not_started(
    stage: Stage, tmp_path: Path
) -> None:
    session = await stage.begun("calls", "five_calls", tmp_path, "second")
    receipt = await quiet(session)

    assert [call.status for call in receipt.calls][1:] == [
        "may have executed",
        *["not started"] * 3,
    ]
    assert (tmp_path / "calls").read_text() == "12"
    results = [e.status for e in await session.log() if isinstance(e, Result)]
    assert Counter(results) == {"completed": 1, "may have executed": 1, "not started": 3}


@pytest.mark.scenario("G2", part="thread")
async def test_a_tool_in_a_thread_that_never_ends_ends_with_the_stop(
    stage: Stage, tmp_path: Path
) -> None:
    session = stage.session("four")
    await session.send(f"four_at_once {tmp_path}")
    await until(lambda: len(stage.reached) == 3 and (tmp_path / "deaf").exists())
    receipt = await quiet(session)

    assert {call.status for call in receipt.calls} == {"may have executed"}
    assert len(receipt.calls) == 4


@pytest.mark.scenario("G4")
async def test_a_stop_while_somebody_is_asked_before_a_tool_keeps_it_from_running(
    stage: Stage, tmp_path: Path
) -> None:
    stage.asked = asyncio.Event()
    stage.is_asked.clear()
    session = stage.session("hook")
    await session.send(f"calls_once {tmp_path}")
    await stage.is_asked.wait()
    receipt = await quiet(session)
    stage.asked.set()
    await another_answers(stage)

    assert [call.status for call in receipt.calls] == ["not started"]
    assert not (tmp_path / "called").exists()


@pytest.mark.scenario("G5", part="library")
async def test_a_question_is_withdrawn_and_the_next_one_never_comes(
    stage: Stage, tmp_path: Path
) -> None:
    session = stage.session("asks")
    await session.send(f"asks_twice {tmp_path}")
    await until(lambda: session.questions)
    [asked] = session.questions
    await quiet(session)

    assert session.questions == ()
    with pytest.raises((AnswerRefused, UnknownQuestion)):
        await session.answer(asked.id, True, asked.generation)
    await another_answers(stage)
    assert session.questions == ()


@pytest.mark.scenario("T1")
async def test_the_old_run_is_fenced_before_the_new_one_and_its_words_are_last(
    stage: Stage, tmp_path: Path
) -> None:
    session = stage.session("takes")
    old = await session.send(f"streams {tmp_path}")
    await until(lambda: stage.said(session))
    new = await session.send("no, this")

    assert await new.outcome() == Outcome.COMPLETED
    assert await old.outcome() == Outcome.SUPERSEDED
    texts = [e for e in stage.heard if e.session == "takes" and e.kind == "text"]
    runs = [e.run for e in texts]
    assert runs == [old.run] * runs.count(old.run) + [new.run] * runs.count(new.run)
    assert texts[-1].text.endswith("user: no, this")
    await check_log(session)


@pytest.mark.scenario("T3")
async def test_the_last_of_several_is_the_one_and_the_rest_are_context(
    stage: Stage, tmp_path: Path
) -> None:
    session = await stage.begun("three", "waits", tmp_path)
    second = await session.send(f"waits {tmp_path}")
    third = await session.send("this one")

    assert await third.outcome() == Outcome.COMPLETED
    assert await second.outcome() == Outcome.SUPERSEDED
    assert f"user: waits {tmp_path}" in stage.said(session)
    assert stage.said(session).endswith("user: this one")


@pytest.mark.scenario("T4")
async def test_a_takeover_with_others_queued_takes_over_and_names_them(
    stage: Stage, tmp_path: Path
) -> None:
    session = await stage.begun("queued", "waits", tmp_path)
    queued = await session.send("later", on_message="queue")
    new = await session.send("now")
    receipt = await new.receipt()

    assert await new.outcome() == Outcome.COMPLETED
    assert receipt
    assert [one.message.text for one in receipt.messages] == ["later"]
    assert await queued.outcome() in (Outcome.STOPPED, Outcome.SUPERSEDED)


@pytest.mark.scenario("T5")
async def test_what_joins_a_run_is_the_persons_own_words(stage: Stage, tmp_path: Path) -> None:
    session = await stage.begun("steers", "takes_steering", tmp_path)
    joined = await session.send("left", by="Ann", on_message="steer")

    assert await joined.outcome() == Outcome.COMPLETED
    assert stage.said(session) == "[('left', 'Ann')]"


@pytest.mark.scenario("T6")
async def test_what_joins_in_a_runs_last_moment_is_answered_next(
    stage: Stage, tmp_path: Path
) -> None:
    session = await stage.begun("last moment", "ends_with_steering", tmp_path)
    joined = await session.send("one more", on_message="steer")
    stage.goes_on.set()

    assert await joined.outcome() == Outcome.COMPLETED
    assert stage.said(session).endswith("user: one more")


@pytest.mark.scenario("T7")
async def test_what_joined_a_run_that_was_stopped_is_in_the_receipt(
    stage: Stage, tmp_path: Path
) -> None:
    session = await stage.begun("joined", "waits", tmp_path)
    await session.send("wait, left", on_message="steer")
    receipt = await quiet(session)

    assert "wait, left" in [one.message.text for one in receipt.messages]
