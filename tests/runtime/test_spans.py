"""Processes of a session, from their start to their end, whoever has their numbers later."""

from dataclasses import replace
from typing import Any, cast

import pytest

from lastword.core.model import RunId, Settings
from lastword.core.receipt import ProcessNews
from lastword.core.session import SessionMachine
from lastword.runtime.announcer import Announcer

RUN = RunId("s#1")


class Said:
    """What the feed makes of it: an event with a time."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self, *_: object) -> Any:
        self.at += 1.0
        return self


@pytest.mark.scenario("P30", part="processes")
def test_who_has_the_number_of_a_first_process_that_left_is_another() -> None:
    none = cast("Any", None)
    news = Announcer(SessionMachine(Settings()), cast("Any", Said()), none, none)
    kept = ProcessNews(RUN, 7, "kept", "started", kept=True, job="p1")
    another = ProcessNews(RUN, 7, "another", "started")

    news.process(kept)
    news.process(another)
    news.process(replace(kept, state="ended", code=0))

    told = [(span.news.command, span.started_at, span.ended_at) for span in news.spans]
    assert told == [("kept", 1.0, 3.0), ("another", 2.0, None)]
    assert (news.started_at("p1"), news.started_at(7)) == (1.0, 2.0)
