"""AG-UI is an encoder: it goes through the front of the server, which is named, and no further."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "src" / "lastword" / "server"


def test_each_module_of_the_server_is_its_front_or_is_not_for_ag_ui() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    [held] = [one for one in contracts if one["name"].startswith("AG-UI")]
    ours = {f"lastword.server.{path.stem}" for path in SERVER.glob("*.py")} - {
        "lastword.server.__init__"
    }
    front = {edge.partition(" -> ")[0] for edge in held["ignore_imports"]}
    apart = set(held["forbidden_modules"])

    assert "allow_indirect_imports" not in held
    assert front - {"lastword.surfaces.*"} <= ours
    assert ours == {one for one in front | apart if one in ours} | set(held["source_modules"])
    assert not front & apart
