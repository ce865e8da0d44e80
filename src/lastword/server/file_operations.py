"""What can be asked about the files that answers have changed."""

from __future__ import annotations

from lastword.server import file_wire, files
from lastword.server.operation import Operation, Query
from lastword.server.readings import ONE

FILES: tuple[Operation, ...] = (
    Operation(
        "GET",
        f"{ONE}/files",
        files.listed,
        "approve",
        "Show what an answer has changed in files, as a diff: it may show what rules keep from "
        "others.",
        file_wire.FilesOut,
        query=(
            Query(
                "run",
                "Of this run; without it, of the last that has changed something.",
                {"type": "string"},
            ),
        ),
        problems=("unknown-session", "not-found"),
        live=True,
    ),
    Operation(
        "POST",
        f"{ONE}/undo",
        files.take_back,
        "approve",
        "Take back what an answer has changed in files. What somebody else has changed since is "
        "left as it is, and named.",
        file_wire.UndoneOut,
        takes=file_wire.UndoIn,
        problems=("unknown-session", "nothing-to-undo", "owned-elsewhere"),
        live=True,
    ),
    Operation(
        "POST",
        f"{ONE}/redo",
        files.bring_back,
        "approve",
        "Bring back what the last undo has taken back.",
        file_wire.UndoneOut,
        problems=("unknown-session", "nothing-to-undo", "owned-elsewhere"),
        live=True,
    ),
)
