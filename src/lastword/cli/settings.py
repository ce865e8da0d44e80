"""Which agent is talked to: what is set in files, and what is typed, which counts more."""

from __future__ import annotations

import argparse
import os
import stat
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast, get_args

from lastword.core.model import DEFAULTS, Policy
from lastword.errors import LastwordError
from lastword.extras import need
from lastword.stores.lease import LENGTH

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset

    from lastword.agent.assistant import Assistant
    from lastword.agent.config import Config, FoundSettings
    from lastword.agent.rules import Rule
    from lastword.agent.tools.mcp import McpServer
    from lastword.runtime.run import Run

Make: TypeAlias = "Callable[..., Assistant]"  # of directories, and maybe more toolsets
MODES = get_args(Policy)
STORE = "sqlite:lastword.db"  # in the directory that one is in
_A_MOMENT = 2.0  # seconds


def options(parser: argparse.ArgumentParser) -> None:
    """What can be said of an agent, whoever talks to it."""
    of_the_agent = parser.add_argument_group("the agent")
    for name, shown, about in (
        ("--model", "MODEL", "openai:…, anthropic:…, google:…, or rehearsal"),
        ("--base-url", "URL", "ask --model of a server that speaks OpenAI's chat completions"),
        ("--config", "FILE", "read this lastword.toml instead of the one here"),
    ):
        of_the_agent.add_argument(name, metavar=shown, help=about)
    of_the_agent.add_argument(
        "--mode",
        choices=MODES,
        metavar="MODE",
        help=f"what a new message does while an answer goes on: {', '.join(MODES)}",
    )
    of_the_agent.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="RULE",
        help='allow without asking: a tool, and maybe a pattern: "shell git *"',
    )
    of_the_agent.add_argument(
        "--trust",
        action="store_true",
        help="trust the lastword.toml here, as it is now, and the lastword.db, for good",
    )
    of_the_agent.add_argument(
        "--yes", action="store_true", help="allow every tool without asking, in a sandbox"
    )


def settled(
    asked: argparse.Namespace,
    command: str,
    trusts: Callable[[FoundSettings], bool] = lambda _: False,
) -> Config:
    """What holds. What a file here wants that nobody has trusted is left out, and it is said."""
    from lastword.agent.config import found  # noqa: PLC0415 - only when asked for
    from lastword.agent.trust import trust  # noqa: PLC0415

    path = Path(asked.config) if asked.config else None
    settings = found(path)
    if settings.left_out and settings.stamp and (asked.trust or trusts(settings)):
        trust(settings.stamp)
        settings = found(path)  # if it has changed meanwhile, it is another one
    if settings.left_out:
        names = "".join(c if c.isprintable() else "?" for c in ", ".join(settings.left_out))
        why = f"the lastword.toml here is not trusted; left out: {names:.300} (--trust trusts it)"
        print(f"{command}: {why}", file=sys.stderr)
    config = settings.config
    return replace(
        config,
        model=asked.model or config.model,
        base_url=asked.base_url or config.base_url,
        on_message=asked.mode or config.on_message,
    )


def store_of(
    config: Config,
    asked: argparse.Namespace,
    otherwise: str,
    trusts: Callable[[str], bool] = lambda _: False,
) -> str:
    """Where sessions are kept: as it is typed, or set; or else here, if what is here is ours."""
    named = asked.store or config.store or os.environ.get("LASTWORD_STORE")
    return named or store_here(otherwise, lambda path: asked.trust or trusts(path))


def store_here(address: str, trusts: Callable[[str], bool]) -> str:
    """A store that nobody has named. A directory may have been downloaded, a store with it, and
    what is in that would be shown to the person as theirs, and to the model as said. So those that
    were made here are remembered, outside of the directory, and others are asked about."""
    path = Path(address.partition(":")[2])
    beside = [path.with_name(f"{path.name}-{more}") for more in ("wal", "shm", "journal")]
    if not any(map(os.path.lexists, beside)):
        with suppress(OSError):  # if it cannot be made, whoever opens it says why
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    for one in (path, *beside):
        with suppress(FileNotFoundError):
            if why := _not_ours(one.lstat()):
                raise _refused(one, why, address)
    if _stays(beside[-1]):  # lastword leaves none: it would be written back into the store
        raise _refused(beside[-1], "is none that lastword leaves", address)
    if not path.exists() and any(map(os.path.lexists, beside)):
        raise _refused(beside[0], "is there without its store", address)
    with suppress(FileNotFoundError):
        _must_be_known(path, [one for one in beside if os.path.lexists(one)], address, trusts)
    return address


