"""What a person sees who talks to an agent at a terminal, and that the last word is theirs."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import (
    CTRL_C,
    CTRL_D,
    ENTER,
    ESC,
    Terminal,
    after,
    chatting,
    command,
    leave,
)

ASKS = "y: allow"
TOLD = {"yes": "Allow", "no": "Deny", "always": "Always allow this exact command"}


def test_esc_stops_the_answer_and_the_receipt_is_the_last_that_is_said_of_it() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word25")
        terminal.type(ESC).shows("■ Stopped:")
        leave(terminal)

        assert "word" not in after(terminal, "■ Stopped:")
        assert "another thing" not in str(terminal.page)


def test_what_was_said_is_on_the_page_once_and_in_order() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word65")
        terminal.type(ESC).shows("■ Stopped:")
        leave(terminal)

        numbers = [int(n) for n in re.findall(r"word(\d+)", str(terminal.page))]
        assert numbers == list(range(len(numbers)))


def test_a_receipt_is_two_lines_and_all_of_it_if_asked_for() -> None:
    with chatting() as terminal:
        terminal.say("start").shows("Two are up.", "· deploy: production …", "2 processes started")
        terminal.type(ESC).shows("/receipt shows all.")
        told = " ".join(after(terminal, "■ ").split())
        terminal.say("/receipt").shows("tools may have executed: deploy", "level tree")

        assert re.match(
            r"Stopped: 1 answer cut off, quiet after \d+ ms\. Processes: 1 ended; "
            r"kept: \d+ .*\. Tools may have executed: deploy\. /receipt shows all\.",
            told,
        )


def test_a_new_line_takes_over_and_the_old_answer_says_no_more() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5")
        terminal.say("no, the wind").shows("You said: no, the wind", "takeover · /help")
        leave(terminal)

        below = after(terminal, "> no, the wind\n")
        assert "(replaced)" in str(terminal.page)
        assert "word" not in below
        assert "■" not in below  # nothing was in doubt, so nothing is said of it


def test_a_line_typed_ahead_while_text_comes_is_not_lost() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5").type("and the").shows("word20", "> and the")
        terminal.type(" wind").shows("word40", "> and the wind")
        terminal.type(ENTER).shows("You said: and the wind")


def test_what_was_typed_before_the_terminal_was_ready_is_not_lost() -> None:
    terminal = Terminal()
    try:
        terminal.say("early").shows("You said: early")
    finally:
        terminal.close()


def test_an_esc_and_the_words_behind_it_may_arrive_together() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5")
        terminal.type(f"{ESC}no, the wind{ENTER}").shows("■ Stopped", "You said: no, the wind")


def test_a_flood_of_text_does_not_keep_a_stop_waiting() -> None:
    with chatting() as terminal:
        terminal.say("flood").shows("xxxx").type(ESC).shows("■ Stopped:")
        leave(terminal)

        assert "x" not in after(terminal, "■ Stopped:")


def test_an_esc_right_behind_a_line_covers_it() -> None:
    with chatting() as terminal:
        terminal.type(f"nothing{ENTER}{ESC}").until(
            lambda: re.search("■ Stopped|Not sent: nothing", str(terminal.page)), "a stop"
        )
        terminal.shows("takeover · /help")


def test_ctrl_c_stops_and_only_twice_in_a_row_leaves() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5").type(CTRL_C).shows("■ Stopped")
        terminal.type("half a line").shows("> half a line")
        terminal.type(CTRL_C).shows("Ctrl-C again leaves").hides("half a line")
        terminal.type("x").hides("Ctrl-C again leaves")
        terminal.type(CTRL_C).shows("Ctrl-C again leaves").type(CTRL_C)

        assert terminal.leaves() == 0


@pytest.mark.parametrize("words", ["/stop", "stop", "Stop it, please!", "enough"])
def test_words_that_mean_stop_stop(words: str) -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5")
        terminal.say(words).shows("■ Stopped")
        leave(terminal)

        assert "You said" not in str(terminal.page)


def test_a_word_for_stop_is_said_to_the_agent_when_there_is_nothing_to_stop() -> None:
    with chatting() as terminal:
        terminal.say("shall we?").shows("said: shall we?", "takeover · /help")
        terminal.say("cancel").shows("You said: cancel")


def test_stopping_when_nothing_goes_says_so_and_harms_nothing() -> None:
    with chatting() as terminal:
        terminal.type(ESC).shows("Nothing was running.")
        terminal.say("hello").shows("You said: hello")


def test_a_call_is_shown_as_it_begins_and_one_line_is_left_of_it() -> None:
    with chatting() as terminal:
        terminal.say("look").shows("It is all about the sea.")
        leave(terminal)

        lines = [line for line in terminal.page.lines if line]
        at = lines.index("> look")
        assert lines[at + 1 : at + 3] == ["Let me see.", "I look it up."]
        assert re.fullmatch(r"· look_up: the sea \(\d\.\d s\)", lines[at + 3])
        assert lines[at + 4] == "It is all about the sea."


@pytest.mark.parametrize(
    ("line", "answer"),
    [("y", "yes"), ("n", "no"), ("a", "always"), ("yes", "yes"), ("Always ", "always")],
)
def test_a_question_is_answered_with_a_line(line: str, answer: str) -> None:
    with chatting() as terminal:
        terminal.say("ask").shows("wants to run a command", "rm -rf ⟨U+001B⟩[31mbuild", ASKS)
        terminal.say(line).shows(f"? shell: {TOLD[answer]}", f"You answered {answer}.")
        terminal.hides(ASKS)


@pytest.mark.parametrize("line", ["abort that!", "you must not", "no, the other one", "a b"])
def test_a_sentence_at_a_question_is_no_answer_whatever_it_begins_with(line: str) -> None:
    with chatting() as terminal:
        terminal.say("ask").shows(ASKS)
        for typed, letter in enumerate(line, 1):
            terminal.type(letter).shows(f"> {line[:typed]}".rstrip())
        terminal.type(ENTER).shows("? shell: withdrawn", f"You said: {line}")
        leave(terminal)

        assert "You answered" not in str(terminal.page)


def test_a_word_for_stop_at_a_question_is_a_stop() -> None:
    with chatting() as terminal:
        terminal.say("ask").shows(ASKS).say("abort").shows("? shell: withdrawn", "■ Stopped")
        leave(terminal)

        assert "You answered" not in str(terminal.page)
        assert "You said" not in str(terminal.page)


def test_a_question_that_a_stop_withdraws_is_gone_and_what_is_typed_answers_nothing() -> None:
    with chatting() as terminal:
        terminal.say("ask").shows(ASKS)
        terminal.type(f"{ESC}y").hides(ASKS).shows("■ Stopped", "? shell: withdrawn", "> y")
        terminal.type(CTRL_C).say("ask again").shows(ASKS)
        terminal.say("n").shows("You answered no.")
        leave(terminal)

        assert "You answered yes" not in str(terminal.page)


def test_all_of_a_long_question_can_be_read_before_it_is_answered() -> None:
    with chatting() as terminal:
        terminal.say("ask long").shows(ASKS)
        shown = "".join(terminal.page.lines)

        assert f"rm -rf {'/very' * 600}/end" in shown


def test_a_line_that_is_being_typed_is_no_answer() -> None:
    with chatting() as terminal:
        terminal.say("ask").type("say ").shows("empty the line to answer")
        terminal.type("nay").shows("> say nay").type(ENTER).shows("You said: say nay")
        leave(terminal)

        assert "You answered" not in str(terminal.page)


def test_finished_text_is_laid_out_and_code_is_left_as_it_is() -> None:
    with chatting() as terminal:
        terminal.say("markup").shows("• one")
        leave(terminal)

        below = after(terminal, "> markup\n")
        assert below.startswith("Title\n\nSome bold words, and more.\n\nx = 1\n\ny = 2\n")


def test_an_answer_that_fails_says_why_in_one_line() -> None:
    with chatting() as terminal:
        terminal.say("fail").shows("The answer failed: RuntimeError: the model ␛[31mhas no more")
        terminal.say("hello").shows("You said: hello")


def test_a_kept_process_can_be_ended() -> None:
    with chatting() as terminal:
        terminal.say("start").shows("Two are up.").type(ESC).shows("1 process kept")
        listed = re.compile(r"^(p\d+)  \d+  kept  .*sleep 300", re.MULTILINE)
        terminal.say("/processes").until(lambda: listed.search(str(terminal.page)), "a list")
        [id_] = listed.findall(str(terminal.page))
        terminal.say(f"/processes read {id_}").shows(f"{id_}: 0 bytes. It goes on.")
        terminal.say(f"/processes write {id_} x").shows("started without an input")
        terminal.say(f"/processes signal {id_} loud").shows("there is no signal 'loud'")
        terminal.say("/processes kill").shows("say one of these: read ID")
        terminal.say(f"/processes signal {id_} cont").shows(f"SIGCONT was sent to {id_}.")
        terminal.say(f"/processes end {id_}").shows(f"Ended: {id_}")
        terminal.say("/processes").shows("Nothing goes on under an id.")


def test_after_a_crash_the_person_is_told_what_was_lost(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 's.db'}"
    with chatting("--store", store) as terminal:
        terminal.say("start").shows("Two are up.", "deploy: production …")
        terminal.signal(signal.SIGKILL)
        terminal.process.wait()

    with chatting("--store", store) as terminal:
        terminal.shows("After a restart: the answer that was going is lost;")
        terminal.shows("may have executed: deploy")


def test_leaving_stops_what_goes_and_says_what_that_was() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5").type(CTRL_D)

        assert terminal.leaves() == 0
        assert "■ Stopped" in terminal.page.lines[-2]


def test_an_interrupt_from_outside_is_a_ctrl_c() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5").signal(signal.SIGINT)
        terminal.shows("■ Stopped").say("hello").shows("You said: hello")


def test_without_a_terminal_it_says_what_to_do_instead() -> None:
    told = subprocess.run(command(), stdin=subprocess.DEVNULL, capture_output=True, check=False)

    assert (told.returncode, told.stdout) == (2, b"")
    assert b"lastword chat -p TEXT" in told.stderr


def test_the_command_line_imports_nothing_of_a_terminal_before_there_is_one() -> None:
    look = "import sys; import lastword.cli, lastword.cli.chat; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)

    assert {"prompt_toolkit", "rich"}.isdisjoint(shown.stdout.split())
