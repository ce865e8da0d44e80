"""What a model is told of a command: what it wrote, the middle cut if it is long, and how it is."""

from __future__ import annotations

import re

from lastword.processes.output import Output
from lastword.runtime.jobs import Job, Piece

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|[\x00-\x08\x0e-\x1a]"
)
_NOTHING = "[it wrote nothing]"


def plain(text: str) -> str:
    """What a terminal would be left with: no colours, and of a line that was redrawn the last."""
    lines = _ESCAPES.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def written(stream: Output, limit: int) -> str:
    """All that was written; of much, the first and the last."""
    total, half = stream.total, limit // 2
    if total <= limit:
        return _shown(stream.since(0)[1])
    first, last = stream.since(0)[1][:half], stream.since(total - half)[1]
    cut = f"… {total - len(first) - len(last):,} bytes cut …"
    return f"{_shown(first)}\n{cut}\n{_shown(last)}"


def _shown(data: bytes) -> str:
    return plain(data.decode(errors="replace")).strip("\n") or _NOTHING


def going_on(job: Job, waited: float, stream: Output) -> str:
    """That it has not ended, and how to go on with it."""
    number = f", pid {job.number}" if job.number else ""
    lives = (
        "It goes on after your answer, and if that is stopped, until somebody ends it"
        if job.kept
        else "It ends with your answer, if not before"
    )
    return (
        f"[it goes on as {job.id}{number}, after {waited:g} seconds and {stream.total:,} bytes. "
        f'shell_read("{job.id}", {stream.total}) gives what it writes next; shell_write, '
        f"shell_signal and shell_end act on it. {lives}. You will be told when it has ended]"
    )


def read(job: Job, asked: int, piece: Piece) -> str:
    """Some of what a job has written, and how it is."""
    missing = piece.begin - asked
    parts = [f"… {missing:,} bytes were not kept …"] if missing > 0 else []
    if text := plain(piece.text).strip("\n"):
        parts.append(text)
    where = f"bytes {piece.begin:,} to {piece.end:,} of {piece.total:,}"
    state = "goes on" if piece.code is None else f"has ended: {job.ending}"
    more = f"; read on from {piece.end}" if piece.code is None or piece.end < piece.total else ""
    return "\n".join([*parts, f"[{where}; {job.id} {state}{more}]"])
