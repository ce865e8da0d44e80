"""What a person meets who types lastword and nothing else; and that help can be read."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lastword.cli import entry, front, main
from tests.cli import terminal as terminals
from tests.cli.terminal import Terminal, leave

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")
FIRST = ("demo", "serve", "chat", "acp", "doctor")


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In an empty directory, with no key and no setting."""
    for name in (*KEYS, "OPENAI_BASE_URL", "LASTWORD_STORE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def alone(monkeypatch: pytest.MonkeyPatch, without: str = "") -> Generator[Terminal]:
    """`lastword`, at a terminal; without a module, if that is said."""
    block = f"import sys; sys.modules[{without!r}] = None; " if without else ""
    code = f"{block}from lastword.cli import main; main([])"
    monkeypatch.setattr(terminals, "command", lambda: [sys.executable, "-X", "utf8", "-c", code])
    terminal = Terminal()
    try:
        yield terminal
    finally:
        terminal.close()


@pytest.mark.scenario("B8")
def test_who_has_chosen_no_model_is_told_what_can_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    with alone(monkeypatch) as terminal:
        assert terminal.leaves() == 0

    page = str(terminal.page)
    assert "stop means stop" in page
    assert all(f"lastword {name} " in page for name in FIRST)
    assert "OPENAI_API_KEY" in page
    assert "lastword --help" in page
    assert "docs/" in page


@pytest.mark.scenario("B8")
def test_who_has_chosen_a_model_talks_to_it(at_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (at_home / "lastword.toml").write_text("model = 'rehearsal'", encoding="utf-8")

    with alone(monkeypatch) as terminal:
        terminal.shows("· /help")
        leave(terminal)

    assert terminal.page.lines[0].endswith(": stop means stop.")  # before all that takes a while


@pytest.mark.scenario("B8")
def test_who_has_not_installed_chat_is_told_how_to(
    at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (at_home / "lastword.toml").write_text("model = 'rehearsal'", encoding="utf-8")

    with alone(monkeypatch, without="prompt_toolkit") as terminal:
        assert terminal.leaves() == 0

    assert "need more than is installed here. Run:" in str(terminal.page)
    assert "install chat" in str(terminal.page)


@pytest.mark.parametrize("key", [*KEYS, "OPENAI_BASE_URL"])
def test_a_key_or_an_address_chooses_a_model(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not front.is_set_up()

    monkeypatch.setenv(key, "http://127.0.0.1:1/v1")

    assert front.is_set_up()


def test_a_setting_that_is_wrong_chooses_nothing_and_is_no_error_yet(at_home: Path) -> None:
    (at_home / "lastword.toml").write_text("model = ", encoding="utf-8")

    assert not front.is_set_up()


@pytest.mark.scenario("B9")
@pytest.mark.parametrize("words", [[], *([name] for name in entry.COMMANDS)], ids=" ".join)
def test_help_says_what_it_is_about_and_fits_on_a_terminal(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    with pytest.raises(SystemExit) as left:
        main([*words, "--help"])

    assert left.value.code == 0
    usage, _, about = capsys.readouterr().out.partition("\n\n")
    assert usage.startswith(" ".join(["usage: lastword", *words]))
    assert about[0].isupper()
    assert [line for line in f"{usage}\n{about}".splitlines() if len(line) > 80] == []


def test_whoever_reads_a_pipe_is_told_every_command_and_that_is_no_error() -> None:
    command = [sys.executable, "-X", "utf8", "-m", "lastword"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert [name for name in entry.COMMANDS if f"\n  {name} " not in done.stdout] == []
