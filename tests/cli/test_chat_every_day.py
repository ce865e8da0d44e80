"""What whoever lives in a terminal takes for granted."""

import json
import subprocess

import pytest

from tests.cli.terminal import SOON, chatting, command, leave


@pytest.mark.scenario("H1")
def test_sessions_are_chosen_by_a_number_and_begun_by_a_word() -> None:
    with chatting() as terminal:
        terminal.say("hello there").shows("You said: hello there")
        terminal.say("/new other").shows("Now in other.")
        terminal.say("/sessions").shows("s  hello there  (", "*    other  (nothing was said here")
        terminal.say("/sessions sea").shows("No title has these words.")
        terminal.say("/session 1").shows("Now in s.")
        terminal.say("/new s").shows("there is a session s already")
        leave(terminal)


@pytest.mark.scenario("H2")
def test_the_model_and_what_it_has_used_are_told() -> None:
    with chatting() as terminal:
        terminal.say("/cost").shows("No model was asked here yet")
        terminal.say("command").shows("It is done.")
        terminal.say("/cost").shows("1 request, 1,200 tokens read and 34 written")
        terminal.say("/model").shows("rehearsal. /model NAME has another answer from then on.")
        leave(terminal)


@pytest.mark.scenario("H3")
def test_a_command_that_a_call_names_is_shown_once() -> None:
    with chatting() as terminal:
        terminal.say("command").shows("It is done.")
        assert str(terminal.page).count("printf %s%s hel lo") == 1
        terminal.say("start").shows("$ echo up; exec sleep 300")
        leave(terminal)


def written(output: str, text: str) -> list[dict[str, object]]:
    done = subprocess.run(
        command("-p", text, "--output", output), capture_output=True, check=False, timeout=SOON
    )
    return [json.loads(one) for one in done.stdout.decode("ascii").splitlines()]


@pytest.mark.scenario("H4")
def test_an_answer_is_one_object_for_a_script_that_asks_for_it() -> None:
    [told] = written("json", "command")
    assert told == {
        "session": "s",
        "outcome": "completed",
        "error": "",
        "used": {"requests": 1, "read": 1200, "written": 34},
        "text": "It is done.",
    }
    [failed] = written("json", "fail")
    assert (failed["outcome"], failed["text"]) == ("failed", "So far so good. ")
    assert "has no more to say" in str(failed["error"])


@pytest.mark.scenario("H4")
def test_an_answer_is_a_line_for_each_entry_as_it_happens() -> None:
    lines = written("stream-json", "command")
    kinds = [str(one["kind"]) for one in lines]
    assert kinds[-1] == "end"
    assert lines[-1]["outcome"] == "completed"
    for kind in ("called", "result", "used", "text"):
        assert kind in kinds
    assert kinds.index("called") < kinds.index("result") < kinds.index("text")
    assert "".join(str(one["text"]) for one in lines if one["kind"] == "text") == "It is done."
