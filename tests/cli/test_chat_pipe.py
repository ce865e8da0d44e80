"""One message and its answer, for a script: what is written where, and the exit code."""

import asyncio
import fcntl
import io
import os
import re
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO

import pytest

from lastword import Run, Runtime
from lastword.cli.chat.output import Output
from lastword.cli.chat.pipe import run_once
from lastword.cli.chat.start import chat
from lastword.cli.chat.writing import Writing
from tests.cli.terminal import SOON, Terminal, command
from tests.promise.workshop import until

Running = subprocess.Popen[bytes]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Written:
    """Two files to write to, and what is in them."""

    def __init__(self, folder: Path) -> None:
        self._paths = folder / "out", folder / "err"
        self.files: tuple[TextIO, TextIO] = (self._paths[0].open("w"), self._paths[1].open("w"))

    @property
    def out(self) -> str:
        return self._paths[0].read_text()

    @property
    def err(self) -> str:
        return self._paths[1].read_text()


@pytest.fixture
def written(tmp_path: Path) -> Generator[Written]:
    written = Written(tmp_path)
    yield written
    for file in written.files:
        file.close()


def once(text: str, given: bytes = b"") -> tuple[int, str, str]:
    done = subprocess.run(
        command("-p", text), input=given, capture_output=True, check=False, timeout=SOON
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@contextmanager
def answering(text: str, *arguments: str) -> Generator[Running]:
    """An answer that has begun to be written."""
    process = subprocess.Popen(
        command("-p", text, *arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.read(8)
        yield process
    finally:
        process.kill()
        process.communicate()


def until_full(pipe: IO[bytes] | None) -> int:
    """Return when nothing more goes in; what is in it."""
    assert pipe is not None
    room = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
    by = time.monotonic() + SOON
    while struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0] < room:
        assert time.monotonic() < by, "never full"
    return room


def test_the_answer_and_nothing_else_is_written() -> None:
    assert once("look") == (0, "I look it up.It is all about the sea.\n", "")


def test_the_message_may_come_from_the_input() -> None:
    assert once("-", "from naïve input\n".encode()) == (0, "You said: from naïve input\n \n", "")


def test_an_empty_input_is_not_sent() -> None:
    assert once("-", b" \n") == (2, "", "lastword chat: there is nothing to send\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_stops_it_and_the_receipt_is_on_the_error_output(number: signal.Signals) -> None:
    with answering("story") as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=SOON)

    assert process.returncode == 128 + number
    assert err.decode().startswith("lastword chat: Stopped: 1 answer cut off, quiet after ")
    assert len(err.splitlines()) == 1
    assert b"another thing" not in out


def test_a_stop_in_doubt_says_so() -> None:
    with answering("start") as process:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SOON)

    assert process.returncode == 130
    ended, doubt = err.decode().splitlines()
    assert re.search(r"quiet after \d+ ms\. Processes: 1 ended; kept: \d+ .*\.$", ended)
    assert doubt == "lastword chat: Tools may have executed: deploy."


def test_a_reader_that_does_not_read_cannot_hold_up_a_stop() -> None:
    with answering("flood") as process:
        until_full(process.stdout)
        process.send_signal(signal.SIGINT)

        assert process.wait(SOON) == 130


def test_nothing_is_written_after_the_stop_though_there_is_a_lot_to_write(tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    with answering(f"torrent {told}", "--grace", "3") as process:
        assert process.stdout is not None
        room = until_full(process.stdout)
        process.send_signal(signal.SIGINT)
        assert told.read_text() == "asked\n"  # it is being stopped, and will not be for a while
        rest = process.stdout.read()

    assert len(rest) <= room + io.DEFAULT_BUFFER_SIZE  # what the pipe held, and what we do


def test_a_receipt_that_nobody_reads_cannot_hold_up_a_stop() -> None:
    process = subprocess.Popen(
        command("-p", "flood"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        until_full(process.stdout)
        process.send_signal(signal.SIGINT)

        assert process.wait(SOON) == 130
    finally:
        process.kill()
        process.communicate()


def test_without_its_terminal_it_goes_on_if_it_was_told_to() -> None:
    deaf = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does, and it is handed on
    try:
        with answering("story") as process:
            process.send_signal(signal.SIGHUP)
            assert process.stdout is not None
            assert process.stdout.read(4096)
            process.send_signal(signal.SIGTERM)

            assert process.wait(SOON) == 128 + signal.SIGTERM
    finally:
        signal.signal(signal.SIGHUP, deaf)


def test_a_second_interrupt_leaves_at_once(tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    with answering(f"stubborn {told}", "--grace", "3") as process:
        process.send_signal(signal.SIGINT)
        assert told.read_text() == "asked\n"  # it is being stopped, and will not be for a while
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SOON)

    assert (process.returncode, err) == (130, b"")


def test_an_answer_that_fails_is_one_line_and_a_code() -> None:
    code, out, err = once("fail")

    assert (code, out) == (1, "So far so good. \n")
    assert err.startswith("lastword chat: the answer failed: RuntimeError: the model ␛[31mhas no")
    assert len(err.splitlines()) == 1


def test_it_is_stopped_quietly_when_nobody_reads_any_more() -> None:
    with answering("story") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(SOON) == 141
        assert process.stderr is not None
        assert process.stderr.read() == b""
        process.stdout = None


def test_what_would_have_to_be_asked_is_not_allowed() -> None:
    code, out, err = once("ask")

    assert (code, out) == (0, "May I? You answered no.\n")
    assert err == "lastword chat: shell was not allowed: there is nobody to ask\n"


def test_at_a_terminal_what_a_model_says_is_harmless_and_in_a_file_it_is_as_it_was() -> None:
    _, out, _ = once("misbehave")
    terminal = Terminal("-p", "misbehave")
    try:
        assert terminal.leaves() == 0
    finally:
        terminal.close()

    assert "\x1b[2J" in out
    assert "␛[2J" in str(terminal.page)
    assert terminal.page.unknown == []


async def test_a_message_that_is_not_accepted_is_one_line_and_a_code(written: Written) -> None:
    async def engine(run: Run) -> None:
        await asyncio.Event().wait()

    async with Runtime(engine, on_message="refuse") as runtime:
        await runtime.session("s").send("first")
        code = await run_once(runtime, "s", "second", *written.files)

    assert (code, written.out) == (1, "")
    assert written.err.startswith("lastword chat: session s is busy and refuses messages")


async def test_it_writes_what_its_own_message_is_answered_and_leaves_the_signals_as_they_were(
    written: Written,
) -> None:
    async def engine(run: Run) -> None:
        await run.emit(f"<{run.message.text}>")

    before = [signal.getsignal(number) for number in SIGNALS]
    async with Runtime(engine, on_message="queue") as runtime:
        await runtime.session("s").send("first")
        code = await run_once(runtime, "s", "second", *written.files)

    assert (code, written.out, written.err) == (0, "<second>\n", "")
    assert [signal.getsignal(number) for number in SIGNALS] == before


@pytest.mark.scenario("W73")
@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
async def test_what_was_let_out_before_a_stop_and_not_heard_yet_is_written_by_no_form(
    written: Written, output: Output
) -> None:
    async def engine(run: Run) -> None:
        await run.emit("heard")
        await until(lambda: output == "json" or "heard" in written.out)
        await run.emit("not heard")
        session.stop()
        await asyncio.Event().wait()

    async with Runtime(engine) as runtime:
        session = runtime.session("s")
        code = await run_once(runtime, "s", "go", *written.files, output=output)

    assert code == 1
    assert "not heard" not in written.out
    assert output == "text" or '"outcome": "stopped"' in written.out.splitlines()[-1]


@pytest.mark.scenario("W73")
async def test_of_lines_that_wait_a_stop_leaves_the_one_that_has_begun() -> None:
    reads, writes = os.pipe()
    out = os.fdopen(writes, "w")
    writing = Writing(out)
    for number in range(2000):
        writing.put(f"{number} {'x' * 1000}\n")
    first = await asyncio.to_thread(os.read, reads, 1500)  # the rest of that line has begun

    writing.cut_after_line()
    writing.put("the end\n")
    writing.end()

    def rest() -> bytes:
        with os.fdopen(reads, "rb") as file:
            return file.read()

    reading = asyncio.create_task(asyncio.to_thread(rest))
    await writing.written()
    out.close()
    *lines, end = (first + await reading).decode().splitlines()
    assert end == "the end"
    assert len(lines) < 200
    assert lines == [f"{number} {'x' * 1000}" for number in range(len(lines))]


async def test_a_full_disk_stops_it_and_says_why(written: Written) -> None:
    async def engine(run: Run) -> None:
        while True:
            await run.emit("on and on ")
            await asyncio.sleep(0)

    with open("/dev/full", "w") as out:  # noqa: ASYNC230, PTH123 - a device, which does not block
        async with Runtime(engine) as runtime:
            code = await run_once(runtime, "s", "go", out, written.files[1])

    assert code == 1
    assert "could not be written, so it was stopped: [Errno 28]" in written.err
    assert "Stopped: 1 answer cut off" in written.err


@pytest.mark.scenario("W52", part="chat")
async def test_a_command_in_a_pipe_is_done_and_no_model_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked, going = list[str](), asyncio.Event()

    async def engine(run: Run) -> None:
        asked.append(run.message.text)
        going.set()
        await asyncio.Event().wait()

    async with Runtime(engine, on_message="queue") as runtime:
        session = runtime.session("s")
        for text in ("one", "two"):
            await session.send(text)
        await going.wait()
        codes = [
            await chat(runtime, "s", prompt=text)
            for text in ("/queue", "/queue remove 9", "/mode steer", "/stop", "/receipt", "/queue")
        ]

    told = capsys.readouterr()
    assert codes == [0, 1, 1, 0, 0, 0]
    assert told.out.startswith("1. two\nStopped: 1 answer cut off")
    assert told.out.endswith("Nothing waits.\n")
    assert "by its number in /queue: 1 to 1" in told.err
    assert "on_message = 'steer'" in told.err
    assert asked == ["one"]
