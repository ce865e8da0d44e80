"""What goes on under an id, typed in the terminal: read, written to, signalled and ended."""

import re

import pytest

from tests.cli.terminal import Terminal, chatting


def reads(terminal: Terminal, id_: str, wanted: str) -> None:
    """Read it until this has been written."""
    while wanted not in str(terminal.page):
        answers = str(terminal.page).count(" bytes. It goes on.")
        terminal.say(f"/processes read {id_}").until(
            lambda before=answers: str(terminal.page).count(" bytes. It goes on.") > before,
            "an answer",
        )


@pytest.mark.scenario("P27", part="chat")
def test_a_process_is_read_written_to_signalled_and_ended_from_the_terminal() -> None:
    with chatting() as terminal:
        terminal.say("reader").shows("It reads.")
        listed = re.compile(r"^(p\d+)  \d+  kept  ", re.MULTILINE)
        terminal.say("/processes").until(lambda: listed.search(str(terminal.page)), "a list")
        [id_] = listed.findall(str(terminal.page))
        terminal.say(f"/processes write {id_} one two").shows(f"{id_} has been given it.")
        reads(terminal, id_, "got one two")
        terminal.say(f"/processes read {id_} 7").shows(f"\none two\n{id_}: 15 bytes. It goes on.")
        terminal.say(f"/processes signal {id_} INT").shows(f"SIGINT was sent to {id_}.")
        reads(terminal, id_, "interrupted")
        given = str(terminal.page).count("has been given it.")
        terminal.say(f"/processes finish {id_}").until(
            lambda: str(terminal.page).count("has been given it.") > given, "the end of input"
        )
        terminal.say(f"/processes end {id_}").shows(f"Ended: {id_}")
        terminal.say(f"/processes signal {id_} INT").shows(
            f"{id_} has ended, so nothing was done: "
        )
        terminal.say(f"/processes end {id_}").until(
            lambda: str(terminal.page).count("so nothing was done") == 2, "the same again"
        )
        terminal.say("/processes").shows("Nothing goes on under an id.")
