"""The journal of the witnesses, read as it grows; and the control that it is written at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from lastword.check.inside.witness import note

Deed: TypeAlias = Mapping[str, Any]
_SAYS = {"t": (int, float), "pid": int, "tool": str, "run": str, "what": str}
_MOST = 1 << 22  # bytes that are read at once


class Deeds:
    """What the witnesses wrote down, by run."""

    def __init__(self, journal: Path) -> None:
        self.journal = journal
        self.doubt = ""  # why nothing that is written there is believed any more
        journal.touch()
        self._at = 0
        self._rest = b""
        self._runs: dict[str, list[Deed]] = {}

    def of(self, run: str, what: str = "", tool: str = "") -> list[Deed]:
        """Those of a run, in the order in which they were written."""
        self._read()
        return [
            deed
            for deed in self._runs.get(run, [])
            if deed["what"] == (what or deed["what"]) and deed.get("tool") == (tool or deed["tool"])
        ]

    def works(self) -> bool:
        """Whether what is written here is read here."""
        try:
            note(str(self.journal), tool="control", run="control", what="effect")
        except OSError:
            return False
        return bool(self.of("control"))

    def _read(self) -> None:
        """All that is new. A target can write there, too: what is not as a witness writes it, and
        lines that are gone, are no evidence of anything."""
        try:
            with self.journal.open("rb") as file:
                if file.seek(0, 2) < self._at:
                    self.doubt = "lines of the journal are gone"
                file.seek(self._at)
                data = file.read(_MOST)
        except OSError as error:
            self.doubt = f"the journal cannot be read: {error.strerror}"
            return
        self._at += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if (deed := _deed(line)) is None:
                self.doubt = "no witness wrote what is in the journal"
            else:
                self._runs.setdefault(str(deed["run"]), []).append(deed)


def _deed(line: bytes) -> Deed | None:
    """What a line says; nothing if it is none of a witness."""
    try:
        told: Any = json.loads(line)
        return told if all(isinstance(told[key], kind) for key, kind in _SAYS.items()) else None
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
