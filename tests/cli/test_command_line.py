"""What a person sees who types lastword."""

import re
import subprocess
import sys
from importlib import metadata

import pytest

from lastword.cli import demo, main
from lastword.core.entries import Text
from lastword.core.model import Generation, Reason, RunId, SessionId
from lastword.core.receipt import Receipt
from lastword.core.story import FeedEvent

NOTHING_HEARD = "words, tool output and typing marks after the stop: 0"


def lastword(*arguments: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "lastword", *arguments)


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "utf8", "-W", "error", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def test_the_demonstration_ends_in_silence_also_when_nobody_looks() -> None:
    shown = lastword("demo")

    assert shown.returncode == 0
    assert shown.stderr == ""
    *told, alive, heard = shown.stdout.splitlines()
    assert heard == NOTHING_HEARD
    assert re.search(r"processes ended: [3-9], alive: 0", alive)
    assert sum("Stopped demo: 1 answer cut off, quiet" in line for line in told) == 2
    assert "       shell: [may have executed]" in told
    assert any(line.startswith("tool   working, ") for line in told)
    assert any(re.match(r"       level \w+ means: when a stop says done", line) for line in told)
    story = shown.stdout.partition("you    run trap")[0]
    assert "There was a lighthouse" in story
    assert "it ends in the middle of a line" not in story
    assert shown.stdout.rpartition("Stop.")[2].count("And on") == 0


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("read", [80, 300])
def test_the_demonstration_ends_when_whoever_looks_leaves(read: int, whole: bool) -> None:
    without = "" if whole else "sys.modules['pydantic_ai'] = None; "
    code = f"import sys; {without}from lastword.cli import main; main(['demo'])"
    command = [sys.executable, "-X", "utf8", "-c", code]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        assert process.stdout.read(read)
        process.stdout.close()

        assert process.wait(30) == 1
        assert process.stderr.read() == b""
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_without_what_an_agent_needs_the_demonstration_is_shorter() -> None:
    blocked = "import sys; sys.modules['pydantic_ai'] = None; from lastword.cli import main; "
    shown = python("-c", f"{blocked} sys.exit(main(['demo']))")

    assert shown.returncode == 0
    assert shown.stderr == ""
    assert shown.stdout.splitlines()[-1] == NOTHING_HEARD
    _, _, receipt = shown.stdout.partition("Stopped demo: 1 answer cut off")
    assert "tools not started: send_mail" in receipt
    assert "print_copy" in receipt
    assert "refused after the stop: 9 effects" in receipt
    assert "And another thing" not in shown.stdout


def test_the_demonstration_counts_what_it_hears_of_a_run_that_was_stopped() -> None:
    def heard(generation: int) -> FeedEvent:
        return FeedEvent(1, SessionId("s"), Generation(generation), Text(RunId("s#1"), "x"))

    receipt = Receipt(SessionId("s"), Generation(4), Reason.STOPPED, 0.0, runs=(RunId("s#1"),))

    assert demo.late([heard(3), heard(4), heard(1)], receipt) == [heard(3), heard(1)]


def test_without_arguments_it_says_what_can_be_done() -> None:
    shown = lastword()

    assert shown.returncode == 0
    assert "stop means stop" in shown.stdout
    assert "  demo " in shown.stdout


def test_it_knows_its_version() -> None:
    assert lastword("--version").stdout == f"lastword {metadata.version('lastword')}\n"


@pytest.mark.parametrize("arguments", [["sevre"], ["--loud"], ["demo", "again"]])
def test_what_it_does_not_know_is_an_error_that_says_so(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)

    assert left.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert arguments[-1] in err
    assert err.endswith("--help\n")
