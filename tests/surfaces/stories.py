"""The stories that every surface is told: played in a real runtime, once in a process of tests."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.surfaces import (
    played_asks,
    played_calls,
    played_programs,
    played_queue,
    played_restarts,
    played_words,
)
from tests.surfaces.playing import STORIES
from tests.surfaces.recording import Recording, Stage

__all__ = ["PLAYED", "STORIES", "recorded"]
PLAYED = (
    played_words,
    played_calls,
    played_queue,
    played_asks,
    played_programs,
    played_restarts,
)
_RECORDED: dict[str, Recording] = {}


async def recorded(name: str) -> Recording:
    """What a runtime tells of it."""
    if name not in _RECORDED:
        with TemporaryDirectory() as folder:
            stage = Stage(Path(folder))
            await STORIES[name](stage)
        assert stage.recording
        _RECORDED[name] = stage.recording
    return _RECORDED[name]
