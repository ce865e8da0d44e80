"""Whether a command with git in it is asked about, whatever rule allows it: by where it begins."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any, cast

from lastword.agent.about import About, begins
from lastword.agent.tools.aside import aside
from lastword.agent.tools.directory import Directories
from lastword.agent.tools.environment import without_keys
from lastword.agent.tools.repository import why_asked
from lastword.runtime.active_run import run_here
from lastword.runtime.run import Run


async def git_asked(about: About, directories: Directories) -> str:
    """Why it is; nothing if it need not be. From here on it begins in what was looked at."""
    going = run_here()
    run = going.given if going else None
    if not isinstance(run, Run):
        return "what git would run cannot be told outside of a run"
    begins.set(None)
    stay = directories.of(run)
    try:
        workdir = _workdir(about.text)
        place = await aside(partial(directories.look, stay, workdir))
    except (OSError, ValueError) as error:
        return f"where it would begin cannot be told: {error}"
    begins.set(place.path)
    return await why_asked(run, about.subject or "", Path(place), without_keys(os.environ))


def _workdir(arguments: str) -> str:
    read = cast("object", json.loads(arguments))
    given = cast("dict[str, Any]", read) if isinstance(read, dict) else {}
    return str(given.get("workdir") or "")
