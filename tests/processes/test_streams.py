"""What a process reads and writes: nothing is lost that was not counted, and nobody holds it up."""

import asyncio
import signal
import tracemalloc

import pytest

from lastword.processes import Completed, Level, Process, command
from tests.processes.helping import a_warden, heard, python, sh, state_of, until
from tests.processes.strict import AT_EACH

MEGABYTE = 1 << 20
TEN_MEGABYTES = bytes(range(256)) * 40_000
PATTERN = "import sys; sys.stdout.buffer.write(bytes(range(256)) * {times})"
A_MILLION_LINES = "".join(f"{number}\n" for number in range(1, 1_000_001)).encode()
HOLDS_ON = "sleep 1000 & printf done"
ON_A_WORD = sh("echo ready; read word; exec seq 1000000")  # when its reader is there
READY_AND_A_MILLION_LINES = b"ready\n" + A_MILLION_LINES


async def read_slowly(process: Process, pauses: int) -> tuple[bytes, int]:
    """All that it wrote after a word, and how far behind the reader ever was."""
    read, behind, out = b"", 0, process.stdout
    async for data in out:
        if not read and process.stdin:
            process.stdin.feed(b"go\n")
        read += data
        for _ in range(pauses):  # others have their turn, and more could be read
            await asyncio.sleep(0)
        behind = max(behind, out.total - len(read))
    return read, behind


# what it reads


async def test_without_an_input_it_reads_the_end_of_one_at_once() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command(*sh("readlink /proc/self/fd/0; cat")))

        assert process.stdin is None
        assert (await process.communicate()).output == "/dev/null\n"
        with pytest.raises(ValueError, match="was not started with stdin='pipe'"):
            await process.communicate(b"words")


@AT_EACH
@pytest.mark.parametrize("words", [b"", b"words", TEN_MEGABYTES], ids=["none", "some", "many"])
async def test_the_bytes_it_was_given_are_read_and_then_the_end(level: Level, words: bytes) -> None:
    async with a_warden(level) as warden:
        process = await warden.spawn(command("wc", "-c", stdin=words))

        assert (await process.communicate()).output == f"{len(words)}\n"


async def test_a_pipe_is_written_to_and_finished() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command("cat", stdin="pipe"))
        assert process.stdin is not None
        await process.stdin.write(b"one ")
        await heard(process.stdout, b"one ")
        await process.stdin.write(b"two")
        process.stdin.finish()

        assert await process.communicate() == Completed(0, "one two")
        with pytest.raises(BrokenPipeError, match="cat reads no more of its standard input"):
            await process.stdin.write(b"three")


async def test_only_bytes_can_be_written() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command("cat", stdin="pipe"))
        stdin: object = process.stdin
        with pytest.raises(TypeError, match="a process reads bytes, not a str"):
            await stdin.write("text")  # type: ignore[attr-defined]


async def test_whoever_has_closed_its_input_cannot_be_told() -> None:
    async with a_warden() as warden:
        deaf = command(*sh("exec 0<&-; echo closed; sleep 1000"), stdin="pipe")
        process = await warden.spawn(deaf)
        assert process.stdin is not None
        await heard(process.stdout, b"closed")

        with pytest.raises(BrokenPipeError, match="sleep 1000' reads no more"):
            await process.stdin.write(TEN_MEGABYTES)


async def test_one_that_has_ended_cannot_be_told_though_others_hold_its_input() -> None:
    async with a_warden() as warden:
        leaves = command(*sh("exec 3<&0; sleep 1000 <&3 &"), stdin="pipe")
        process = await warden.spawn(leaves)
        assert process.stdin is not None
        await process.wait()

        with pytest.raises(BrokenPipeError, match="reads no more of its standard input"):
            await process.stdin.write(b"words")


async def test_a_write_that_waits_for_a_reader_is_told_when_there_is_none() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command("sleep", "1000", stdin="pipe"))
        assert process.stdin is not None
        writing = asyncio.create_task(process.stdin.write(TEN_MEGABYTES))
        await asyncio.sleep(0)
        process.send_signal(signal.SIGKILL)

        with pytest.raises(BrokenPipeError, match="sleep 1000 reads no more"):
            await writing


@AT_EACH
async def test_communicating_does_not_wait_for_a_process_to_read(level: Level) -> None:
    async with a_warden(level) as warden:
        process = await warden.spawn(command(*sh("echo deaf; exit 3"), stdin="pipe"))

        assert await process.communicate(TEN_MEGABYTES) == Completed(3, "deaf\n")


async def test_what_was_given_at_the_start_is_all_that_can_be_said() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command("cat", stdin=b"first"))
        with pytest.raises(ValueError, match="cat was not started with stdin='pipe'"):
            await process.communicate(b"second")


