"""Five processes that do not want to end, and what is left of them.

Each writes to a file as long as it can. It has the file's name in its environment, and by that it
is found, whatever group, session or namespace it has gone to.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

LONGEST = 10.0  # seconds to be up
_LOOP = "while :; do echo x >> $BENCH_TREE; sleep 0.02; done"
_TREE = f"""\
setsid sh -c '{_LOOP}' tree &
(sh -c '{_LOOP}' tree &)
sh -c 'trap "" TERM INT HUP; {_LOOP}' tree &
nohup sh -c '{_LOOP}' tree > /dev/null 2>&1 &
sh -c 'kill -STOP $$; {_LOOP}' tree &
sleep 1000
"""


class Tree:
    """Processes of one try."""

    def __init__(self, folder: Path, name: str) -> None:
        self.file = folder / f"{name}.effects"
        self.file.touch()
        self._mark = f"BENCH_TREE={self.file}"
        self._script = folder / "tree.sh"
        self._script.write_text(_TREE)
        self._held: dict[int, int] = {}  # a descriptor of each: a number may be another's by then

    @property
    def family(self) -> str:
        """The command that starts all five."""
        return f"{self._marked} sh {self._script}"

    @property
    def one(self) -> str:
        """A command that only writes to the file."""
        return f"{self._marked} sh -c '{_LOOP}' tree"

    @property
    def _marked(self) -> str:
        return f"exec env {self._mark}"

    def up(self, count: int, listen: Callable[[float], object]) -> None:
        """Return when so many are there and have written something; listen meanwhile."""
        until = time.perf_counter() + LONGEST
        while len(self._held) < count or not self.effects:
            if time.perf_counter() > until:
                raise TimeoutError(f"{len(self._held)} of {count} processes are up")
            listen(0.02)
            self._find()

    @property
    def effects(self) -> int:
        """How often one of them has written."""
        return self.file.stat().st_size // 2

    def survivors(self) -> int:
        """How many are alive, of those that were there and of those that came later."""
        self._find()
        return sum(not ended(held) for held in self._held.values())

    def bury(self) -> None:
        """End whoever is left."""
        self._find()
        for held in self._held.values():
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(held, signal.SIGKILL)
            os.close(held)
        self._held.clear()

    def _find(self) -> None:
        """Those with the mark; not their `sleep`, which comes and goes."""
        mark = self._mark.encode()
        for folder in Path("/proc").iterdir():
            if not folder.name.isdecimal() or int(folder.name) in self._held:
                continue
            with suppress(OSError), ExitStack() as stack:
                held = os.pidfd_open(int(folder.name))
                stack.callback(os.close, held)
                marked = mark in (folder / "environ").read_bytes().split(b"\0")
                if marked and (folder / "cmdline").read_bytes().endswith(b"\0tree\0"):
                    self._held[int(folder.name)] = held
                    stack.pop_all()


def ended(held: int) -> bool:
    poll = select.poll()
    poll.register(held, select.POLLIN)
    return bool(poll.poll(0))
