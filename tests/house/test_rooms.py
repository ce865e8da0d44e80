"""`docs/house.md` names every module, below its floor."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.server.test_walks import OF_A_MESSAGE, OF_A_STOP

ROOT = Path(__file__).parents[2]
HOUSE = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
_ROOMS = re.search(r"^## Rooms$(.*?)^## ", HOUSE, re.MULTILINE | re.DOTALL)
_FLOOR = re.compile(r"\*\*(\w+)/\*\*")


def rooms() -> dict[str, set[str]]:
    """What stands in backticks below the name of each floor."""
    parts = _FLOOR.split(_ROOMS[1] if _ROOMS else "")
    return {
        floor: set(re.findall(r"`([\w.]+)/?`", text))
        for floor, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def modules(floor: str) -> set[str]:
    folder = ROOT / "src" / "lastword" / floor
    return {path.stem for path in folder.rglob("*.py")} - {"__init__"}


FLOORS = sorted(p.parent.name for p in (ROOT / "src" / "lastword").glob("*/__init__.py"))


@pytest.mark.parametrize("floor", FLOORS)
def test_every_module_is_named_on_its_floor(floor: str) -> None:
    assert modules(floor) - rooms()[floor] == set()


def test_it_says_how_long_the_walks_are_that_are_held() -> None:
    words = " ".join(HOUSE.split())

    assert f"a stop over HTTP goes through {OF_A_STOP} files" in words
    assert f"a message through {OF_A_MESSAGE} to its first word" in words