async def test_what_it_reads_and_writes_at_once_comes_back_whole() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command("cat", stdin="pipe", output_limit=1 << 30))
        await process.communicate(TEN_MEGABYTES)

    assert process.stdout.head == TEN_MEGABYTES


# what it writes


@AT_EACH
@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("exit 0", Completed(0, "")),
        ("echo out; echo err >&2; exit 7", Completed(7, "out\n", "err\n")),
        ("kill -TERM $$", Completed(-signal.SIGTERM, "")),
        ("kill -SEGV $$", Completed(-signal.SIGSEGV, "")),
        ("exit 255", Completed(255, "")),
    ],
)
async def test_it_is_told_how_it_ended_and_what_it_wrote(
    level: Level, line: str, completed: Completed
) -> None:
    async with a_warden(level) as warden:
        process = await warden.spawn(command(*sh(line)))

        assert await process.communicate() == completed
        assert await process.wait() == process.code == completed.code


async def test_both_streams_can_be_one() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command(*sh("echo a; echo b >&2; echo c"), merged=True))

        assert await process.communicate() == Completed(0, "a\nb\nc\n")
        assert process.stderr is None


async def test_whoever_takes_too_long_is_ended_and_that_is_said() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command(*sh("echo begun; exec sleep 1000")))
        await heard(process.stdout, b"begun")
        done = await process.completed(timeout=0, grace=5.0)

    assert done == Completed(-signal.SIGTERM, "begun\n", timed_out=True)
    assert str(done) == "begun\n[ended: it took too long]"


async def test_what_nobody_waits_for_any_more_is_ended() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command(*sh("echo begun; exec sleep 1000")))
        await heard(process.stdout, b"begun")
        waiting = asyncio.create_task(process.completed(timeout=None, grace=5.0))
        await asyncio.sleep(0)
        waiting.cancel()

        assert await process.wait() == -signal.SIGTERM


@pytest.mark.scenario("P11", part="processes")
@AT_EACH
async def test_of_a_million_lines_the_first_and_last_are_kept_and_the_rest_counted(
    level: Level,
) -> None:
    async with a_warden(level) as warden:
        process = await warden.spawn(command("seq", "1000000"))
        done = await process.communicate()

    out = process.stdout
    assert out.total == len(A_MILLION_LINES) == len(out.head) + out.cut + len(out.tail)
    assert out.head == A_MILLION_LINES[: len(out.head)]
    assert out.tail == A_MILLION_LINES[-len(out.tail) :]
    assert min(len(out.head), len(out.tail)) >= MEGABYTE // 2
    assert len(out.head) + len(out.tail) <= 2 * MEGABYTE
    assert f"\n… {out.cut:,} bytes cut …\n" in done.output
    assert done.cut == out.cut


@pytest.mark.scenario("P11", part="processes")
@pytest.mark.parametrize("limit", [2, 1000, MEGABYTE])
async def test_binary_output_is_kept_and_cut_to_the_byte(limit: int) -> None:
    async with a_warden() as warden:
        writing = command(*python(PATTERN.format(times=40_000)), output_limit=limit)
        process = await warden.spawn(writing)
        done = await process.communicate()

    out = process.stdout
    assert out.total == len(TEN_MEGABYTES) == len(out.head) + out.cut + len(out.tail)
    assert out.head == TEN_MEGABYTES[: len(out.head)]
    assert out.tail == TEN_MEGABYTES[-len(out.tail) :]
    assert len(out.head) + len(out.tail) <= 2 * limit + (1 << 17)
    assert "bytes cut" in done.output


@pytest.mark.scenario("P11", part="processes")
async def test_a_hundred_megabytes_take_no_more_memory_than_what_is_kept() -> None:
    async with a_warden() as warden:
        tracemalloc.start()
        try:
            process = await warden.spawn(command("head", "-c", "100000000", "/dev/zero"))
            await process.wait()
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert process.stdout.total == 100_000_000
    assert most < 5 * MEGABYTE


# a reader


@pytest.mark.parametrize(
    ("limit", "held"),  # what a pipe and a read can hold: more, where more is kept
    [(2, 1 << 17), (1000, 1 << 17), (1 << 16, 1 << 17), (MEGABYTE, 3 << 19)],
)
async def test_a_slow_reader_misses_nothing_and_is_waited_for(limit: int, held: int) -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command(*ON_A_WORD, stdin="pipe", output_limit=limit))
        read, behind = await read_slowly(process, pauses=5)

    assert read == READY_AND_A_MILLION_LINES
    assert behind <= limit // 2 + held