def _stays(path: Path) -> bool:
    """Whether a file is there for longer than it takes another to make a store."""
    until = time.monotonic() + _A_MOMENT
    while os.path.lexists(path) and time.monotonic() < until:
        time.sleep(_A_MOMENT / 40)
    return os.path.lexists(path)


def _must_be_known(
    path: Path, beside: Sequence[Path], address: str, trusts: Callable[[str], bool]
) -> None:
    from lastword.agent.trust import Stamp, is_trusted, trust  # noqa: PLC0415 - only when asked for

    found = path.stat()
    stamp = Stamp.of_file(path, found)
    if is_trusted(stamp):
        return
    empty = not found.st_size and not beside  # there is nothing in it: it was just made
    if not empty and not trusts(str(path)):
        raise _refused(path, "was not made by lastword here, as far as is remembered", address)
    try:
        trust(stamp)
    except LastwordError:
        if not empty:
            raise  # else it is asked about the next time


def _refused(path: Path, why: str, address: str) -> LastwordError:
    return LastwordError(
        f"{path} here {why}, so it may have come with the directory, and was not opened. If it is "
        f"yours, say so with --store {address}, or for good with --trust; if not, move it away"
    )


def _not_ours(found: os.stat_result) -> str:
    if stat.S_ISLNK(found.st_mode):
        return "is a link"
    if not stat.S_ISREG(found.st_mode):
        return "is no ordinary file"
    if found.st_uid != os.geteuid():
        return "belongs to somebody else"
    if found.st_nlink > 1:
        return "has another name elsewhere"
    return "can be read or written by others" if found.st_mode & 0o077 else ""


def mode_of(config: Config) -> Policy:
    """What a new message does."""
    mode = config.on_message or DEFAULTS.on_message
    if mode not in MODES:
        raise ValueError(f"on_message must be one of {', '.join(MODES)}, not {mode}")
    return cast("Policy", mode)


def maker(config: Config, asked: argparse.Namespace, store: str) -> Make:
    """Makes assistants that work in some directories, maybe with more tools than are set.

    What is said is kept in that store, which is not theirs to look at, nor are tokens."""
    from lastword.agent.assistant import assistant  # noqa: PLC0415 - takes a second
    from lastword.agent.models import model_named  # noqa: PLC0415
    from lastword.agent.rules import Rule  # noqa: PLC0415
    from lastword.agent.tools.files import Files  # noqa: PLC0415
    from lastword.agent.tools.private import Private  # noqa: PLC0415

    model = model_named(config.model, base_url=config.base_url)
    servers = _servers(config)
    rules = [*map(Rule.parse, config.rules), *_typed(asked)]  # here, once: there may be thousands
    tokens = getattr(asked, "tokens", None)
    private = Private.of(store, [tokens] if tokens else [])

    def make(
        roots: Sequence[str],
        more: Sequence[AbstractToolset[Run]] = (),
        files_in: Callable[..., Files] = Files,
    ) -> Assistant:
        return assistant(
            model,
            roots=roots,
            rules=rules,
            fetch=config.fetch,
            shell=config.shell,
            cd_lasts=config.cd_lasts,
            instructions=config.instructions,
            window=config.window,
            toolsets=[*servers, *more],
            files_in=files_in,
            private=private,
        )

    return make


def _typed(asked: argparse.Namespace) -> list[Rule]:
    """What is allowed for this time, over every rule but a deny."""
    from lastword.agent.rules import Rule  # noqa: PLC0415 - only when asked for

    lines = [*asked.allow, *(["*"] if asked.yes else [])]
    return [replace(Rule.parse(f"allow {line}"), typed=True) for line in lines]


def _servers(config: Config) -> list[McpServer]:
    if not config.mcp:
        return []
    need("an MCP server", "mcp")
    from lastword.agent.tools import mcp  # noqa: PLC0415 - takes another second

    return [
        mcp.stdio(one.name, one.command, one.env, one.cwd)
        if one.command
        else mcp.http(one.name, one.url, one.headers)
        for one in config.mcp
    ]


def lease_option(parser: argparse.ArgumentParser) -> None:
    """For commands that have sessions on a file."""
    parser.add_argument(
        "--lease",
        type=float,
        metavar="SECONDS",
        help=f"how long a process that shows no sign of life keeps its sessions ({LENGTH:g})",
    )
