"""What is typed at a terminal: an answer to a question, a command, or words for the agent."""

import asyncio

import pytest

from lastword.cli.chat.asking import Asking
from lastword.cli.chat.commands import help_text, is_command
from lastword.core.model import Generation, RunId, SessionId
from lastword.core.question import Question
from lastword.surfaces.words import Choice


class Asked:
    """One question, and how it is answered."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, bool, int, bool]] = []
        who = SessionId("s"), Generation(3), RunId("s#1")
        self.question = Question("q1", *who, "shell", "rm -rf build", "rm -rf build")

    def open(self) -> tuple[Question, ...]:
        return () if self.answers else (self.question,)

    def nobody(self, id: str, generation: int) -> None: ...

    def answer(
        self,
        id: str,
        allow: bool,
        generation: int,
        *,
        always: bool = False,
        scope: str = "",
        by: str = "",
    ) -> None:
        self.answers.append((id, allow, generation, always))


async def test_a_key_that_was_under_way_when_a_question_came_up_is_no_answer() -> None:
    asked, seen, settled = Asked(), list[object](), asyncio.Event()

    def changed(before: object, now: object) -> None:
        seen.append(now)
        if before is now:
            settled.set()

    asking = Asking(asked, lambda: "s", changed)
    asking.look()

    assert seen == [asked.question]
    assert asking.take("y") is None
    assert asked.answers == []
    await settled.wait()
    assert asking.take("y") == Choice("Allow", True)
    assert asked.answers == [("q1", True, 3, False)]
    assert asking.take("y") is None
    asking.close()


@pytest.mark.scenario("W43", part="chat")
async def test_a_line_that_was_begun_before_the_question_is_no_answer() -> None:
    asked, settled, line = Asked(), asyncio.Event(), ["y"]

    def changed(before: object, now: object) -> None:
        if before is now:
            settled.set()

    asking = Asking(asked, lambda: "s", changed, typing=lambda: bool(line))
    asking.look()
    await settled.wait()
    assert asking.waits_for_an_empty_line
    assert asking.take("y") is None
    assert asked.answers == []
    line.clear()
    asking.emptied()
    assert asking.take("y") == Choice("Allow", True)
    asking.close()


@pytest.mark.parametrize(("here", "elsewhere"), [("s", 0), ("other", 1), ("s2", 1)])
async def test_only_what_is_asked_in_this_conversation_is_shown(here: str, elsewhere: int) -> None:
    asking = Asking(Asked(), lambda: here, lambda _before, _now: None)

    assert (asking.question is None, asking.elsewhere) == (bool(elsewhere), elsewhere)


# what is typed


@pytest.mark.parametrize("line", ["/help", "/mode queue", "/queue edit 2 a b\nc", "/nonsense"])
def test_a_slash_and_a_word_is_a_command(line: str) -> None:
    assert is_command(line)


@pytest.mark.parametrize("line", [" /help", "/etc/hosts", "/", "//", "/Help me", "1/2", "/srv/x y"])
def test_anything_else_is_said_to_the_agent(line: str) -> None:
    assert not is_command(line)


def test_the_help_fits_a_terminal() -> None:
    assert [line for line in help_text().splitlines() if len(line) > 80] == []