@pytest.mark.parametrize(
    ("limit", "first"),
    [(2, 1 << 16), (1 << 16, 1 << 17), *((MEGABYTE, n << 16) for n in range(8, 30))],
)
async def test_a_reader_who_pauses_misses_nothing_of_what_was_there_and_what_comes(
    limit: int, first: int
) -> None:
    """However much was written before he came, and though the process ends meanwhile."""
    program = PATTERN.format(times=first >> 8)
    program += "; sys.stdout.flush(); sys.stdin.read(); sys.stdout.buffer.write(b'last' * 16384)"
    async with a_warden() as warden:
        writing = command(*python(program), stdin="pipe", output_limit=limit)
        process = await warden.spawn(writing)
        out = process.stdout
        await until(lambda: out.total == first)
        there, read = len(out.tail) if out.cut else first, b""
        async for data in out:
            read += data
            await process.communicate()

    written = TEN_MEGABYTES[:first] + b"last" * 16384
    assert written.endswith(read)
    assert len(read) >= there + 4 * 16384


async def test_a_process_whose_reader_stands_still_waits_until_he_reads_on() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command(*ON_A_WORD, stdin="pipe", output_limit=1 << 16))
        assert process.stdin is not None
        reader = aiter(process.stdout)
        read = await anext(reader)
        await process.stdin.write(b"go\n")
        await until(lambda: process.stdout.total > 1 << 15)
        await until(lambda: state_of(process.pid) == "S")
        assert process.code is None
        async for data in reader:
            read += data

    assert read == READY_AND_A_MILLION_LINES


async def test_a_process_does_not_wait_for_a_reader_who_has_left() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command("seq", "1000000", output_limit=1 << 16))
        await heard(process.stdout, b"\n")

        assert await process.wait() == 0
        assert process.stdout.total == len(A_MILLION_LINES)


async def test_two_readers_each_get_all_of_it() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command(*ON_A_WORD, stdin="pipe", output_limit=1 << 16))
        both = await asyncio.gather(read_slowly(process, 0), read_slowly(process, 3))

    assert {read for read, _ in both} == {READY_AND_A_MILLION_LINES}


async def test_who_may_act_no_more_reads_and_writes_no_more() -> None:
    allowed = True

    def may_act(what: str) -> None:
        if not allowed:
            raise PermissionError(what)

    async with a_warden() as warden:
        asked = command(*sh("echo begun; exec cat"), stdin="pipe")
        process = await warden.spawn(asked, may_act=may_act)
        assert process.stdin is not None
        reader = aiter(process.stdout)
        assert await anext(reader) == b"begun\n"
        allowed = False
        with pytest.raises(PermissionError, match="reading of what it wrote"):
            await anext(reader)
        with pytest.raises(PermissionError, match="reading of what it wrote"):
            _ = process.stdout.text
        with pytest.raises(PermissionError, match="writing to it"):
            await process.stdin.write(b"words")

    assert process.stdout.for_the_owner() == "begun\n"


# others who hold its pipes


@pytest.mark.scenario("P4", part="processes")
@AT_EACH
async def test_a_grandchild_that_holds_its_output_keeps_nobody_waiting(level: Level) -> None:
    async with a_warden(level) as warden:
        process = await warden.spawn(command(*sh(HOLDS_ON)))

        assert await process.wait() == 0
        assert await process.communicate() == Completed(0, "done")
        assert len(warden.living()) == 1


@pytest.mark.scenario("P4", part="processes")
async def test_what_it_wrote_itself_is_complete_though_others_hold_its_output() -> None:
    async with a_warden() as warden:
        process = await warden.spawn(command(*sh("sleep 1000 & exec seq 1000000")))
        await process.communicate()

        assert process.stdout.total == len(A_MILLION_LINES)


@pytest.mark.scenario("P4", part="processes")
@AT_EACH
async def test_a_grandchild_that_writes_for_ever_keeps_nobody_waiting(level: Level) -> None:
    async with a_warden(level) as warden:
        process = await warden.spawn(command(*sh("echo first; yes & echo $!")))
        done = await process.communicate()

        assert done.code == 0
        assert done.output.startswith("first\n")


@pytest.mark.scenario("P4", part="processes")
async def test_a_reader_leaves_with_the_process_though_a_grandchild_writes_for_ever() -> None:
    pieces = 0
    async with a_warden() as warden:
        process = await warden.spawn(command(*sh("printf x; yes &")))
        async for _ in process.stdout:
            await process.wait()
            so_far = process.stdout.total
            for _ in range(1000):  # there is always more, for whoever would read it
                if process.stdout.total == so_far:
                    await asyncio.sleep(0)
            pieces += 1
            assert pieces < 10


@AT_EACH
async def test_the_last_words_of_what_a_stop_ends_are_kept(level: Level) -> None:
    polite = "trap 'seq 5000; echo goodbye; exit' TERM; echo ready; while :; do sleep 0.01; done"
    async with a_warden(level) as warden:
        process = await warden.spawn(command(*sh(polite)))
        await heard(process.stdout, b"ready")
        stopping = warden.stop(grace=10.0)
        while warden.living():  # and meanwhile the loop does not turn
            pass
        await stopping

    assert process.stdout.text.endswith("\n5000\ngoodbye\n")
