"""The pages that are made from the code are as the code is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastword.server.openapi import document
from tests.docs.made import MADE
from tests.docs.made_http import called
from tests.docs.pages import page
from tests.docs.parsers import commands, options_of


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.name)
def test_a_page_that_is_made_is_as_the_code_is(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == MADE[path](), "run scripts/docs made"


def test_every_command_and_option_is_on_its_page() -> None:
    told = page("reference/command-line.md")
    shown = {
        name: {code.partition(" ")[0] for code in _codes(told.section(name))} for name in commands()
    }
    own = {name: options_of(one.parser) for name, one in commands().items() if one.parser.prog[9:]}

    assert {
        name: options - shown[name] for name, options in own.items() if options - shown[name]
    } == {}


def _codes(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in line.split("`")[1::2]]


def test_every_call_of_the_server_is_on_its_page() -> None:
    told = page("reference/http.md")
    asked = {f"{method} {path}" for method, path, _ in called(document())}

    assert asked - set(told.inline) == set()
    assert len(asked) > 30
