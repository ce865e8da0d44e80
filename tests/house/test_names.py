"""One word, one meaning: no class name stands in several modules."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "lastword"
# A scripted model is a world of its own: it imports nothing of lastword, and whoever writes one
# speaks of requests, answers and calls in the words of providers. These mean something here, too.
PROVIDER = SRC / "testing" / "provider"
IN_BOTH = {"Answer", "Call", "Conversation", "Failure", "Refused", "Rule", "Speech"}


def homes_in(paths: list[Path]) -> dict[str, list[str]]:
    """Where each class stands."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(SRC)))
    return homes


def test_no_class_name_is_used_twice() -> None:
    every = sorted(SRC.rglob("*.py"))
    theirs = homes_in([path for path in every if path.is_relative_to(PROVIDER)])
    ours = homes_in([path for path in every if not path.is_relative_to(PROVIDER)])

    for world in (ours, theirs):
        assert {name: where for name, where in world.items() if len(where) > 1} == {}
    assert ours.keys() & theirs.keys() == IN_BOTH
