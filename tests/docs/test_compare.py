"""What docs/compare.md says of an agent that is isolated and unchanged."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from lastword import Runtime
from lastword.core.story import FeedEvent
from lastword.engines.isolated import Isolated


@pytest.mark.scenario("Z3")
async def test_once_the_receipt_of_an_unchanged_agent_says_quiet_nothing_of_it_is_left(
    tmp_path: Path,
) -> None:
    """Whoever holds the pipe, at any level and under any number, keeps it from ending."""
    begun = asyncio.Event()
    os.mkfifo(tmp_path / "held")
    reader = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)

    async def hear(event: FeedEvent) -> None:
        if event.kind == "text":
            begun.set()

    try:
        async with Runtime(Isolated("tests.docs.unchanged_engine:engine"), sink=hear) as runtime:
            await runtime.session("s").send(str(tmp_path / "held"))
            await begun.wait()
            with pytest.raises(BlockingIOError):
                os.read(reader, 99)

            receipt = await runtime.session("s").stop()

            assert receipt.quiet
            assert os.read(reader, 99) in {b"", b"one more thing"}
            assert os.read(reader, 99) == b""  # nobody is left who could write
    finally:
        os.close(reader)
