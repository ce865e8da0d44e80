"""The contract of engines: the same stories, whatever answers.

A plain function, a generator, and each engine in each format of the wire are told what to do by the
same script (`subjects.py`). What a person sees of them, and what is written down, is the same.
"""

import pytest

from lastword import FeedEvent, Runtime
from tests.engines import contract_stories as stories
from tests.engines.contract_stories import Talk
from tests.engines.subjects import SUBJECTS, subject

pytestmark = pytest.mark.parametrize("kind", SUBJECTS)


async def told(kind: str, story: str) -> None:
    heard: list[FeedEvent] = []
    async with subject(kind) as one, Runtime(one.engine, sink=heard.append) as runtime:
        await stories.STORIES[story](Talk(one, runtime, heard))


async def test_what_it_says_is_heard_as_it_comes_and_is_in_the_log(kind: str) -> None:
    await told(kind, "what_it_says_is_heard_as_it_comes_and_is_in_the_log")


@pytest.mark.scenario("S1")
async def test_a_stop_in_the_middle_of_a_text_is_the_last_that_is_heard_of_it(kind: str) -> None:
    await told(kind, "a_stop_in_the_middle_of_a_text_is_the_last_that_is_heard_of_it")


@pytest.mark.scenario("T1")
async def test_a_new_message_takes_over(kind: str) -> None:
    await told(kind, "a_new_message_takes_over")


async def test_a_call_is_in_the_ledger_with_its_result(kind: str) -> None:
    await told(kind, "a_call_is_in_the_ledger_with_its_result")


async def test_a_call_that_was_stopped_may_have_executed(kind: str) -> None:
    await told(kind, "a_call_that_was_stopped_may_have_executed")


async def test_what_goes_wrong_is_said_in_a_line_and_the_session_goes_on(kind: str) -> None:
    await told(kind, "what_goes_wrong_is_said_in_a_line_and_the_session_goes_on")


@pytest.mark.scenario("T5")
async def test_what_steers_it_is_delivered_before_it_goes_on(kind: str) -> None:
    await told(kind, "what_steers_it_is_delivered_before_it_goes_on")
