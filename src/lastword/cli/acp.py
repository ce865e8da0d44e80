"""`lastword acp`, as an editor starts it."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

from lastword.cli import own_engine, settings
from lastword.errors import LastwordError
from lastword.extras import need

if TYPE_CHECKING:
    from lastword.acp.agents import Make

ABOUT = """\
An agent for editors that speak the Agent Client Protocol, over standard input
and output.

Without --engine it is the agent that comes with lastword, and without --model
the one that OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_API_KEY is for; without
any key, a rehearsal, which is no language model and needs none."""
_WINDOW = 128_000  # tokens, of a model that nobody has said anything of


def options(parser: argparse.ArgumentParser) -> None:
    """What can be said behind `lastword acp`."""
    own_engine.option(parser)
    own_engine.how(parser)
    settings.options(parser)
    parser.add_argument(
        "--store", metavar="ADDRESS", help="where sessions are kept (~/.local/state/lastword)"
    )


def main(asked: argparse.Namespace) -> int:
    """Serve one editor; the exit code."""
    from lastword.acp.stdio import keep_output_for_the_protocol  # noqa: PLC0415 - only here

    output = keep_output_for_the_protocol()  # before anything is imported that might print
    gc.disable()  # what is imported stays, and need not be looked through, now or later
    try:
        need("an agent", "agent")
        config = None if asked.engine else settings.settled(asked, "lastword acp")
        mode = settings.mode_of(config) if config else own_engine.mode_of(asked)
        from lastword.acp.serve import serve  # noqa: PLC0415 - takes a second
        from lastword.agent.trust import of_the_person  # noqa: PLC0415

        folder = of_the_person("XDG_STATE_HOME", ".local/state", os.environ) / "acp"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        store = asked.store or f"sqlite:{folder / 'sessions.db'}"
        if config:
            opened, make = nullcontext, settings.maker(config, asked, store)
        else:
            own = own_engine.found(asked)
            opened, make = own.opened, _made_of(own, asked.engine)
        window = config.window if config else _WINDOW
        gc.freeze()
        gc.enable()
        asyncio.run(
            serve(make, opened, output=output, folder=folder, store=store, mode=mode, window=window)
        )
    except (LastwordError, ValueError, OSError) as error:
        print(f"lastword acp: {error}", file=sys.stderr)
        return 1
    return 0


def _made_of(own: own_engine.OwnEngine, named: str) -> Make:
    """A team's own engine, which asks for itself what it wants to have asked."""
    from lastword.agent.assistant import Assistant  # noqa: PLC0415 - takes a second
    from lastword.agent.permission import Questions  # noqa: PLC0415
    from lastword.agent.rules import Rule, Rules  # noqa: PLC0415

    def make(*_: object, **__: object) -> Assistant:
        return Assistant(own.engine, Questions(Rules((Rule.parse("allow *"),))), named)

    return make
