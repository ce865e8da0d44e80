"""What a person types about what goes on under an id: in the terminal, and in an editor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from lastword.runtime.jobs import Job, signal_named
from lastword.runtime.session import Session
from lastword.surfaces.marking import in_line, marked

USAGE = "read ID · write ID TEXT · signal ID NAME · end ID"
_LONGEST = 70
_READ = 4_000  # bytes
Act: TypeAlias = Callable[[Job, str], Awaitable[str]]


async def do(session: Session, words: str) -> str:
    """Do it, and say what came of it. Raises ValueError, or an error of lastword's, that says why
    nothing was done."""
    verb, _, rest = words.strip().partition(" ")
    if not verb:
        return "\n".join(map(_row, session.processes)) or "Nothing goes on under an id."
    word, _, more = rest.strip().partition(" ")
    if verb not in _ACTS or not word:
        raise ValueError(f"say one of these: {USAGE}; without a word, all of them are listed")
    return await _ACTS[verb](named(session, word), more)


def named(session: Session, word: str) -> Job:
    """By its id, or by its number. Raises `NoSuchJob` if there is none."""
    by_number = [job for job in session.processes if str(job.pid) == word]
    return by_number[0] if by_number else session.process(word)


def _row(job: Job) -> str:
    command = in_line(job.command)
    short = command if len(command) <= _LONGEST else f"{command[:_LONGEST]}…"
    return f"{job.id}  {job.pid}  {'kept' if job.kept else 'ends with its answer'}  {short}"


async def _read(job: Job, _: str) -> str:
    total = job.read().total
    piece = job.read(max(total - _READ, 0), _READ)
    return f"{marked(piece.text).rstrip()}\n{job.id}: {total:,} bytes. It {job.standing}.".lstrip()


async def _write(job: Job, line: str) -> str:
    read = await job.write(f"{line}\n".encode(errors="surrogateescape"))
    return f"{job.id} has been given it." if read else f"{job.id} has not read all of it yet."


async def _signal(job: Job, name: str) -> str:
    number = signal_named(name)
    sent = await job.signal(number)
    return (
        f"{number.name} was sent to {job.id}."
        if sent
        else f"Nothing was sent: {job.id} {job.standing}."
    )


async def _end(job: Job, _: str) -> str:
    await job.end()
    return f"Ended: {job.id} {in_line(job.command)}"


_ACTS: dict[str, Act] = {"read": _read, "write": _write, "signal": _signal, "end": _end}
