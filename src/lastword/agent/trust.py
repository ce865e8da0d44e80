"""Which files a person has trusted: by path and by every byte, so that a change is asked anew; or,
of those that are written on, by which file it is."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Self, cast

from lastword.errors import LastwordError


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file as it was read."""

    path: str
    sha256: str

    @classmethod
    def of(cls, path: Path, data: bytes) -> Self:
        """Of what was read there."""
        return cls(str(path.resolve()), hashlib.sha256(data).hexdigest())

    @classmethod
    def of_file(cls, path: Path, status: os.stat_result) -> Self:
        """Of the file itself, whatever is in it: one that takes its place is another."""
        return cls.of(path, f"file {status.st_ino} of {status.st_uid}".encode())


def is_trusted(stamp: Stamp, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the person has trusted this file as it is."""
    return _remembered(_memory(environment)).get(stamp.path) == stamp.sha256


def trust(stamp: Stamp, environment: Mapping[str, str] = os.environ) -> None:
    """Remember that the person trusts it; what was trusted there before no longer is."""
    memory = _memory(environment)
    beside = memory.with_name(f".{memory.name}-{token_hex(8)}")
    known = _remembered(memory) | {stamp.path: stamp.sha256}
    try:
        memory.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(fd, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor
                json.dump(known, file, indent=1)
            beside.replace(memory)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise LastwordError(
            f"{memory} cannot be written, so it was not remembered that {stamp.path} is trusted: "
            f"{error.strerror}"
        ) from error


def of_the_person(variable: str, otherwise: str, environment: Mapping[str, str]) -> Path:
    """Where a person's own files are kept, as XDG has it: what is not absolute does not count."""
    named = environment.get(variable, "")
    return (Path(named) if named.startswith("/") else Path.home() / otherwise) / "lastword"


def _memory(environment: Mapping[str, str]) -> Path:
    return of_the_person("XDG_STATE_HOME", ".local/state", environment) / "trusted.json"


def _remembered(memory: Path) -> dict[str, object]:
    with suppress(OSError, ValueError, RecursionError):  # what cannot be read vouches for nothing
        known = cast("object", json.loads(memory.read_bytes()))
        if isinstance(known, dict):
            return cast("dict[str, object]", known)
    return {}
