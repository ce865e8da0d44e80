"""What needs more than Python: the extras, and the modules that each brings.

Whoever needs an extra asks for it before the first import. So a person who has not installed it is
told in one line, with the command that does.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from lastword.errors import ExtraMissing

BRINGS = MappingProxyType(
    {
        "agent": ("pydantic_ai", "anthropic", "openai"),
        "anthropic": ("anthropic",),
        "cells": ("pydantic_monty",),
        "chat": ("markdown_it", "prompt_toolkit", "rich"),
        "claude": ("claude_agent_sdk",),
        "google": ("google.genai",),
        "langgraph": ("langchain_core", "langgraph"),
        "mcp": ("mcp", "mcp_types"),
        "openai": ("openai",),
        "openai-agents": ("agents",),
        "otel": ("opentelemetry",),
        "postgres": ("asyncpg",),
        "server": ("httptools", "msgspec", "starlette", "uvicorn"),
    }
)


def need(what: str, *extras: str) -> None:
    """Raise ExtraMissing, in words for a person, if one of these is not installed."""
    if missing := [extra for extra in extras if not is_installed(extra)]:
        several = len(missing) > 1
        named = f"the extra{'s' if several else ''} {' and '.join(missing)}"
        raise ExtraMissing(
            f"{what} needs {named}, which {'are' if several else 'is'} not installed. "
            f"Run: {how_to_install(missing)}"
        )


def is_installed(extra: str) -> bool:
    """Whether all that it brings is there."""
    return all(map(_is_there, BRINGS[extra]))


def how_to_install(extras: Sequence[str]) -> str:
    """The command; in a copy of the repository that is run by its scripts, theirs."""
    root = Path(__file__).resolve().parents[2]
    script = root / "scripts" / "install"
    if Path(sys.prefix).resolve() == root / ".venv" and script.is_file():
        return shlex.join([str(script), *extras])
    return f"pip install 'lastword[{','.join(extras)}]'"


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # what it would be a part of is not there
        return False
