"""`lastword chat`, as it is typed: which agent, which session, kept where."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from lastword.cli.chat.start import chat
from lastword.core.model import Policy
from lastword.errors import LastwordError
from lastword.runtime.runtime import Runtime

if TYPE_CHECKING:
    from lastword.agent.assistant import Assistant
    from lastword.agent.config import Config
    from lastword.agent.tools.mcp import McpServer

ABOUT = """\
Talk to an agent in this directory, and stop it whenever you like.

Without --model it is the one that OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_API_KEY is for;
without any key, a rehearsal, which is no language model and needs none."""
MODES = get_args(Policy)
_STORE = "sqlite:lastword.db"


def options(parser: argparse.ArgumentParser) -> None:
    """What can be said behind `lastword chat`."""
    for names, about in (
        (("-p", "--prompt"), "send this, write the answer to the output, and leave; - reads it"),
        (("--model",), "openai:…, anthropic:…, google:…, or rehearsal"),
        (("--base-url",), "ask --model of a server that speaks OpenAI's chat completions"),
        (("--session",), "which conversation to go on with, or begin (main)"),
        (("--store",), f"where it is kept ({_STORE}, or what LASTWORD_STORE says)"),
        (("--config",), "read this lastword.toml; else the one here, or in ~/.config/lastword"),
    ):
        parser.add_argument(*names, metavar=names[-1].strip("-").upper(), help=about)
    parser.add_argument(
        "--mode",
        choices=MODES,
        metavar="MODE",
        help=f"what a new message does while an answer goes on: {', '.join(MODES)}",
    )
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="RULE",
        help='allow without asking: a tool, and maybe a pattern: "shell git *"',
    )
    parser.add_argument(
        "--yes", action="store_true", help="allow every tool without asking, in a sandbox"
    )


def main(asked: argparse.Namespace) -> int:
    """Do it; the exit code."""
    try:
        from lastword.agent.config import Config  # noqa: PLC0415 - only when asked for

        config = _asked(Config.found(Path(asked.config) if asked.config else None), asked)
        from lastword.agent.assistant import assistant  # noqa: PLC0415 - takes a second
        from lastword.agent.models import model_named  # noqa: PLC0415

        model = model_named(config.model, base_url=config.base_url)
        agent = assistant(
            model,
            roots=config.roots,
            rules=config.rules,
            fetch=config.fetch,
            instructions=config.instructions,
            window=config.window,
            toolsets=_servers(config),
        )
        return asyncio.run(_talk(agent, config, asked))
    except ModuleNotFoundError as error:
        why = f"{error.name} is not installed; pip install 'lastword[chat]' brings it"
        print(f"lastword chat: {why}", file=sys.stderr)
    except (LastwordError, ValueError) as error:
        print(f"lastword chat: {error}", file=sys.stderr)
    return 1


def _servers(config: Config) -> list[McpServer]:
    if not config.mcp:
        return []
    from lastword.agent.tools import mcp  # noqa: PLC0415 - takes another second

    return [
        mcp.stdio(one.name, one.command, one.env, one.cwd)
        if one.command
        else mcp.http(one.name, one.url, one.headers)
        for one in config.mcp
    ]


def _asked(config: Config, asked: argparse.Namespace) -> Config:
    """What was set, and what is typed, which counts more."""
    rules = [*config.rules, *(f"allow {rule}" for rule in asked.allow)]
    if asked.yes:
        rules.append("allow *")
    return replace(
        config,
        model=asked.model or config.model,
        base_url=asked.base_url or config.base_url,
        store=asked.store or config.store or os.environ.get("LASTWORD_STORE") or _STORE,
        on_message=asked.mode or config.on_message or "takeover",
        rules=tuple(rules),
    )


async def _talk(agent: Assistant, config: Config, asked: argparse.Namespace) -> int:
    if config.on_message not in MODES:
        raise ValueError(f"on_message must be one of {', '.join(MODES)}, not {config.on_message}")
    mode = cast("Policy", config.on_message)
    async with Runtime(
        agent.engine,
        store=config.store or _STORE,
        on_message=mode,
        before_tool=agent.questions.as_before_tool(),
        grace=0.25,
    ) as runtime:
        return await chat(
            runtime,
            asked.session or "main",
            prompt=asked.prompt,
            questions=agent.questions,
            model_name=agent.model,
            mode=mode,
        )
