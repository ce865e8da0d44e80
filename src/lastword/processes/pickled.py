"""What a call in another process is given, and what it gives, pickled in pieces.

It may be much, so it is done in a thread. Threads share one interpreter, and pickling gives it up
only where it comes to Python: that is at each piece, where it waits a moment for whoever wants it.
"""

from __future__ import annotations

import pickle
import time
from collections import deque
from types import BuiltinFunctionType, FunctionType
from typing import Any

from lastword.processes.inside.worker import NOT_MAIN

_STEP = 1 << 17  # bytes after which to wait: about a millisecond, if they are many small things
_BREATH = 0.0002  # seconds in which the event loop can have the interpreter
_NAMED = (type, FunctionType, BuiltinFunctionType)  # these are pickled as names


class Pickled:
    """Something in pieces, and the modules in which what it names is found."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.modules: set[str] = set()
        self._pickler = _Pickler(self)
        self._breath = _Breath()

    def add(self, thing: object) -> None:
        """Pickle it, too; what it shares with those before stays shared."""
        self._pickler.dump(thing)

    def write(self, piece: bytes) -> None:
        """For the pickler."""
        self.pieces.append(bytes(piece))
        self._breath.after(len(piece))


class _Pickler(pickle.Pickler):
    def __init__(self, into: Pickled) -> None:
        super().__init__(into)
        self._modules = into.modules

    def reducer_override(self, obj: object) -> Any:  # noqa: ANN401 - pickle has it so
        """Asked of everything that is not Python's own kind of value."""
        named = obj if isinstance(obj, _NAMED) else type(obj)
        self._modules.add(str(named.__module__))
        return NotImplemented


def unpickled(pieces: deque[bytes | bytearray]) -> Any:  # noqa: ANN401 - whatever it was
    """What a worker wrote. The pieces are let go of on the way, in this thread."""
    return _Answer(_Pieces(pieces)).load()


class _Answer(pickle.Unpickler):
    """What the worker wrote, in which the script's own classes go by another name."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as it has it
        return super().find_class("__main__" if module == NOT_MAIN else module, name)


class _Pieces:
    """A file to read, for the unpickler."""

    def __init__(self, pieces: deque[bytes | bytearray]) -> None:
        self._pieces = pieces
        self._at = 0  # how much of the first was read
        self._breath = _Breath()

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - whatever can be written to
        into, filled = memoryview(buffer).cast("B"), 0
        while self._pieces and filled < len(into):
            first = self._pieces[0]
            some = memoryview(first)[self._at : self._at + len(into) - filled]
            into[filled : filled + len(some)] = some
            filled += len(some)
            self._at += len(some)
            if self._at == len(first):
                self._pieces.popleft()
                self._at = 0
            self._breath.after(len(some))
        return filled

    def read(self, size: int) -> bytes:
        buffer = bytearray(size)
        return bytes(memoryview(buffer)[: self.readinto(buffer)])

    def readline(self) -> bytes:
        line = bytearray()
        while self._pieces and not line.endswith(b"\n"):
            line += self.read(1)
        return bytes(line)


class _Breath:
    def __init__(self) -> None:
        self._since = 0

    def after(self, count: int) -> None:
        """So many bytes more; little is done in one go."""
        self._since += count
        if self._since > _STEP:
            self._since = 0
            time.sleep(_BREATH)
