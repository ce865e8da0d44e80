"""What is typed, and what it starts.

A command's own module is imported only when it is asked for, so that help is quick and an extra
that is not installed is missed only by the command that needs it.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import metadata
from typing import NoReturn, TextIO, TypeAlias

from lastword.cli.settings import STORE
from lastword.processes.levels import LEVELS

Command: TypeAlias = Callable[[Sequence[str]], int]
"""Takes the words behind its name; gives the exit code."""

_ABOUT = "An agent runtime in which stop means stop."
_ABOUT_DEMO = """\
See an agent that will not stop be stopped: 20 seconds, no keys.

There is no language model in it, but the streaming is real, and with the extra
agent so are the shell and the processes."""
_INTERRUPTED = 130  # what a shell calls a command that was ended by Ctrl-C
_BY_SIGNAL = 128  # and its number: what it calls one that another signal ended
_MISUSED = 2  # as for arguments that mean nothing


def _demo(words: Sequence[str]) -> int:
    _Parser("lastword demo", "", _ABOUT_DEMO).parse_args(words)
    try:
        from lastword.cli import rehearsed as demo  # noqa: PLC0415 - needs an extra
    except ModuleNotFoundError:
        from lastword.cli import demo  # noqa: PLC0415 - shorter, and needs none
    demo.main()
    return 0


def _chat(words: Sequence[str]) -> int:
    others = ("-p", "--p", "-h", "--h")  # what is no conversation at a terminal
    if _is_at_a_terminal() and not any(word.startswith(others) for word in words):
        print(f"lastword {metadata.version('lastword')}: stop means stop.", flush=True)  # at once
    from lastword.cli.chat import command  # noqa: PLC0415 - only when asked for

    parser = _Parser(
        "lastword chat", "[-p TEXT] [--model MODEL] [--session SESSION] …", command.ABOUT
    )
    command.options(parser)
    return command.main(parser.parse_args(words))


def _acp(words: Sequence[str]) -> int:
    from lastword.cli import acp  # noqa: PLC0415 - only when asked for

    parser = _Parser("lastword acp", "[--engine MODULE:FUNCTION] [--model MODEL] …", acp.ABOUT)
    acp.options(parser)
    return acp.main(parser.parse_args(words))


def _serve(words: Sequence[str]) -> int:
    from lastword.cli import serve  # noqa: PLC0415 - only when asked for

    parser = _Parser("lastword serve", "[--engine MODULE:FUNCTION] [--port PORT] …", serve.ABOUT)
    serve.options(parser)
    return serve.main(parser.parse_args(words))


def _stop(words: Sequence[str]) -> int:
    from lastword.cli import remote  # noqa: PLC0415 - only when asked for

    usage = "[--url URL] [--run RUN] SESSION"
    parser = _Parser("lastword stop", usage, remote.ABOUT_STOP)
    remote.options(parser)
    return remote.stop(parser.parse_args(words))


def _link(words: Sequence[str]) -> int:
    from lastword.cli import remote  # noqa: PLC0415 - only when asked for

    parser = _Parser("lastword link", "[--url URL]", remote.ABOUT_LINK)
    remote.address(parser)
    return remote.link(parser.parse_args(words))


def _token(words: Sequence[str]) -> int:
    from lastword.cli import remote  # noqa: PLC0415 - only when asked for

    parser = _Parser("lastword token", "[--url URL]", remote.ABOUT_KEY)
    remote.server_option(parser)
    return remote.token(parser.parse_args(words))


def _cells(what: str, words: Sequence[str]) -> int:
    from lastword.cli import cells, remote  # noqa: PLC0415 - only when asked for

    usage = {"cell": "[--url URL] CELL", "resume": "--generation N --result CALL=JSON … CELL"}.get(
        what, ""
    )
    parser = _Parser(f"lastword {what}", usage or "[--url URL]", cells.ABOUT[what])
    cells.options(what, parser)
    remote.address(parser)
    return cells.main(what, parser.parse_args(words))


def _doctor(words: Sequence[str]) -> int:
    from lastword.cli import doctor  # noqa: PLC0415 - only when asked for

    parser = _Parser(
        "lastword doctor",
        "[--level LEVEL] [--store ADDRESS] [--engine E]",
        doctor.ABOUT,
    )
    parser.add_argument(
        "--level",
        choices=LEVELS,
        metavar="LEVEL",
        help="try only this one: sealed, cgroup, tree or group; exit code 1 if it cannot be had",
    )
    parser.add_argument(
        "--store",
        default=os.environ.get("LASTWORD_STORE"),
        metavar="ADDRESS",
        help="look at this one too, or at what LASTWORD_STORE says; exit code 1 if not whole",
    )
    parser.add_argument(
        "--engine",
        metavar="ENGINE",
        help="say how a run of this one gets a process; exit code 1 if it cannot be had",
    )
    asked = parser.parse_args(words)
    return doctor.main(asked.level, asked.store, asked.engine)


def _check(words: Sequence[str]) -> int:
    from lastword.cli import check  # noqa: PLC0415 - only when asked for

    parser = _BeforeCommand("lastword check", check.USAGE, check.ABOUT)
    check.options(parser)
    return check.main(parser.parse_args(words))


def _records(what: str, words: Sequence[str]) -> int:
    from lastword.cli import records  # noqa: PLC0415 - only when asked for

    usage = "[--store ADDRESS]" if what == "sessions" else "[--store ADDRESS] SESSION"
    parser = _Parser(f"lastword {what}", usage, records.ABOUT[what])
    if what != "sessions":
        parser.add_argument("session", metavar="SESSION", help="the session's id")
    parser.add_argument(
        "--store",
        default=os.environ.get("LASTWORD_STORE", STORE),
        metavar="ADDRESS",
        help=f"where it is kept ({STORE}, or what LASTWORD_STORE says)",
    )
    asked = parser.parse_args(words)
    return records.main(what, asked.store, getattr(asked, "session", None))


def _upkeep(what: str, words: Sequence[str]) -> int:
    from lastword.cli import upkeep  # noqa: PLC0415 - only when asked for

    parser = _Parser(f"lastword {what}", upkeep.USAGE[what], upkeep.ABOUT[what])
    upkeep.options(what, parser)
    parser.add_argument(
        "--store",
        default=os.environ.get("LASTWORD_STORE", STORE),
        metavar="ADDRESS",
        help=f"the store ({STORE}, or what LASTWORD_STORE says)",
    )
    return upkeep.main(what, parser.parse_args(words))


def _move_store(words: Sequence[str]) -> int:
    from lastword.cli import moving  # noqa: PLC0415 - only when asked for

    parser = _Parser("lastword move-store", "FROM TO", moving.ABOUT)
    moving.options(parser)
    return moving.main(parser.parse_args(words))


def _nodes(words: Sequence[str]) -> int:
    from lastword.cli import nodes  # noqa: PLC0415 - only when asked for

    parser = _Parser("lastword nodes", "[--store ADDRESS]", nodes.ABOUT)
    nodes.options(parser, os.environ.get("LASTWORD_STORE"))
    return nodes.main(parser.parse_args(words))


_GROUPS: dict[str, dict[str, tuple[str, Command]]] = {
    "begin with one of these": {
        "demo": ("see an agent that will not stop be stopped (20 s, no keys)", _demo),
        "serve": ("serve an agent over HTTP, with a page, on this machine", _serve),
        "chat": ("talk to an agent here, and stop it whenever you like", _chat),
        "acp": ("be the agent of your editor, by the Agent Client Protocol", _acp),
        "doctor": ("see how strictly processes are held here", _doctor),
        "check": ("see whether an agent, yours or any other, stops", _check),
    },
    "ask a server that runs": {
        "stop": ("stop a session, and print the receipt", _stop),
        "link": ("print another link to its page", _link),
        "token": ("print the token for programs of yours", _token),
        "cells": ("list the programs that wait for an answer", partial(_cells, "cells")),
        "cell": ("see what one of them waits on", partial(_cells, "cell")),
        "resume": ("answer what it waits on", partial(_cells, "resume")),
        "nodes": ("list the servers over one PostgreSQL database", _nodes),
    },
    "look at what is kept": {
        "sessions": ("list the sessions that a store holds", partial(_records, "sessions")),
        "transcript": ("see what was said in a session", partial(_records, "transcript")),
        "receipts": ("see what was stopped in a session", partial(_records, "receipts")),
        "export": ("write a session to the output, as JSON lines", partial(_records, "export")),
        "delete": ("forget a session", partial(_records, "delete")),
    },
    "look after a store": {
        "backup": ("copy a store, also while a server has it open", partial(_upkeep, "backup")),
        "restore": ("make a store of a backup", partial(_upkeep, "restore")),
        "prune": ("delete the sessions that nobody used for long", partial(_upkeep, "prune")),
        "vacuum": ("shrink a store after sessions were deleted", partial(_upkeep, "vacuum")),
        "move-store": ("move a store from a file to a PostgreSQL database", _move_store),
    },
}
COMMANDS = {name: command for group in _GROUPS.values() for name, (_, command) in group.items()}


class _Parser(argparse.ArgumentParser):
    def __init__(self, name: str, usage: str, about: str) -> None:
        super().__init__(
            prog=name,
            usage=f"{name} [--help] {usage}".rstrip(),
            description=about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=False,
            allow_abbrev=False,
        )
        self.add_argument("-h", "--help", action="help", help="show this and leave")

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}. Try: {self.prog} --help\n")


class _BeforeCommand(_Parser):
    """Reads what stands before a `--`; what is behind it is a command, and is left as it is."""

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride] - of what is typed
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        words = list(args or [])
        at = words.index("--") if "--" in words else len(words)
        asked = namespace or argparse.Namespace()
        asked.command = words[at + 1 :]
        asked, rest = super().parse_known_args(words[:at], asked)
        asked.target += [word for word in rest if not word.startswith("-")]  # behind an option
        return asked, [word for word in rest if word.startswith("-")]


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the arguments say; without any, say what can be done."""
    _open_what_is_closed()
    words = list(sys.argv[1:] if arguments is None else arguments)
    at = next((at for at, word in enumerate(words) if not word.startswith("-")), len(words))
    parser = _parser()
    parser.parse_args(words[:at])
    if at == len(words):
        _alone(parser)
    elif words[at] in COMMANDS:
        _run(COMMANDS[words[at]], words[at + 1 :])
    else:
        parser.error(f"there is no command {words[at]!r}")


