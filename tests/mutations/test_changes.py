"""A change finds what it names however it is laid out, and says so when that is gone."""

from __future__ import annotations

import ast

import pytest

from tests.mutations.changes import Change, Function, Lost, always, dropped, instead, never, without

SOURCE = """
def function(self):
    if self.ready and (
        self.waiting  # for a person
    ):
        self.begin()
    match self.phase:
        case "over" if self.told:
            return [*self.ended(), "over"]
    self.begin()
    return [self.ended()]
"""


def function() -> Function:
    [made] = ast.parse(SOURCE).body
    assert isinstance(made, ast.FunctionDef)
    return made


@pytest.mark.parametrize(
    ("change", "reads"),
    [
        (instead("self.ready and self.waiting", "self.ready"), "if self.ready:"),
        (instead("return [self.ended()]", "self.end()\nreturn []"), "self.end()\n    return []"),
        (instead("if self.ready and self.waiting:\n    self.begin()", ""), ":\n    pass\n"),
        (without("waiting"), "if self.ready and True:"),
        (never("told"), "case 'over' if False:"),
        (always("ready"), "if True:"),
        (dropped("begin", nth=1), "pass\n    return [self.ended()]"),
    ],
)
def test_what_is_named_is_changed(change: Change, reads: str) -> None:
    changed = function()
    change(changed)

    assert reads in ast.unparse(changed)


@pytest.mark.parametrize(
    "change",
    [
        instead("self.ready and self.gone", "False"),
        instead("self.begin()", "self.end()"),  # twice
        instead("return []", ""),
        never("gone"),
        dropped("begin"),
        dropped("begin", nth=2),
    ],
)
def test_what_is_gone_or_there_twice_is_an_error(change: Change) -> None:
    with pytest.raises(Lost):
        change(function())
