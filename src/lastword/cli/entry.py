"""What is typed, and what it starts.

A command's own module is imported only when it is asked for, so that help is quick and an extra
that is not installed is missed only by the command that needs it.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import NoReturn, TextIO, TypeAlias

Command: TypeAlias = Callable[[], None]

_ABOUT = "An agent runtime in which stop means stop."
_INTERRUPTED = 130  # what a shell calls a command that was ended by Ctrl-C


def _demo() -> None:
    from lastword.cli import demo  # noqa: PLC0415 - only when asked for

    demo.main()


_COMMANDS: dict[str, tuple[str, Command]] = {
    "demo": ("see an agent that will not stop be stopped (3 seconds, no keys, no network)", _demo),
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"lastword: {message}. Try: lastword --help\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the arguments say; without any, say what can be done."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.command is None:
        parser.print_help()
        return
    if asked.command not in _COMMANDS:
        parser.error(f"there is no command {asked.command!r}")
    _run(_COMMANDS[asked.command][1])


def _parser() -> _Parser:
    rows = (f"  {name:<8}{what}" for name, (what, _) in _COMMANDS.items())
    parser = _Parser(
        prog="lastword",
        usage="lastword [--help] [--version] <command>",
        description="\n".join([_ABOUT, "", "commands:", *rows]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
        allow_abbrev=False,
    )
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    options = parser.add_argument_group("options")
    options.add_argument("-h", "--help", action="help", help="show this and leave")
    version = f"lastword {metadata.version('lastword')}"
    options.add_argument(
        "--version", action="version", version=version, help="show the version and leave"
    )
    return parser


def _run(command: Command) -> None:
    logging.getLogger("lastword").addHandler(logging.NullHandler())
    out: TextIO = sys.stdout
    if reconfigure := getattr(out, "reconfigure", None):
        reconfigure(errors="replace")  # a terminal may not know every character of a text
    try:
        command()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:  # whoever read the output has left; that is theirs to decide
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        sys.exit(1)
