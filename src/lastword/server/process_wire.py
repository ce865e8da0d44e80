"""Processes on the wire: those of a session, and what is done to one by its id."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class InputIn(Struct, forbid_unknown_fields=True):
    """What a process is to read; with `end`, nothing follows."""

    text: Annotated[str, Meta(max_length=65_536)]
    end: bool = False


class SignalIn(Struct, forbid_unknown_fields=True):
    """A signal, by its name or its number."""

    signal: Annotated[str, Meta(max_length=20)]


class ProcessOut(Struct):
    """A process that a run has started; `id` if it has one."""

    id: str
    pid: int
    command: str
    kept: bool
    takes_input: bool
    run: str
    started_at: float
    ended_at: float | None
    code: int | None
    output: str


class ProcessesOut(Struct):
    """Those that run, and the last of those that have ended."""

    processes: list[ProcessOut]


class OutputOut(Struct):
    """Some of what a process wrote, from byte `begin` to `end` of `total`; read on at `end`."""

    id: str
    text: str
    begin: int
    end: int
    total: int
    code: int | None
    ended: str


class Given(Struct):
    """Whether it has been read, or sent, and that in words; what has not been read waits."""

    done: bool
    told: str
