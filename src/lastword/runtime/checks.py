"""Bad input gets a clear error that names what was wrong, before anything is touched.

The types say all this already; these are for callers that are not type-checked. What somebody
said is never quoted, only what kind of thing it was: errors end up in logs.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from functools import partial
from typing import cast

from lastword.core.entries import Native
from lastword.core.model import Attachment, Message, RunId


def must_be_native(native: object) -> None:
    """An error if it is not something that can be stored and given back."""
    if native is None:
        return
    if not isinstance(native, Native):
        raise TypeError(f"native must be a Native, not a {type(native).__name__}")
    must_be_name(native.engine, "a native's engine")
    must_be_name(native.data, "a native's data")


def must_be_text(thing: object, what: str) -> None:
    """A `TypeError` if it is not a str."""
    if not isinstance(thing, str):
        raise TypeError(f"{what} must be a str, not {_kind(thing)}")


def must_be_name(thing: object, what: str) -> None:
    """An error if it is not a str that every store and wire takes as it is.

    What somebody said is mended; what something is known by cannot be, or it would be another.
    """
    must_be_text(thing, what)
    try:
        str(thing).encode()
    except UnicodeEncodeError:
        why = "half of a character (a lone surrogate), which no encoding has"
        raise ValueError(f"{what} holds {why}; it is {thing!r}") from None


def must_be_names(*names: str | None) -> None:
    """Raise unless a run, a message or a person can be known by each."""
    for name in names:
        if name is not None:
            must_be_name(name, "what a run, a message or a person is known by")


def run_of(run: str | None) -> RunId | None:
    """A run by its name, if one is named."""
    return None if run is None else RunId(run)


def must_be_here(loop: asyncio.AbstractEventLoop, what: str) -> None:
    """An error on any other event loop than that one."""
    try:
        here = asyncio.get_running_loop()
    except RuntimeError:  # a thread without one, where nothing can be awaited either
        return
    if here is not loop:
        raise RuntimeError(
            f"{what} belongs to another event loop than this one, so nothing was done; use "
            "asyncio.run_coroutine_threadsafe, or stop_soon()"
        )


def encodable(text: str) -> str:
    """The text as every encoding takes it.

    A byte that was no text, or half of a character, is in none: one such in a log would make
    every later request to a model fail. Halves that meet are joined, what stands alone is U+FFFD.
    """
    if text.isascii():  # which costs nothing, however long it is
        return text
    try:
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class Pieces:
    """A text that comes in pieces, which may part a character: its first half waits for the other.

    If nothing comes behind it, it was no character, and is left out.
    """

    __slots__ = ("_half",)

    def __init__(self) -> None:
        self._half = ""

    def take(self, text: str) -> str:
        """The next piece, as every encoding takes it."""
        if text.isascii() and not self._half:  # this is what a token costs
            return text
        text, self._half = self._half + text, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return encodable(text)


def must_be_callable(thing: object, what: str) -> None:
    """A `TypeError` if it cannot be called."""
    if not callable(thing):
        raise TypeError(f"{what} must be callable, and {_kind(thing)} is not")


class Unbegun(TypeError):
    """A tool gave something whose lines have not run; nobody would check them when they do."""


def must_not_generate(tool: object) -> None:
    """A `TypeError` if calling it only makes a generator: not one line of it would have run."""
    called = tool
    while isinstance(called, partial):
        called = cast("partial[object]", called).func
    if not inspect.isroutine(called) and not isinstance(called, type):
        called = getattr(called, "__call__", called)  # noqa: B004 - the method that is run
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        raise TypeError(
            f"{_name(tool)} is a generator: calling it runs none of its lines, and they would run "
            "later, unchecked. Make it a function that returns all it has; it was not called"
        )


def must_not_be_generated(result: object, name: str) -> None:
    """An `Unbegun` if what a tool gave is yet to run; it is closed, so that it never does."""
    if isinstance(result, Generator):
        result.close()
    elif not isinstance(result, AsyncGenerator):
        return
    raise Unbegun(
        f"{name} gave a generator, whose lines have not run and will not: they would run "
        "unchecked, after the call. Make it a function that returns all it has"
    )


def must_be_callables(**things: object) -> None:
    """A `TypeError` for the first that is there and cannot be called."""
    for what, thing in things.items():
        if thing is not None:
            must_be_callable(thing, what)


def must_be_messages(given: Sequence[Message]) -> None:
    """At least one, each a `Message`, and no id twice."""
    if not given:
        raise ValueError("there is no message to send")
    for one in given:
        if not isinstance(one, Message):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            raise TypeError(f"what is sent as one has to be Messages, not a {type(one).__name__}")
    known = [one.id for one in given]
    for id_ in known:
        if known.count(id_) > 1:
            raise ValueError(f"two of these messages have the id {id_}; nothing was sent")


def must_be_one_of(value: object, allowed: Sequence[object], what: str) -> None:
    """A `ValueError` if it is none of them."""
    if value not in allowed:
        names = ", ".join(repr(name) for name in allowed if name is not None)
        raise ValueError(f"{what} must be one of {names}; it is {value!r}")


def must_be_count(value: object, what: str, *, least: int) -> None:
    """An error if it is not a whole number, or too small."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{what} must be a whole number, not {_kind(value)}")
    if value < least:
        raise ValueError(f"{what} must be at least {least}; it is {value}")


def must_be_seconds(
    value: object, what: str, *, zero: bool = False, most: float = math.inf
) -> None:
    """An error if it is not a number of seconds, more than 0 (or, if told, 0)."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{what} must be a number of seconds, not {_kind(value)}")
    if not (value > 0 or (zero and value == 0)):
        least = "0 seconds or more" if zero else "more than 0 seconds"
        raise ValueError(f"{what} must be {least}; it is {value}")
    if value > most or (isinstance(value, int) and value > sys.float_info.max):
        most = min(most, sys.float_info.max)
        raise ValueError(f"{what} must be {most:,g} seconds or less")


def attachments_of(things: Sequence[Attachment]) -> tuple[Attachment, ...]:
    """The attachments of a message, as they are kept."""
    if not isinstance(things, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
        raise TypeError(f"attachments must be a sequence of Attachments, not {_kind(things)}")
    for part in things:
        if not isinstance(part, Attachment):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
            raise TypeError(f"attachments must be Attachments, and one is {_kind(part)}")
    return tuple(Attachment(*map(encodable, _fields(part))) for part in things)


def _fields(part: Attachment) -> tuple[str, ...]:
    fields = part.media_type, part.data, part.uri, part.name
    for field in fields:
        must_be_text(field, "what an attachment has")
    return fields


def _name(tool: object) -> str:
    while isinstance(tool, partial):
        tool = cast("partial[object]", tool).func
    return getattr(tool, "__name__", "") or type(tool).__name__


def _kind(thing: object) -> str:
    return "None" if thing is None else f"a {type(thing).__name__}"
