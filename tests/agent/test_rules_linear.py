"""Rules are judged in time that grows with their length, and none of it is the event loop's."""

import itertools
import threading
import time
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import ClassVar

import pytest

from lastword import Run, Runtime
from lastword.agent.permission import Question, Questions
from lastword.agent.rules import Action, Rule, Rules
from lastword.stores.aside import Breathe, at_once
from tests.promise.heard import hearing

THOUSANDS = [f"deny shell {word} number-{n} *" for n in range(10_000) for word in ("rm", "*x*")]
HOSTILE = {
    "long": "x" * 800_000,
    "words": "a " * 5_000,
    "wrappers": "sudo -u x " * 1_000,
    "parts": "a;" * 5_000,
    "quotes": "\"'" * 5_000,
    "redirections": "> " * 5_000,
    "digits": "1" * 9_999,
    "backslashes": "\\\n" * 2_000,
    "braces": "{ } " * 2_500,
}


def cost(rules: Rules, subject: str) -> float:
    """Processor time of this thread, which nobody else can spend."""
    before = time.thread_time()
    assert rules.decide("shell", subject)[0] in ("ask", "deny")
    return time.thread_time() - before


class Watched(Rules):
    """Rules that know who judged by them."""

    judges: ClassVar[list[int]] = []
    breaths: ClassVar[list[Breathe]] = []

    def decide(
        self, tool: str, subject: str | None, breathe: Breathe = at_once
    ) -> tuple[Action, Rule | None]:
        self.judges.append(threading.get_ident())
        self.breaths.append(breathe)
        return super().decide(tool, subject, breathe)


@pytest.mark.scenario("W10", part="agent")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_command_is_taken_apart_once_however_many_rules_there_are(kind: str) -> None:
    one = Rules.parse(["deny shell never *"])
    many = Rules.parse(f"deny shell never-{n} *" for n in range(3_000))
    first, then = (cost(rules, HOSTILE[kind]) for rules in (one, many))

    assert then < 300 * first + 0.5  # to take it apart for each is 3,000 times as much


@pytest.mark.scenario("W10", part="agent")
def test_of_a_command_that_is_too_long_nobody_knows_what_it_is_about() -> None:
    rules = Rules.parse(["allow shell git *", "deny shell rm *"])

    assert rules.decide("shell", "git log " + "x" * 9_000)[0] == "allow"
    assert rules.decide("shell", "git log " + "x" * 10_000)[0] == "deny"  # it may be rm
    assert Rules.parse(["allow shell git *"]).decide("shell", "git " + "x" * 10_000)[0] == "ask"


@pytest.mark.scenario("W10", part="agent")
@pytest.mark.parametrize("command", ["ls", *HOSTILE])
@pytest.mark.parametrize("rules", [["allow shell", *THOUSANDS], ["allow shell"]])
async def test_what_takes_a_while_is_not_judged_by_the_event_loop(
    command: str, rules: list[str]
) -> None:
    async def shell(command: str) -> str:
        return command

    async def engine(run: Run) -> None:
        with suppress(PermissionError):  # of what is too long, one of them may speak
            await run.call(shell, HOSTILE.get(command, command))

    Watched.judges.clear()
    questions = Questions(Watched(Rules.parse(rules).rules))

    def unheard(news: str, asked: Question) -> None:
        if news == "opened":
            questions.nobody(asked.id, asked.generation)

    async with Runtime(engine, before_tool=questions.as_before_tool()) as runtime:
        with hearing(runtime.session("s"), unheard):
            await (await runtime.session("s").send("go")).outcome()

    assert Watched.judges
    short = command in ("ls", "long") and len(rules) == 1  # of the long one nobody knows anything
    assert (threading.get_ident() in Watched.judges) == short


@pytest.mark.scenario("W30", part="agent")
async def test_thousands_of_rules_are_judged_a_turn_at_a_time() -> None:
    async def shell(command: str) -> str:
        return command

    async def engine(run: Run) -> None:
        await run.call(shell, "ls")

    Watched.breaths.clear()
    questions = Questions(Watched(Rules.parse(["allow shell", *THOUSANDS]).rules))
    async with Runtime(engine, before_tool=questions.as_before_tool()) as runtime:
        await (await runtime.session("s").send("go")).outcome()
    breaths = list[int]()
    Rules.parse(THOUSANDS).decide("shell", "ls", lambda: breaths.append(1))

    assert Watched.breaths
    assert at_once not in Watched.breaths, "there is always a pause for the loop"
    assert len(breaths) > len(THOUSANDS) / 50, "and there are few rules between two of them"


@pytest.mark.scenario("W10", part="agent")
def test_a_rule_that_is_too_long_is_none() -> None:
    with pytest.raises(ValueError, match="no more than 1,000 characters"):
        Rule.parse("deny shell " + "*a" * 1000)


def test_a_pattern_of_stars_means_what_a_glob_means() -> None:
    letters = ["".join(word) for n in range(5) for word in itertools.product("ab*", repeat=n)]
    texts = [word for word in letters if "*" not in word]
    for pattern in (word for word in letters if word not in ("", "*")):
        rule = Rule("deny", "mail", pattern)
        for text in texts:
            assert rule.matches("mail", text) == fnmatchcase(text, pattern), (pattern, text)