def _is_at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _alone(parser: _Parser) -> None:
    """Nothing was asked for. A person is welcomed; whoever reads a pipe is told all there is."""
    if not _is_at_a_terminal():
        parser.print_help()
        return
    from lastword.cli import front  # noqa: PLC0415 - only when asked for

    if front.is_set_up():
        _run(_chat, [])
    else:
        first = next(iter(_GROUPS.values()))
        print(front.welcome({name: what for name, (what, _) in first.items()}))


def _parser() -> _Parser:
    about = [_ABOUT]
    for title, group in _GROUPS.items():
        about += ["", f"{title}:", *(f"  {name:<12}{what}" for name, (what, _) in group.items())]
    about += ["", "`lastword COMMAND --help` says more of each."]
    parser = _Parser("lastword", "[--version] COMMAND …", "\n".join(about))
    version = f"lastword {metadata.version('lastword')}"
    parser.add_argument(
        "--version", action="version", version=version, help="show the version and leave"
    )
    return parser


def _open_what_is_closed() -> None:
    """Without this, the next file that is opened would be taken for an input or an output."""
    names: dict[int, str] = {0: "stdin", 1: "stdout", 2: "stderr"}
    closed = [number for number, name in names.items() if getattr(sys, name) is None]
    for number in closed:
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it gets the lowest number
        mode = "w" if number else "r"
        setattr(sys, names[number], os.fdopen(number, mode, closefd=False))
    if 1 in closed:
        print(
            "lastword: the output is closed; send it to /dev/null if nobody is to read it",
            file=sys.stderr,
        )
        sys.exit(_MISUSED)


@contextmanager
def _ending_when_asked() -> Generator[None]:
    """SIGTERM unwinds, so that what was begun is ended; who can do better sets it anew."""

    def leave(number: int, _: object) -> None:
        sys.exit(_BY_SIGNAL + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(command: Command, words: Sequence[str]) -> None:
    logging.getLogger("lastword").addHandler(logging.NullHandler())
    out: TextIO = sys.stdout
    if reconfigure := getattr(out, "reconfigure", None):
        reconfigure(errors="replace")  # a terminal may not know every character of a text
    try:
        with _ending_when_asked():
            code = command(words)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:  # whoever read the output has left; that is theirs to decide
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        sys.exit(1)
    if code:
        sys.exit(code)
