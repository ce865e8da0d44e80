"""Engines that start processes, wherever they live."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from lastword import Run
from lastword.agent.tools.shell import Shell
from lastword.processes import Process

BEATS = "while true; do echo beat; sleep 0.05; done"


async def talks(run: Run) -> None:
    """To one that reads and writes."""
    process = await run.spawn("cat", stdin="pipe")
    assert process.stdin
    await process.stdin.write(b"one\n")
    heard = b""
    async for piece in process.stdout:
        heard += piece
        if heard == b"one\n":
            await process.stdin.write(b"two\n")
            process.stdin.finish()
    await run.emit(f"{heard!r} {await process.wait()} {process.code} {process.stdout.text!r}")


async def hears_both(run: Run) -> None:
    process = await run.spawn(shell="echo out; echo err >&2; cat; exit 4", stdin=b"told")
    done = await process.communicate()
    assert process.stderr
    kept = process.stdout.head, process.stdout.tail, process.stdout.cut, process.stderr.total
    await run.emit(f"{done.code} {done.output!r} {done.errors!r} {kept} {process.stdout.since(3)}")


async def hears_much(run: Run) -> None:
    """All of it as it comes, and some of it at the end."""
    many = "seq 1 400000"
    process = await run.spawn(shell=many, output_limit=1000)
    time.sleep(0.3)  # noqa: ASYNC251 - it is slow to begin, and does so at once all the same
    total = 0
    async for piece in process.stdout:
        total += len(piece)
    unread = await run.spawn(shell=many, output_limit=1000)
    await unread.wait()
    await unread.stdout.finished()
    shown = unread.stdout.head[:4], unread.stdout.tail[-7:], unread.stdout.cut
    await run.emit(f"{total} {unread.stdout.total} {shown}")


async def signals(run: Run) -> None:
    process = await run.spawn("sleep", "60", name="sleeper")
    refused = ""
    try:
        process.send_signal(999)
    except ValueError as error:
        refused = str(error)
    process.send_signal(signal.SIGTERM)
    ended = await process.wait()
    other = await run.spawn("sleep", "60")
    await run.emit(f"{refused}; {process.command} {ended} {await other.end(0.1)}")


async def is_refused(run: Run) -> None:
    said: list[str] = []
    wanted: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: run.spawn("/no/such/program"),
        lambda: run.spawn("true", cwd="/no/such/folder"),
        lambda: run.spawn("true", grace=1000),
        lambda: run.spawn("true", on_stop="keep", told=False),
    )
    for want in wanted:
        try:
            await want()
        except (ValueError, OSError, RuntimeError, Exception) as error:  # noqa: BLE001 - each is told
            said.append(f"{type(error).__name__}: {error}")
    await run.emit("\n".join(said))


async def types_at_a_terminal(run: Run) -> None:
    process = await run.spawn(shell="read line; stty size; echo got $line", pty=True)
    process.resize(10, 40)
    assert process.stdin
    await process.stdin.write(b"hello\n")
    await process.wait()
    await process.stdout.finished()
    await run.emit(f"{process.stdout.text.split()} {process.stderr}")


async def asks_from_a_thread(run: Run) -> None:
    process = await run.spawn(shell="echo seen")
    await process.wait()
    await process.stdout.finished()

    def look() -> str:
        return f"{process.stdout.text} {process.code}"

    await run.emit(await run.call(look))


async def leaves_one(run: Run) -> None:
    """It goes on without the run, and is the session's."""
    process = await run.spawn(shell=f"cat; {BEATS}", stdin="pipe", on_stop="keep", name="beats")
    kept = run.jobs.of(process)
    job = run.job(process)
    assert kept
    await run.emit(f"{job.id == kept.id} {job.kept} {job.alive} {job.takes_input} {job.by}")


async def comes_back(run: Run) -> None:
    """To what an earlier run has left."""
    [job] = [one for one in run.jobs if one.alive]
    assert run.jobs[job.id].id == job.id
    unread = job.read()
    wrote = await job.write(b"first\n", last=True)
    while "beat" not in (piece := job.read(0, 100)).text:
        await asyncio.sleep(0.01)
    begun = f"{unread.text!r} {wrote} {piece.text[:11]!r} {job.number is None}"
    await job.end(0.1)
    await run.emit(f"{begun} {job.alive} {job.ending} {job.output[:5]!r}")
    try:
        run.jobs["p999"]
    except LookupError as error:
        await run.emit(f" {error!r}")
    except Exception as error:  # noqa: BLE001 - it is told
        await run.emit(f" {type(error).__name__}")


async def is_signalled_by_its_id(run: Run) -> None:
    deaf = "trap 'echo heard; exit 3' INT; echo up; while true; do sleep 0.05; done"
    process = await run.spawn(shell=deaf)
    async for _ in process.stdout:
        break
    job = run.job(process)
    over = asyncio.Event()
    job.when_over(over.set)
    early = await job.over_within(0.01)
    sent = await job.signal(signal.SIGINT)
    await over.wait()
    ended = await job.over_within(60)
    await run.emit(f"{early} {sent} {ended} {job.code} {job.standing} {job.output!r}")


async def gives_up(run: Run) -> None:
    """Who waits for one that has not ended gives up, and it is ended."""
    path = Path(run.message.text.split()[1])
    work = run.task(run.shell(f"echo $$ > {path}; exec sleep 600", grace=0.1))
    while not path.exists() or not path.read_text():  # noqa: ASYNC240 - how else is it to know
        await asyncio.sleep(0.01)
    work.cancel()
    await asyncio.wait([work])
    await run.emit(f"{work.cancelled()} {path.read_text().strip()}")  # noqa: ASYNC240


async def uses_a_shell(run: Run) -> None:
    """As an agent does."""
    shell = Shell(grace=0.1)
    first = await shell.run(run, "echo here; exit 2")
    going = await shell.run(run, BEATS, wait=0.1)
    id_ = going.split("it goes on as ")[1].split(",")[0].split()[0]
    read = await shell.read(run, id_, wait=60)
    ended = await shell.end(run, id_)
    await run.emit(f"{first!r} {'beat' in read} {ended.split(id_)[1]}")


async def is_stopped(run: Run) -> None:
    """With what it has started, some of it deaf."""
    path = Path(run.message.text.split()[1])
    await run.spawn(shell="trap '' TERM; while true; do sleep 0.05; done", name="deaf", grace=0.2)
    reads: Process = await run.spawn(shell=BEATS, name="beats")
    try:
        async for _ in reads.stdout:
            await run.emit("there")
            break
        await asyncio.Event().wait()
    finally:
        tried: list[str] = []
        for attempt in (lambda: reads.stdout.text, lambda: reads.send_signal(15), lambda: run.jobs):
            try:
                attempt()
                tried.append("done")
            except BaseException as error:  # noqa: BLE001 - it is told
                tried.append(type(error).__name__)
        with suppress(BaseException):
            await run.spawn("touch", f"{path}.late")
        path.write_text(" ".join(tried))  # noqa: ASYNC240 - how else is it to tell


STORIES = {
    story.__name__: story
    for story in (
        talks,
        hears_both,
        hears_much,
        signals,
        is_refused,
        types_at_a_terminal,
        asks_from_a_thread,
        leaves_one,
        comes_back,
        is_signalled_by_its_id,
        gives_up,
        uses_a_shell,
        is_stopped,
    )
}
