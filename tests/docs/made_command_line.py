"""`docs/reference/command-line.md`, made of the parsers of the command line."""

from __future__ import annotations

import argparse
import re

from tests.docs.parsers import Command, commands, top

_HEAD = """\
# Command line

<!-- Made from the parsers by `scripts/docs made`. Do not edit. -->

`lastword COMMAND` does one of the following. `lastword COMMAND --help` prints the same text.

| command | does |
|---|---|
"""
_INDENTED = re.compile(r"^  (\w+)  +(\S.*)$")


def written() -> str:
    """The page."""
    every = commands().values()
    rows = "".join(f"| [`{one.name}`](#{one.name}) | {one.about} |\n" for one in every)
    parts = [f"{_HEAD}{rows}", f"## Before a command\n\n{_rows(top())}", *map(_command, every)]
    return "\n".join(parts)


def _command(command: Command) -> str:
    parser = command.parser
    usage = (parser.usage or "").replace(" [--help]", "")
    about = f"{_prose(parser.description or '')}\n\n{_rows(parser)}".rstrip()
    return f"## {command.name}\n\n```text\n{usage}\n```\n\n{about}\n"


def _prose(about: str) -> str:
    """What a command says of itself: lines of a list, or of a shell, are kept as they are."""
    return "\n".join(map(_line, about.splitlines()))


def _line(line: str) -> str:
    if row := _INDENTED.match(line):
        return f"- `{row[1]}`: {row[2]}"
    return f"    {line.strip()}" if line.startswith("  ") else line


def _rows(parser: argparse.ArgumentParser) -> str:
    rows = "".join(map(_row, parser._actions))  # argparse has no other way to ask
    return f"| | |\n|---|---|\n{rows}"


def _row(action: argparse.Action) -> str:
    shown = ", ".join(f"`{_shown(name, action)}`" for name in action.option_strings)
    about = (action.help or "").replace("|", "\\|")
    return f"| {shown or f'`{action.metavar}`'} | {about} |\n"


def _shown(name: str, action: argparse.Action) -> str:
    if action.nargs == 0:
        return name
    choices = "|".join(map(str, action.choices)) if action.choices and not action.metavar else ""
    return f"{name} {choices or action.metavar or action.dest.upper()}".replace("|", "\\|")
