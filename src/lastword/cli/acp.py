"""`lastword acp`, as an editor starts it."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys

from lastword.cli import settings
from lastword.errors import LastwordError

ABOUT = """\
An agent for editors that speak the Agent Client Protocol, over standard input and output.

Without --model it is the one that OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_API_KEY is for;
without any key, a rehearsal, which is no language model and needs none."""


def options(parser: argparse.ArgumentParser) -> None:
    """What can be said behind `lastword acp`."""
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
        config = settings.settled(asked, "lastword acp")
        mode = settings.mode_of(config)
        from lastword.acp.serve import serve  # noqa: PLC0415 - takes a second
        from lastword.agent.trust import of_the_person  # noqa: PLC0415

        folder = of_the_person("XDG_STATE_HOME", ".local/state", os.environ) / "acp"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        store = asked.store or f"sqlite:{folder / 'sessions.db'}"
        make = settings.maker(config, asked, store)
        gc.freeze()
        gc.enable()
        asyncio.run(
            serve(make, output=output, folder=folder, store=store, mode=mode, window=config.window)
        )
    except ModuleNotFoundError as error:
        why = f"{error.name} is not installed; pip install '.[agent]' brings it"
        print(f"lastword acp: {why}", file=sys.stderr)
        return 1
    except (LastwordError, ValueError, OSError) as error:
        print(f"lastword acp: {error}", file=sys.stderr)
        return 1
    return 0
