"""What a person does about what goes on under an id: typed in the terminal and in an editor, and
told in the same words on the page."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from lastword.runtime.jobs import Job, signal_named
from lastword.runtime.session import Session
from lastword.surfaces.marking import in_line, in_short, marked

USAGE = "read ID [FROM] · write ID TEXT · finish ID · signal ID NAME · end ID"
_READ = 4_000  # bytes
Act: TypeAlias = Callable[[Job, str], Awaitable[str]]


async def do(session: Session, words: str, *, by: str | None = None) -> str:
    """Do it for somebody, and say what came of it. Raises ValueError, or an error of lastword's,
    that says why nothing was done."""
    verb, _, rest = words.strip().partition(" ")
    if not verb:
        return "\n".join(map(_row, session.processes)) or "Nothing goes on under an id."
    word, _, more = rest.strip().partition(" ")
    if verb not in _ACTS or not word:
        raise ValueError(f"say one of these: {USAGE}; without a word, all of them are listed")
    whose = None if verb == "read" else by
    return await _ACTS[verb](named(session, word, by=whose), more)


def named(session: Session, word: str, *, by: str | None = None) -> Job:
    """By its id, or by its number. Raises `NoSuchJob` if there is none, and `NotAllowed` if `by`,
    who is to act on it, has no right to."""
    by_number = [job.id for job in session.processes if str(job.pid) == word]
    return session.process(by_number[0] if by_number else word, by=by)


def given(job: Job, read: bool) -> str:
    """What came of writing to it."""
    return f"{job.id} has been given it." if read else f"{job.id} has not read all of it yet."


def sent(job: Job, number: signal.Signals) -> str:
    """What came of a signal."""
    return f"{number.name} was sent to {job.id}."


def too_late(job: Job) -> str:
    """Why nothing came of it."""
    if job.alive:
        return f"nothing was done: {job.id} {job.standing}"
    return f"{job.id} has ended, so nothing was done: {job.ending}"


def _row(job: Job) -> str:
    standing = "kept" if job.kept else "ends with its answer"
    return f"{job.id}  {job.pid}  {standing}  {in_short(job.command)}"


async def _read(job: Job, words: str) -> str:
    """The last of what it wrote, or some of it from an offset on."""
    if words and not words.isdecimal():
        raise ValueError(f"what is read begins at a number of bytes, and not at {words!r}")
    piece = job.read(int(words) if words else max(job.read().total - _READ, 0), _READ)
    how_much = f"{piece.total:,} bytes"
    if piece.end < piece.total:
        how_much += f"; what follows begins at {piece.end}"
    return f"{marked(piece.text).rstrip()}\n{job.id}: {how_much}. It {job.standing}.".lstrip()


async def _write(job: Job, line: str) -> str:
    read = await job.write(f"{line}\n".encode(errors="surrogateescape"))
    return given(job, read)


async def _finish(job: Job, _: str) -> str:
    """The end of its input."""
    return given(job, await job.write(b"", last=True))


async def _signal(job: Job, name: str) -> str:
    number = signal_named(name)
    if not await job.signal(number):
        raise ValueError(too_late(job))
    return sent(job, number)


async def _end(job: Job, _: str) -> str:
    if not job.alive:
        raise ValueError(too_late(job))
    await job.end()
    return f"Ended: {job.id} {in_line(job.command)}"


_ACTS: dict[str, Act] = {
    "read": _read,
    "write": _write,
    "finish": _finish,
    "signal": _signal,
    "end": _end,
}
