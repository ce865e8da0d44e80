"""Where the sessions of editors are kept: a store, and beside it what each session was opened with.

A session's directory is told when it is opened and is asked for again when sessions are listed.
There is a small file for each, so that several editors can have their sessions in one place.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from lastword.core.value import value

_ID = re.compile(r"[0-9a-f]{32}")


def new_id() -> str:
    """A name for a session that no other has."""
    return os.urandom(16).hex()


@value
class Card:
    """What is known of a session before it is opened."""

    id: str
    folders: tuple[str, ...]
    title: str
    changed: str  # when it was last spoken in


class Cards:
    """A directory of cards."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder

    def put(self, id: str, folders: Sequence[str], title: str = "") -> None:
        """Write a session's card, or write it anew."""
        plain = {"folders": list(folders), "title": title}
        fd, draft = tempfile.mkstemp(dir=self._folder, suffix=".draft")
        with os.fdopen(fd, "w") as file:
            json.dump(plain, file)
        Path(draft).replace(self._path(id))

    def get(self, id: str) -> Card | None:
        """A session's card, if it has one."""
        if not _ID.fullmatch(id):  # it may be anything, even a path
            return None
        path = self._path(id)
        try:
            plain = cast("object", json.loads(path.read_text()))
            changed = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(plain, dict):
            return None  # somebody else's
        known = cast("dict[str, Any]", plain)
        folders, title = known.get("folders"), known.get("title")
        if not isinstance(folders, list) or not folders or not isinstance(title, str):
            return None
        return Card(id, tuple(map(str, cast("list[object]", folders))), title, changed)

    def all(self) -> list[Card]:
        """Every card, the last that was spoken in first."""
        found = [self.get(path.stem) for path in self._folder.glob("*.json")]
        return sorted((card for card in found if card), key=lambda card: card.changed, reverse=True)

    def remove(self, id: str) -> None:
        """Take a card away."""
        with suppress(OSError):
            self._path(id).unlink()

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.json"
