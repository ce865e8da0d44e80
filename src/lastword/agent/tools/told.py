"""What a model is told of a command: what it wrote, the middle cut if it is long, and how it is."""

from __future__ import annotations

import codecs
import re

from lastword.processes.output import Output
from lastword.runtime.jobs import Job, OutputPiece

_UNSEEN = re.compile(r"[\x00-\x06\x08\x0e-\x1a\x1c-\x1f\x7f]")  # inside an escape, too
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])?|\x07"
)
_NOTHING = "[it wrote nothing]"


def plain(text: str) -> str:
    """What a terminal would be left with: no colours, and of a line that was redrawn the last."""
    lines = _ESCAPES.sub("", _UNSEEN.sub("", text)).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def written(stream: Output, limit: int) -> str:
    """All that was written; of much, the first and the last."""
    return _so_far(stream, limit, final=True)[0]


def _so_far(stream: Output, limit: int, *, final: bool) -> tuple[str, int]:
    """The same, and where to read on: if it is not final, half a character is for the next."""
    total, half = stream.total, limit // 2
    begin = 0 if total <= limit else total - half
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    last = _shown(decoder.decode(stream.since(begin)[1], final=final))
    end = total - len(decoder.getstate()[0])
    if not begin:
        return last, end
    first = _shown(stream.since(0)[1][:half].decode(errors="replace"))
    return f"{first}\n… {total - 2 * half:,} bytes cut …\n{last}", end


def _shown(text: str) -> str:
    return plain(text).strip("\n") or _NOTHING


def going_on(job: Job, waited: float, stream: Output, limit: int) -> str:
    """What it wrote, that it has not ended, and how to go on with it."""
    so_far, end = _so_far(stream, limit, final=False)
    number = f", pid {job.number}" if job.number else ""
    first = "" if job.code is None else f". Now {job.ending}"
    lives = (
        "It goes on after your answer, and if that is stopped, until somebody ends it"
        if job.kept
        else "It ends with your answer, if not before"
    )
    return (
        f"{so_far}\n[it goes on as {job.id}{number}, after {waited:g} seconds and {end:,} bytes"
        f'{first}. shell_read("{job.id}", {end}) gives what it writes next; shell_write, '
        f"shell_signal and shell_end act on it. {lives}. You will be told when it has ended]"
    )


def read(job: Job, asked: int, piece: OutputPiece) -> str:
    """Some of what a job has written, and how it is."""
    missing = piece.begin - asked
    parts = [f"… {missing:,} bytes were not kept …"] if missing > 0 else []
    if text := plain(piece.text).strip("\n"):
        parts.append(text)
    where = f"bytes {piece.begin:,} to {piece.end:,} of {piece.total:,}"
    more = f"; read on from {piece.end}" if piece.code is None or piece.end < piece.total else ""
    return "\n".join([*parts, f"[{where}; {job.id} {job.standing}{more}]"])
