"""E9. What the model is no longer shown is told by every surface that tells the log."""

import json
from typing import Any

import pytest

from lastword.acp.showing import told_again
from lastword.cli.chat.recap import recap_lines
from lastword.core.entries import Began, Entry, LeftOut, Said, Text
from lastword.core.model import Generation, Message, MessageId, RunId, SessionId
from lastword.core.picture import Picture
from lastword.server.shapes import Shapes

pytestmark = pytest.mark.scenario("E9", part="agent")
RUN = RunId("s#2")
WORDS = "The model is no longer shown cat.png: the provider did not take it."
LOG: tuple[Entry, ...] = (
    Said(Message(MessageId("m2"), "and now?"), RUN),
    Began(RUN, Generation(2), (MessageId("m2"),)),
    LeftOut(RUN, RunId("s#1"), "attachments", WORDS),
    Text(RUN, "fine"),
)


def test_over_http() -> None:
    entries = Shapes("").newest(LOG, 0)

    told: list[dict[str, Any]] = [json.loads(bytes(entry)) for entry in entries]
    assert told[2] | {"at": 0, "number": 3} == {
        "number": 3,
        "kind": "leftout",
        "at": 0,
        "run": "s#2",
        "of": "s#1",
        "part": "attachments",
        "text": WORDS,
    }


def test_in_an_editor() -> None:
    picture = Picture(SessionId("s"))
    picture.record(LOG)
    assert WORDS in json.dumps(list(told_again(picture, "/", None)))


def test_in_a_terminal() -> None:
    assert WORDS in recap_lines(LOG)
