"""What a message must look like to be a resume, and who is shown what it brings."""

import json

import pytest

from lastword import Attachment, Message
from lastword.core.cell import CallResult, CellId
from lastword.core.model import CallId, MessageId
from lastword.core.resume import ANSWERS, Resume, resume_in
from lastword.engines.pydantic_ai.history import content_of

RESUME = Resume(CellId("c"), 1, (CallResult(CallId("c:0"), '"' + "x" * 900 + '"'),))


def message(data: str) -> Message:
    return Message(MessageId("m"), "words", attachments=(Attachment(ANSWERS, data),))


def test_a_resume_is_read_as_it_was_written() -> None:
    assert resume_in(message(RESUME.attached.data)) == RESUME


@pytest.mark.parametrize(
    "data",
    [
        *("", "[]", "null", "[" * 200_000, json.dumps({"cell": "c"})),
        '{"cell": "c", "generation": 1e999, "results": [], "allowed": []}',
        '{"cell": ["c"], "generation": 1, "results": [], "allowed": []}',
        '{"cell": "c", "generation": 1, "results": [["c:0", "{", false]], "allowed": []}',
    ],
)
def test_what_only_looks_like_one_is_a_message_like_any_other(data: str) -> None:
    assert resume_in(message(data)) is None


def test_the_model_is_not_shown_what_the_program_was_given() -> None:
    assert content_of("words", message(RESUME.attached.data)) == ["words"]
