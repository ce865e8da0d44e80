"""The command line's own parsers, as its documentation is held to them.

A command makes its parser, has it read the words and only then does something. So each is asked to
read words, and caught in the step in which it would.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from unittest.mock import patch

from lastword.cli import main

_ROW = re.compile(r"^  (\w[\w-]*) {2,}(\S.*)$", re.MULTILINE)
# what a parser's defaults are taken from; it must be the same on every machine
_ENVIRONMENT = {"LASTWORD_STORE": "", "LASTWORD_URL": "http://127.0.0.1:8420", "LASTWORD_TOKEN": ""}


@dataclass(frozen=True, slots=True)
class Command:
    """One word behind `lastword`, with what it says of itself in the list of all."""

    name: str
    about: str
    parser: argparse.ArgumentParser


class _Caught(BaseException):
    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


def _parser_of(words: Sequence[str], nth: int) -> argparse.ArgumentParser:
    """The parser that is the n-th to be asked to read something, for these words."""
    asked = 0
    read = argparse.ArgumentParser.parse_args

    def caught(self: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
        nonlocal asked
        asked += 1
        if asked == nth:
            raise _Caught(self)
        return read(self, words)

    try:
        with (
            patch.dict("os.environ", _ENVIRONMENT),
            patch.object(argparse.ArgumentParser, "parse_args", caught),
        ):
            main(list(words))
    except _Caught as found:
        return found.parser
    raise AssertionError(f"lastword {' '.join(words)} reads nothing")


@cache
def top() -> argparse.ArgumentParser:
    """What reads the words before a command."""
    return _parser_of(["--version"], 1)


@cache
def commands() -> dict[str, Command]:
    """All of them, by name, in the order in which `lastword --help` lists them."""
    rows = _ROW.findall(top().description or "")
    return {name: Command(name, about, _parser_of([name], 2)) for name, about in rows}


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """The options that it knows, short and long."""
    return {option for action in parser._actions for option in action.option_strings}


def why_not(words: Sequence[str]) -> str:
    """Why `lastword` would not take these words; nothing if it does."""
    name = next((word for word in words if not word.startswith("-")), "")
    if name not in commands():
        return f"there is no command {name!r}" if name else ""
    at = list(words).index(name)
    told: list[str] = []

    def error(message: str) -> None:
        told.append(message)
        raise _Caught(parser)

    parser = commands()[name].parser
    with patch.object(parser, "error", error):
        try:
            parser.parse_args(list(words[at + 1 :]))
        except _Caught:
            return told[0]
    return ""
