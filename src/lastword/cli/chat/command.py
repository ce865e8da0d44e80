"""`lastword chat`, as it is typed: which agent, which session, kept where."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from lastword.cli import settings
from lastword.cli.chat.start import chat
from lastword.cli.chat.words import plain
from lastword.errors import LastwordError
from lastword.runtime.runtime import Runtime
from lastword.surfaces import GRACE

if TYPE_CHECKING:
    from lastword.agent.assistant import Assistant
    from lastword.agent.config import Config, FoundSettings

ABOUT = """\
Talk to an agent in this directory, and stop it whenever you like.

Without --model it is the one that OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_API_KEY is for;
without any key, a rehearsal, which is no language model and needs none."""


def options(parser: argparse.ArgumentParser) -> None:
    """What can be said behind `lastword chat`."""
    for names, about in (
        (("-p", "--prompt"), "send this, write the answer to the output, and leave; - reads it"),
        (("--session",), "which conversation to go on with, or begin (main; with -p, a new one)"),
        (("--store",), f"where it is kept ({settings.STORE}, or what LASTWORD_STORE says)"),
    ):
        parser.add_argument(*names, metavar=names[-1].strip("-").upper(), help=about)
    settings.lease_option(parser)
    settings.options(parser)


def main(asked: argparse.Namespace) -> int:
    """Do it; the exit code."""
    try:
        config = settings.settled(asked, "lastword chat", lambda found: _trusts(found, asked))
        store = settings.store_of(config, asked, settings.STORE, lambda path: _opens(path, asked))
        agent = settings.maker(config, asked, store)(config.roots, ())
        return asyncio.run(_talk(agent, config, store, asked))
    except ModuleNotFoundError as error:
        why = f"{error.name} is not installed; pip install '.[chat]' brings it"
        print(f"lastword chat: {why}", file=sys.stderr)
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


async def _talk(agent: Assistant, config: Config, store: str, asked: argparse.Namespace) -> int:
    mode = settings.mode_of(config)
    async with Runtime(
        agent.engine,
        store=store,
        lease=asked.lease,
        on_message=mode,
        before_tool=agent.questions.as_before_tool(),
        grace=GRACE,
    ) as runtime:
        return await chat(
            runtime,
            asked.session,
            prompt=asked.prompt,
            questions=agent.questions,
            model_name=agent.model,
            mode=mode,
        )
