"""What helps a person at the line of a terminal: one key, Tab, an editor, a list to pick from."""

import re
from pathlib import Path

import pytest

from lastword.cli.chat.completing import Completion, completed
from lastword.cli.chat.picking import Choosable, Picker
from tests.cli.terminal import COLUMNS, ENTER, ESC, Terminal, after, chatting, leave

CTRL_G, CTRL_N, CTRL_U, CTRL_Y, DOWN, TAB = "\x07", "\x0e", "\x15", "\x19", "\x1b[B", "\t"


@pytest.mark.scenario("H8")
@pytest.mark.scenario("H9")
@pytest.mark.scenario("H10")
def test_one_key_answers_tab_completes_and_an_editor_writes_the_line() -> None:
    with chatting(VISUAL="", EDITOR="sed -i s/hello/goodbye/") as terminal:
        terminal.say("ask").shows("Ctrl-Y: allow, Ctrl-N: deny")
        terminal.type(CTRL_Y).shows("You answered yes.")
        terminal.say("ask again").shows("> ask again", "Ctrl-Y: allow")
        terminal.type("x" + CTRL_Y).shows("> x")  # who writes does not answer
        terminal.type(CTRL_U + CTRL_N).shows("You answered no.")

        terminal.type("/se" + TAB).shows("> /session", "/session  /sessions")
        terminal.type(CTRL_U + "look at @pyproj" + TAB).shows("> look at @pyproject.toml")
        terminal.type(CTRL_U + "hello" + CTRL_G).shows("> goodbye")
        terminal.type(ENTER).shows("You said: goodbye")
        leave(terminal)


@pytest.mark.scenario("H9")
def test_without_an_editor_the_line_stays() -> None:
    with chatting(VISUAL="", EDITOR="/nowhere/ed") as terminal:
        terminal.type("hello" + CTRL_G).shows("There is no editor: VISUAL or EDITOR has to say")
        terminal.type(ENTER).shows("You said: hello")
        leave(terminal)


@pytest.mark.scenario("H1")
def test_a_session_is_picked_and_esc_stops_all_the_same() -> None:
    with chatting() as terminal:
        terminal.say("hello there").shows("You said: hello there")
        terminal.say("/new other").shows("Now in other.")
        terminal.say("/sessions").shows(">  ".rstrip(), "s  hello there  (", "1 message)")
        terminal.type("there").shows("> there").hides("nothing was said here yet")
        terminal.type(ENTER).shows("Now in s.")
        terminal.say("story").shows("word5")
        terminal.say("/sessions").shows("Up, Down, Enter goes there")
        terminal.type(ESC).shows("■ Stopped:").hides("Up, Down, Enter goes there")
        leave(terminal)


@pytest.mark.scenario("H11")
def test_no_word_is_cut_at_the_edge_while_it_is_said() -> None:
    with chatting() as terminal:
        terminal.say("line").shows("word29")
        rows = [row for row in terminal.page.lines if row.startswith("word")]
        terminal.type(ESC).shows("■ Stopped:")
        leave(terminal)

    assert len(rows) > 1
    assert max(map(len, rows)) <= COLUMNS
    assert re.findall(r"\S+", " ".join(rows)) == [f"word{number}" for number in range(30)]


@pytest.mark.scenario("H2")
@pytest.mark.scenario("H12")
def test_there_is_a_screen_before_there_is_an_agent(tmp_path: Path) -> None:
    here = tmp_path / "here"
    terminal = Terminal("--coming", str(here))
    try:
        terminal.shows("getting ready …", "/help")
        terminal.say("to be stopped").shows("answering")
        terminal.type(ESC).shows("■ Stopped:")
        terminal.say("ask").shows("> ask")
        here.touch()
        terminal.shows("Ctrl-Y: allow").type(CTRL_Y).shows("You answered yes.")
        terminal.say("/model nobody's").shows("there is no such model", "s · rehearsal")
        terminal.say("/model another").shows("another answers from here on", "s · another")
        terminal.say("hello").shows("HELLO")
        leave(terminal)
        assert "to be stopped" not in after(terminal, "■ Stopped:")
    finally:
        terminal.close()


@pytest.mark.scenario("H12")
def test_an_agent_that_cannot_come_is_told_and_the_terminal_is_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "why").write_text("there is no such model", encoding="utf-8")
    terminal = Terminal("--coming", str(tmp_path / "why"))
    try:
        assert terminal.leaves() == 1
        assert "there is no such model" in str(terminal.page)
        assert terminal.flags == terminal.before
    finally:
        terminal.close()


@pytest.mark.scenario("H10")
def test_what_is_certain_is_completed_and_the_rest_is_listed(tmp_path: Path) -> None:
    for name in ("alpha.py", "alpine.py", ".hidden", "with space"):
        (tmp_path / name).touch()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "one.py").touch()

    def typed(before: str) -> Completion:
        return completed(before, ["queue", "quit", "stop"], tmp_path)

    assert typed("/st") == Completion("op ")
    assert typed("/qu") == Completion("", ("/queue ", "/quit "))
    assert typed("see @al") == Completion("p", ("alpha.py ", "alpine.py "))
    assert typed("@s") == Completion("rc/")
    assert typed("@src/") == Completion("one.py ")
    assert typed("@.h") == Completion("idden ")
    assert typed("@") == Completion("", ("alpha.py ", "alpine.py ", "src/"))
    assert typed("me@al") == typed("say /st") == typed("@nowhere/x") == Completion()


@pytest.mark.scenario("H1")
def test_a_list_is_moved_in_and_narrowed_by_words() -> None:
    picker = Picker([Choosable(name, f"{name} title") for name in ("one", "two", "three")])
    picker.move(5)
    assert picker.picked == "three"
    picker.move(-1)
    assert picker.picked == "two"
    picker.filter("t TITLE")
    assert [line for _, line in picker.lines()][:3] == [
        "> one title",
        "  two title",
        "  three title",
    ]
    picker.filter("none of them")
    assert picker.picked is None
    picker.move(-1)
    assert "None has these words" in picker.lines()[-1][1]
