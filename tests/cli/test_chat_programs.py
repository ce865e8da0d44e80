"""A program that waits can be seen and answered at a terminal, in the words of a question."""

from pathlib import Path

import pytest

from lastword.cli.chat.programs import answered, shown
from lastword.core.entries import Answered
from tests.agent.to_the_letter import call, talking
from tests.promise.workshop import until

WRITE = "await write_file('a.txt', 'three\\n')"


@pytest.mark.scenario("W38", part="chat")
@pytest.mark.parametrize("verb", ["allow", "deny"])
async def test_a_program_that_waits_is_shown_and_answered_by_number(
    tmp_path: Path, verb: str
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("two\n", encoding="utf-8")
    async with talking(tmp_path) as talk:
        session = talk.session
        await talk.does(call("run_code", source=WRITE, pause=True))
        told = shown(session, lambda one: talk.questions.left(session.id, one))
        assert told.splitlines()[:3] == [
            "1. ? write_file wants to write a.txt (replaces 1 line with 1)",
            "  - two",
            "  + three",
        ]
        with pytest.raises(ValueError, match="say which"):
            await answered(session, "y", "ann")
        await answered(session, f"{verb} 1", "ann")
        await until(lambda: not session.busy)
        log = await session.log()

        assert [one.by for one in log if isinstance(one, Answered)] == ["ann"]
        assert file.read_text(encoding="utf-8") == ("three\n" if verb == "allow" else "two\n")
        assert (
            shown(session, lambda one: talk.questions.left(session.id, one)) == "No program waits."
        )
