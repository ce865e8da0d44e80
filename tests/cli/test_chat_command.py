"""`lastword chat`, as it is typed."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-X", "utf8", "-m", "lastword", "chat")
BARE = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}


def chat(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**BARE, "HOME": str(cwd), "XDG_CONFIG_HOME": str(cwd)}
    return subprocess.run(
        [*COMMAND, *words], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def test_without_a_key_it_answers_in_rehearsal_and_remembers(tmp_path: Path) -> None:
    first = chat("--allow", "shell", "-p", "run echo hi", cwd=tmp_path)
    second = chat("-p", "hello", cwd=tmp_path)

    assert (first.returncode, first.stderr) == (0, "")
    assert "shell returned: hi" in first.stdout
    assert "rehearsal" in second.stdout
    assert (tmp_path / "lastword.db").exists()


def test_what_is_typed_counts_more_than_what_is_set(tmp_path: Path) -> None:
    (tmp_path / "lastword.toml").write_text("model = 'nobody:x'", encoding="utf-8")

    set_ = chat("-p", "hello", cwd=tmp_path)
    typed = chat("-p", "hello", "--model", "rehearsal", cwd=tmp_path)

    assert (set_.returncode, set_.stdout) == (1, "")
    assert "lastword chat: model nobody:x cannot be used" in set_.stderr
    assert typed.returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--model", "gpt-5", "-p", "x"], 1, "does not say whose it is"),
        (["--model", "openai:gpt-5", "-p", "x"], 1, "OPENAI_API_KEY is not set"),
        (["--model", "x", "--base-url", "http://127.0.0.1:9", "-p", "x"], 1, "cannot be reached"),
        (["--mode", "shout", "-p", "x"], 2, "invalid choice"),
        (["--config", "lost.toml", "-p", "x"], 1, "lost.toml cannot be read"),
        (["--allow", "", "-p", "x"], 1, "rule"),
        ([], 2, "this is not a terminal"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    words: list[str], code: int, said: str, tmp_path: Path
) -> None:
    shown = chat(*words, cwd=tmp_path)

    assert (shown.returncode, shown.stdout) == (code, "")
    assert said in shown.stderr
    assert shown.stderr.count("\n") == 1
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("-p hello >&-", 2, "lastword: the output is closed"),
        ("-p hello <&- >&-", 2, "lastword: the output is closed"),
        ("-p - <&-", 2, "lastword chat: there is nothing to send"),
        ("<&-", 2, "lastword chat: this is not a terminal"),
    ],
)
def test_an_input_or_output_that_is_closed_is_one_line(
    line: str, code: int, said: str, tmp_path: Path
) -> None:
    shown = in_shell(f"{line} --model rehearsal", cwd=tmp_path)

    assert (shown.returncode, shown.stdout) == (code, "")
    assert shown.stderr.startswith(said)
    assert shown.stderr.count("\n") == 1


def test_it_answers_with_nobody_to_read_its_errors(tmp_path: Path) -> None:
    shown = in_shell("--model rehearsal -p hello 2>&-", cwd=tmp_path)

    assert (shown.returncode, shown.stderr) == (0, "")
    assert "rehearsal" in shown.stdout


def in_shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**BARE, "HOME": str(cwd), "XDG_CONFIG_HOME": str(cwd)}
    return subprocess.run(
        ["/bin/sh", "-c", f"{shlex.join(COMMAND)} {line}"],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_comes_before_anything_has_begun_ends_it_quietly(
    number: signal.Signals, tmp_path: Path
) -> None:
    settings = tmp_path / "lastword.toml"
    os.mkfifo(settings)
    process = subprocess.Popen(
        [*COMMAND, "--config", str(settings), "-p", "hello"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        with settings.open("w"):  # it reads them now
            process.send_signal(number)
            out, err = process.communicate(timeout=30)
    finally:
        process.kill()

    assert (process.returncode, out, err) == (128 + number, b"", b"")
