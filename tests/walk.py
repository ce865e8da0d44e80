"""What of lastword is gone through from one moment to another: files, classes, functions.

A walk that is short can be read in one sitting. It is taken of the event loop's thread, by every
call of a function that is written in lastword; what is imported or defined on the way is no step.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import lastword

_HOME = str(Path(lastword.__file__).parent) + "/"


class Walk:
    """Where it led."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str], None] = {}  # file and name, in the order of the walk

    @property
    def files(self) -> list[str]:
        """Each once, in that order."""
        return list(dict.fromkeys(file for file, _ in self.functions))

    @property
    def classes(self) -> list[str]:
        """Those of which a method was called."""
        owners = (name.partition(".")[0] for _, name in self.functions if "." in name)
        return list(dict.fromkeys(owner for owner in owners if owner[:1].isupper()))

    def __str__(self) -> str:
        counted = f"{len(self.files)} files, {len(self.classes)} classes"
        listed = [
            f"  {file}: {', '.join(name for of, name in self.functions if of == file)}"
            for file in self.files
        ]
        return "\n".join([f"{counted}, {len(self.functions)} functions", *listed])


@contextmanager
def walking() -> Generator[Walk]:
    """The walk of what is done meanwhile in this thread."""
    walk = Walk()

    def step(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_HOME) and code.co_name != "<module>":
            name = code.co_qualname.replace(".<locals>", "")
            walk.functions.setdefault((code.co_filename.removeprefix(_HOME), name))

    before = sys.getprofile()
    sys.setprofile(step)
    try:
        yield walk
    finally:
        sys.setprofile(before)
