"""What a person sees who talks to an agent at a terminal, and that the last word is theirs."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import CTRL_C, CTRL_D, ENTER, ESC, Terminal, chatting, command


def after(terminal: Terminal, words: str) -> str:
    """What is on the page below some words."""
    _, found, below = str(terminal.page).rpartition(words)
    assert found
    return below


def text_of(terminal: Terminal) -> str:
    return " ".join(str(terminal.page).split())


def leave(terminal: Terminal) -> None:
    assert terminal.type(CTRL_D).leaves() == 0


def test_esc_stops_the_answer_and_the_receipt_is_the_last_that_is_said_of_it() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word25")
        terminal.type(ESC).shows("■ Stopped after")
        leave(terminal)

        assert "word" not in after(terminal, "■ Stopped after")
        assert "another thing" not in str(terminal.page)


def test_what_was_said_is_on_the_page_once_and_in_order() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word65")
        terminal.type(ESC).shows("■ Stopped after")
        leave(terminal)

        numbers = [int(n) for n in re.findall(r"word(\d+)", str(terminal.page))]
        assert numbers == list(range(len(numbers)))


def test_a_receipt_is_two_lines_and_all_of_it_if_asked_for() -> None:
    with chatting() as terminal:
        terminal.say("start").shows("Two are up.", "· deploy …", "2 processes started")
        terminal.type(ESC).shows("/receipt shows all.")
        lines = after(terminal, "■ ").splitlines()
        terminal.say("/receipt").shows("tools may have executed: deploy", "level tree")

        assert re.fullmatch(
            r"Stopped after \d+ ms: the answer, 1 process; 1 process kept\.", lines[0]
        )
        assert lines[1] == "  May have executed: deploy. /receipt shows all."


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
        terminal.say("flood").shows("xxxx").type(ESC).shows("■ Stopped after")
        leave(terminal)

        assert "x" not in after(terminal, "■ Stopped after")


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
        terminal.type(ESC).shows("Nothing was running in s.")
        terminal.say("hello").shows("You said: hello")


def test_lines_queue_if_that_is_the_mode_and_the_queue_can_be_changed() -> None:
    with chatting() as terminal:
        terminal.say("/mode queue").shows("a new line: queue", "· queue ·")
        terminal.say("nothing").shows("answering")
        terminal.say("one").say("two").say("three").shows("(queued) three", "3 waiting")
        terminal.say("/queue").shows("1. one", "2. two", "3. three")
        terminal.say("/queue move 3 1").shows("1. three\n2. one\n3. two")
        terminal.say("/queue edit 2 uno").shows("1. three\n2. uno\n3. two")
        terminal.say("/queue remove 3").shows("Removed: two", "2 waiting")
        terminal.say("/queue remove 7").shows("its number in /queue: 1 to 2")
        terminal.type(ESC).shows("2 messages dropped (three, uno)")


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


@pytest.mark.parametrize("lines", [["/undo hello"], ["/undo", "hello"]], ids=len)
def test_undo_leaves_the_answer_out_of_the_conversation(tmp_path: Path, lines: list[str]) -> None:
    store = f"sqlite:{tmp_path / 's.db'}"
    with chatting("--store", store) as terminal:
        terminal.say("/undo").shows("Nothing is going")
        terminal.say("story").shows("word5")
        terminal.type("".join(line + ENTER for line in lines)).shows("You said: hello")
        leave(terminal)

    shown = lastword("transcript", "s", "--store", store)
    assert "word" not in shown
    assert "You said: hello" in shown


def test_a_call_is_shown_as_it_begins_and_one_line_is_left_of_it() -> None:
    with chatting() as terminal:
        terminal.say("look").shows("It is all about the sea.")
        leave(terminal)

        lines = [line for line in terminal.page.lines if line]
        at = lines.index("> look")
        assert lines[at + 1 : at + 3] == ["Let me see.", "I look it up."]
        assert re.fullmatch(r"· look_up \(\d\.\d s\)", lines[at + 3])
        assert lines[at + 4] == "It is all about the sea."


@pytest.mark.parametrize(
    ("keys", "answer"), [("y", "yes"), ("n", "no"), ("a", "always"), ("yes\r", "yes")]
)
def test_a_question_is_answered_with_a_key(keys: str, answer: str) -> None:
    with chatting() as terminal:
        terminal.say("ask").shows("? shell: rm -rf ␛[31mbuild", "y yes · n no · a always")
        terminal.type(keys).shows(f"? shell: {answer}", f"You answered {answer}.")
        terminal.hides("y yes")
        leave(terminal)

        assert "> es" not in str(terminal.page)


def test_a_question_that_a_stop_withdraws_is_gone_and_its_keys_answer_nothing() -> None:
    with chatting() as terminal:
        terminal.say("ask").shows("y yes · n no · a always")
        terminal.type(f"{ESC}y").hides("y yes").shows("■ Stopped", "? shell: withdrawn", "> y")
        terminal.type(CTRL_C).say("ask again").shows("y yes · n no · a always")
        terminal.type("n").shows("You answered no.")
        leave(terminal)

        assert "You answered yes" not in str(terminal.page)


def test_all_of_a_long_question_can_be_read_before_it_is_answered() -> None:
    with chatting() as terminal:
        terminal.say("ask long").shows("y yes · n no · a always")
        shown = "".join(terminal.page.lines)

        assert f"? shell: rm -rf {'/very' * 600}/end" in shown


def test_a_line_that_is_being_typed_is_no_answer() -> None:
    with chatting() as terminal:
        terminal.say("ask").type("say ").shows("yes, no or always, and Enter")
        terminal.type("nay").shows("> say nay").type(ENTER).shows("You said: say nay")
        leave(terminal)

        assert "You answered" not in str(terminal.page)


def test_what_a_model_says_cannot_control_the_terminal() -> None:
    with chatting() as terminal:
        terminal.say("misbehave").shows("half ␛[5A of it")
        leave(terminal)

        assert "␛]0;owned" in str(terminal.page)
        assert "> misbehave" in str(terminal.page)  # nothing was erased
        assert terminal.page.unknown == []


def test_finished_text_is_laid_out_and_code_is_left_as_it_is() -> None:
    with chatting() as terminal:
        terminal.say("markup").shows("• one")
        leave(terminal)

        below = after(terminal, "> markup\n")
        assert below.startswith("Title\n\nSome bold words, and more.\n\nx = 1\n\ny = 2\n")


def test_what_a_tool_prints_does_not_disturb_the_terminal() -> None:
    with chatting() as terminal:
        terminal.say("leak").shows("a tool␛[2J printed this", "It is said.", "> leak")
        terminal.say("leak").shows("and this")


def test_an_answer_that_fails_says_why_in_one_line() -> None:
    with chatting() as terminal:
        terminal.say("fail").shows("The answer failed: RuntimeError: the model ␛[31mhas no more")
        terminal.say("hello").shows("You said: hello")


def test_another_session_can_be_gone_to_and_this_one_goes_on() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5").say("/session other").shows("Now in other.")
        terminal.say("hello").shows("You said: hello").say("/sessions").shows("  s\n* other")
        terminal.say("/session s").shows("Now in s.", "answering").type(ESC).shows("■ Stopped")
        leave(terminal)

        assert "word" not in after(terminal, "■ Stopped")


def test_a_kept_process_can_be_ended() -> None:
    with chatting() as terminal:
        terminal.say("start").shows("Two are up.").type(ESC).shows("1 process kept")
        listed = re.compile(r"^(\d+)  .*sleep 300", re.MULTILINE)
        terminal.say("/processes").until(lambda: listed.search(str(terminal.page)), "a list")
        [pid] = listed.findall(str(terminal.page))
        terminal.say(f"/processes end {pid}").shows(f"Ended: {pid}")
        terminal.say("/processes").shows("No process was declared to be kept.")


def test_after_a_crash_the_person_is_told_what_was_lost(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 's.db'}"
    with chatting("--store", store) as terminal:
        terminal.say("start").shows("Two are up.", "deploy …")
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


def test_an_interrupt_from_outside_is_a_ctrl_c() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5").signal(signal.SIGINT)
        terminal.shows("■ Stopped").say("hello").shows("You said: hello")


def test_a_window_that_is_closed_ends_it() -> None:
    with chatting() as terminal:
        terminal.say("story").shows("word5").hang_up()

        assert terminal.process.wait(30) == 128 + signal.SIGHUP


def test_without_a_terminal_it_says_what_to_do_instead() -> None:
    told = subprocess.run(command(), stdin=subprocess.DEVNULL, capture_output=True, check=False)

    assert (told.returncode, told.stdout) == (2, b"")
    assert b"lastword chat -p TEXT" in told.stderr


def test_the_command_line_imports_nothing_of_a_terminal_before_there_is_one() -> None:
    look = "import sys; import lastword.cli, lastword.cli.chat; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)

    assert {"prompt_toolkit", "rich"}.isdisjoint(shown.stdout.split())


def lastword(*arguments: str) -> str:
    run = [sys.executable, "-X", "utf8", "-m", "lastword", *arguments]
    return subprocess.run(run, capture_output=True, text=True, encoding="utf-8", check=True).stdout
