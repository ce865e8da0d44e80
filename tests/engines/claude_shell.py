"""What the stories of the Claude Agent SDK's own tools share: its shell, and the ledger."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from lastword import Session, Status
from lastword.core.entries import Called, Result
from lastword.testing.provider import Call as Asks
from tests.engines.subject_claude import ClaudeCli, claude


def bash(command: str) -> Asks:
    return Asks("Bash", {"command": command, "description": "a test"})


@asynccontextmanager
async def shell(*allowed: str) -> AsyncGenerator[ClaudeCli]:
    """A CLI with its shell, of which these commands need no permission."""
    async with claude() as one:
        one.options.tools = ["Bash"]
        one.options.allowed_tools = [f"Bash({command})" for command in allowed] or ["Bash"]
        yield one


async def calls(session: Session) -> list[tuple[str, Status, str]]:
    log = await session.log()
    ends = {entry.call: entry for entry in log if isinstance(entry, Result)}
    made = [entry for entry in log if isinstance(entry, Called)]
    return [(one.name, ends[one.call].status, ends[one.call].content) for one in made]
