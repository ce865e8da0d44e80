"""One word, one meaning: no class name stands in several modules."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "lastword"
# A scripted model speaks of requests, answers and calls in the words of providers: another world.
APART = SRC / "testing" / "provider"


def test_no_class_name_is_used_twice() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SRC.rglob("*.py")):
        if not path.is_relative_to(APART):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(str(path.relative_to(SRC)))

    assert {name: where for name, where in homes.items() if len(where) > 1} == {}
