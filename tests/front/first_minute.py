"""The first minute of a newcomer: one command in a fresh copy, a page, an answer, a stop."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import monotonic

from tests.front.visit import served


def first_minute(root: Path, env: Mapping[str, str], heard: Path) -> dict[str, float]:
    """Seconds from the command to each thing that a newcomer waits for."""
    began, laps = monotonic(), dict[str, float]()
    with served([root / "scripts" / "run"], cwd=root, env=env, heard=heard) as visit:
        laps["the link is printed"] = monotonic() - began
        visit.see_the_page()
        laps["the page is there, with all its files"] = monotonic() - began
        visit.say("hello", "help")
        visit.hear("hello", "I am a rehearsal")
        laps["the first words of an answer"] = monotonic() - began
        visit.say("hello", "story")
        visit.hear("hello", "There was a lighthouse")
        receipt = visit.stop("hello")
        laps["the receipt of the first stop"] = monotonic() - began
        assert receipt["runs"]
        assert receipt["quiet"]
    return laps
