"""A search that would take for ever: it ends by itself."""

from pathlib import Path

import pytest

from lastword import Outcome, Run, Runtime
from lastword.agent.tools.files import Files
from lastword.agent.tools.search import Search


async def test_a_search_that_takes_too_long_ends_by_itself_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * 60 + "b\n")
    told: list[str] = []

    async def engine(run: Run) -> None:
        with pytest.raises(TimeoutError, match=r"longer than 0\.5 seconds and was ended"):
            await Search(Files([tmp_path]), seconds=0.5).search(run, r"(a+)+$")
        told.append(await Search(Files([tmp_path])).search(run, "b$"))

    async with Runtime(engine) as runtime:
        ticket = await runtime.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert told[0].startswith("a.txt:1: aaa")
