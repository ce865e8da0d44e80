"""That a terminal is used as one: harmless, as it was afterwards, and never waited for."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.cli.terminal import CTRL_C, CTRL_D, ENTER, ESC, Terminal, chatting, leave


def test_what_a_model_says_cannot_control_the_terminal() -> None:
    with chatting() as terminal:
        terminal.say("misbehave").shows("half ␛[5A of it")
        leave(terminal)

        assert "␛]0;owned" in str(terminal.page)
        assert "> misbehave" in str(terminal.page)  # nothing was erased
        assert terminal.page.unknown == []


def test_what_a_tool_prints_does_not_disturb_the_terminal() -> None:
    with chatting() as terminal:
        terminal.say("leak").shows("a tool␛[2J printed this", "It is said.", "> leak")
        terminal.say("leak").shows("and this")


@pytest.mark.parametrize("way", [CTRL_D, f"/quit{ENTER}", CTRL_C * 2])
def test_the_terminal_is_as_it_was_after_leaving(way: str) -> None:
    with chatting() as terminal:
        assert terminal.flags != terminal.before
        terminal.type(way)

        assert terminal.leaves() == 0
        assert terminal.flags == terminal.before
        assert "rehearsal" not in str(terminal.page)  # only what was said is left


@pytest.mark.parametrize("busy", [True, False])
def test_the_terminal_is_as_it_was_after_it_is_asked_to_end(busy: bool) -> None:
    with chatting() as terminal:
        if busy:
            terminal.say("story").shows("word5")
        terminal.signal(signal.SIGTERM)

        assert terminal.leaves() == 128 + signal.SIGTERM
        assert terminal.flags == terminal.before
        assert ("■ Stopped" in str(terminal.page)) == busy


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_that_does_not_read_cannot_hold_up_an_end(number: signal.Signals) -> None:
    with chatting() as terminal:
        terminal.say("flood").shows("xxxx").until_full()
        terminal.signal(number)

        assert terminal.process.wait(30) == 128 + number
        assert terminal.flags == terminal.before


def test_a_terminal_that_has_fallen_behind_is_not_shown_what_was_stopped(tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    with chatting("--grace", "3") as terminal:
        terminal.say(f"torrent {told}").shows("xxxx").until_full().type(ESC)
        assert told.read_text() == "asked\n"  # it has been stopped, and nobody has read anything
        terminal.shows("(more was said than could be shown)", "■ Stopped:")

        assert str(terminal.page).count("x") < 250_000  # of two million


def test_a_terminal_that_reads_again_is_shown_the_rest() -> None:
    with chatting() as terminal:
        terminal.say("flood").shows("xxxx").until_full()
        terminal.type(ESC).shows("■ Stopped:").say("hello").shows("You said: hello")


def test_a_window_that_is_closed_ends_it() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5").hang_up()

        assert terminal.process.wait(30) == 128 + signal.SIGHUP


def test_a_window_may_change_its_size_while_text_comes() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5")
        for number, (rows, columns) in enumerate([(24, 60), (10, 30), (3, 20), (40, 80)], 1):
            terminal.resize(rows, columns)
            terminal.shows(f"word{number * 60}")
        terminal.type(ESC).shows("■ Stopped:").say("hello").shows("You said: hello")
        leave(terminal)

        said, _, _ = str(terminal.page).partition("■")
        numbers = [int(n) for n in re.findall(r"word(\d+)", said)]
        assert numbers == list(range(len(numbers)))
        lines = said.splitlines()
        last = max(n for n, line in enumerate(lines) if "word" in line)
        assert 60 < max(map(len, lines[last - 3 : last])) <= 80


def test_wide_characters_are_neither_lost_nor_torn() -> None:
    text = "日本語テキスト" * 12 + " naïve 👩🏽 한국어 " + "ｶﾞ漢" * 30
    with chatting() as terminal:
        terminal.type(text).until(lambda: text in joined(terminal), "what was typed")
        terminal.type(ENTER).until(lambda: f"Yousaid:{bare(text)}" in bare(joined(terminal)), text)
        leave(terminal)

        assert bare(joined(terminal)).count(bare(text)) == 2  # what was said, and the answer


def joined(terminal: Terminal) -> str:
    return "".join(terminal.page.lines)


def bare(text: str) -> str:
    return "".join(text.split())
