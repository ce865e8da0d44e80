"""The journal of the witnesses, read as it grows; and the control that it is written at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from lastword.check.inside.witness import note

Deed: TypeAlias = Mapping[str, Any]


class Deeds:
    """What the witnesses wrote down, by run."""

    def __init__(self, journal: Path) -> None:
        self.journal = journal
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
        with self.journal.open("rb") as file:
            file.seek(self._at)
            data = file.read()
        self._at += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            deed: Deed = json.loads(line)
            self._runs.setdefault(str(deed["run"]), []).append(deed)
