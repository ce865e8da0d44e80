"""How a target that somebody starts by hand is pointed at the check's model and tools."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from lastword.check.dummies import ASK_US
from lastword.check.inside import witness

PORT = 9417  # of our model, for who starts a target by hand
JOURNAL = Path("lastword-check.journal")


def setup(port: int = 0, journal: Path | None = None) -> str:
    """In words that can be copied."""
    url = f"http://127.0.0.1:{port or PORT}"
    lines = [f"{name}={text.replace('{url}', url)}" for name, text in ASK_US.items()]
    tools = [sys.executable, "-I", "-S", str(Path(witness.__file__)), "mcp"]
    tools.append(str((journal or JOURNAL).absolute()))
    return "\n".join(
        [
            "# the target asks this model, once the check runs with --port",
            *lines,
            "# and has this MCP server",
            shlex.join(tools),
        ]
    )
