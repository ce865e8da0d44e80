"""What a line does while an answer is being made, and what a slash and a word do."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import ENTER, ESC, after, chatting, leave


def test_lines_queue_if_that_is_the_mode_and_the_queue_can_be_changed() -> None:
    with chatting() as terminal:
        terminal.say("/mode queue").shows("a new message: queue", "· queue ·")
        terminal.say("nothing").shows("answering")
        terminal.say("one").say("two").say("three").shows("(queued) three", "3 waiting")
        terminal.say("/queue").shows("1. one", "2. two", "3. three")
        terminal.say("/queue move 3 1").shows("1. three\n2. one\n3. two")
        terminal.say("/queue edit 2 uno").shows("1. three\n2. uno\n3. two")
        terminal.say("/queue remove 3").shows("Removed: two", "2 waiting")
        terminal.say("/queue remove 7").shows("its number in /queue: 1 to 2")
        terminal.type(ESC).shows("Messages dropped: “three”, “uno”")


def test_what_waits_gets_its_turn() -> None:
    with chatting() as terminal:
        terminal.say("/mode queue").say("look").say("hello")
        terminal.shows("It is all about the sea.", "You said: hello")


def test_lines_that_come_all_at_once_take_effect_in_order() -> None:
    lines = ("/mode queue", "nothing", "one", "/queue edit 1 uno", "two", "/queue move 2 1")
    with chatting() as terminal:
        terminal.type("".join(line + ENTER for line in lines)).shows("1. two\n2. uno")


def test_a_busy_session_that_refuses_gives_the_line_back() -> None:
    with chatting() as terminal:
        terminal.say("/mode refuse").say("nothing").shows("answering")
        terminal.say("hello").shows("is busy and refuses", "\n> hello")


def test_a_mode_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with chatting() as terminal:
        terminal.say("/mode loud").shows("loud is not one of takeover, queue")
        terminal.say("/lout").shows("There is no /lout")
        terminal.say("/etc/hosts is broken").shows("You said: /etc/hosts is broken")


@pytest.mark.parametrize("lines", [["/instead hello"], ["/instead", "hello"]], ids=len)
def test_instead_leaves_the_answer_out_of_the_conversation(
    tmp_path: Path, lines: list[str]
) -> None:
    store = f"sqlite:{tmp_path / 's.db'}"
    with chatting("--store", store) as terminal:
        terminal.say("/instead").shows("Nothing is going")
        terminal.say("story").shows("word5")
        terminal.type("".join(line + ENTER for line in lines)).shows("You said: hello")
        leave(terminal)

    shown = lastword("transcript", "s", "--store", store)
    assert "word" not in shown
    assert "You said: hello" in shown


def test_another_session_can_be_gone_to_and_this_one_goes_on() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5").say("/session other").shows("Now in other.")
        terminal.say("hello").shows("You said: hello").say("/sessions")
        terminal.shows("*  1 other  hello", "   2 s  story")
        terminal.say("/session s").shows("Now in s.", "answering").type(ESC).shows("■ Stopped")
        leave(terminal)

        assert "word" not in after(terminal, "■ Stopped")


def test_a_line_is_told_to_the_answer_if_that_is_the_mode() -> None:
    with chatting() as terminal:
        terminal.say("/mode steer").say("listen").shows("steer", "I am listening.")
        terminal.say("more salt").shows("(told to the answer) more salt", "I heard: more salt.")
        leave(terminal)

        assert "(replaced)" not in str(terminal.page)


def test_lines_are_collected_into_one_turn_if_that_is_the_mode(tmp_path: Path) -> None:
    enough = tmp_path / "enough"
    with chatting() as terminal:
        terminal.say("/mode collect").shows("a new message: collect")
        terminal.say(f"hold {enough}").shows("I hold.")
        terminal.say("one").say("two").shows("(collected) one", "(collected) two")
        enough.touch()
        terminal.shows("You said: one", "collect · /help")
        leave(terminal)

        below = after(terminal, "You said: one").split()
        assert below[0] == "two"
        assert str(terminal.page).count("You said:") == 1


def test_what_a_stop_left_waiting_goes_on_when_it_is_told_to() -> None:
    with chatting("--queue", "keep") as terminal:
        terminal.say("/mode queue").say("nothing").shows("answering")
        terminal.say("one").say("two").shows("2 waiting").type(ESC)
        terminal.shows("Messages waiting: “one”, “two”.")
        assert "You said" not in str(terminal.page)
        terminal.say("/queue").shows("1. one\n2. two")
        terminal.say("/queue resume").shows("You said: one", "You said: two")


def test_what_is_complete_cannot_be_undone_and_that_is_said() -> None:
    with chatting() as terminal:
        terminal.say("hello").shows("You said: hello", "takeover · /help")
        terminal.say("/instead").shows("Nothing is going. /instead replaces", "complete stays")


def test_who_comes_back_is_reminded_of_what_was_said_last(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 's.db'}"
    with chatting("--store", store) as terminal:
        terminal.say("first").shows("You said: first").say("hello").shows("You said: hello")
        terminal.say("story").shows("word5").type(ESC).shows("■ Stopped")
        leave(terminal)
        assert "so far" not in str(terminal.page)

    with chatting("--store", store) as terminal:
        terminal.shows("3 turns so far. The last:", "> hello\nYou said: hello", "> story\nword0")
        terminal.shows("(stopped)").say("/session other").shows("Now in other.")
        leave(terminal)
        assert "first" not in str(terminal.page)
        assert str(terminal.page).count("so far") == 1

    with chatting("--store", store, "--session", "other") as terminal:
        terminal.say("/session s").shows("Now in s.", "3 turns so far.", "> story")


def test_a_long_name_of_a_session_does_not_fill_the_screen() -> None:
    name = "long" * 60
    with chatting("--session", name) as terminal:
        terminal.say("/session s").shows("Now in s.").say(f"/session {name}").shows("Now in long")
        leave(terminal)

        assert "long" * 13 not in str(terminal.page)


def lastword(*arguments: str) -> str:
    run = [sys.executable, "-X", "utf8", "-m", "lastword", *arguments]
    return subprocess.run(run, capture_output=True, text=True, encoding="utf-8", check=True).stdout
