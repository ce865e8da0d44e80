"""`lastword chat`, as it is typed: which agent, which session, kept where."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from lastword.agent.choice import chosen
from lastword.cli import own_engine, settings
from lastword.cli.chat.coming import ComingAgent
from lastword.cli.chat.output import OUTPUTS
from lastword.cli.chat.start import chat
from lastword.cli.chat.words import plain
from lastword.errors import LastwordError
from lastword.extras import need
from lastword.runtime.runtime import Runtime
from lastword.surfaces import GRACE

if TYPE_CHECKING:
    from lastword.agent.assistant import Assistant
    from lastword.agent.config import Config, FoundSettings
    from lastword.core.model import Policy

ABOUT = """\
Talk to an agent in this directory, and stop it whenever you like.

Without --engine it is the agent that comes with lastword, and without --model
the one that OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_API_KEY is for; without
any key, a rehearsal, which is no language model and needs none."""


def options(parser: argparse.ArgumentParser) -> None:
    """What can be said behind `lastword chat`."""
    for names, shown, about in (
        (("-p", "--prompt"), "TEXT", "send this, print the answer, and leave; - reads the input"),
        (("--session",), "SESSION", "the conversation to go on with (main; with -p, a new one)"),
        (("--store",), "ADDRESS", f"where it is kept ({settings.STORE}, or LASTWORD_STORE)"),
    ):
        parser.add_argument(*names, metavar=shown, help=about)
    parser.add_argument(
        "--output", choices=OUTPUTS, default="text",
        help="with -p: the words, one JSON object at the end, or a line of JSON for each entry",
    )  # fmt: skip
    own_engine.option(parser)
    own_engine.how(parser)
    settings.lease_option(parser)
    settings.options(parser)


def main(asked: argparse.Namespace) -> int:
    """Do it; the exit code."""
    try:
        needed = [] if asked.engine else ["agent"]
        need("a chat", *needed, *(["chat"] if _somebody_is_there(asked) else []))
        return asyncio.run(_talk(_engine(asked) if asked.engine else _agent(asked), asked))
    except (LastwordError, ValueError) as error:
        print(f"lastword chat: {error}", file=sys.stderr)
    return 1


def _trusts(settings: FoundSettings, asked: argparse.Namespace) -> bool:
    """Ask whoever sits at the terminal, if somebody does."""
    if not _somebody_is_there(asked):
        return False
    print("The lastword.toml here, which may not be yours, would")
    for would in settings.left_out.values():
        print(f"  {' '.join(plain(would).split())}")
    return _agrees("Trust it?")


def _opens(path: str, asked: argparse.Namespace) -> bool:
    if not _somebody_is_there(asked):
        return False
    print(f"{plain(path)} was not made by lastword here, so it may have come with the directory.")
    print("What is in it would be shown as said by you, also to the model.")
    return _agrees("Open it?")


def _somebody_is_there(asked: argparse.Namespace) -> bool:
    return asked.prompt is None and sys.stdin.isatty() and sys.stdout.isatty()


def _agrees(question: str) -> bool:
    try:
        return input(f"{question} [y/N] ").strip().casefold() in {"y", "yes"}
    except EOFError:
        print()
        return False


class _Talks(NamedTuple):
    """With whom."""

    model: str
    mode: Policy
    store: str
    own: own_engine.OwnEngine | None = None  # a team's
    make: Callable[[str], Assistant] | None = None  # of ours
    folder: str = "."


def _engine(asked: argparse.Namespace) -> _Talks:
    """A team's own."""
    own = own_engine.found(asked)
    mode, store = own_engine.mode_of(asked), own_engine.store_of(asked)
    return _Talks(asked.engine, mode, store, own)


def _agent(asked: argparse.Namespace) -> _Talks:
    config = settings.settled(asked, "lastword chat", lambda found: _trusts(found, asked))
    store = settings.store_of(config, asked, settings.STORE, lambda path: _opens(path, asked))
    model = chosen(config.model, base_url=config.base_url).name
    make = partial(_made, config, asked, store)
    return _Talks(model, settings.mode_of(config), store, None, make, config.roots[0])


def _made(config: Config, asked: argparse.Namespace, store: str, model: str) -> Assistant:
    config = replace(config, model=model or config.model)
    return settings.maker(config, asked, store)(config.roots, ())


async def _talk(to: _Talks, asked: argparse.Namespace) -> int:
    coming = ComingAgent(to.make, to.folder) if to.make else None
    engine = coming.engine if coming else to.own.engine if to.own else None
    if engine is None:
        raise ValueError("there is nobody to talk to")
    async with Runtime(
        engine,
        store=to.store,
        lease=asked.lease,
        on_message=to.mode,
        before_tool=coming.before_tool if coming else None,
        grace=GRACE,
    ) as runtime:
        if to.own and (note := await to.own.ready()):
            print(note, file=sys.stderr)
        return await chat(
            runtime,
            asked.session,
            prompt=asked.prompt,
            questions=coming,
            model_name=to.model,
            mode=to.mode,
            output=asked.output,
        )
