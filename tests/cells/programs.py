"""What tests of cells share: a tool or two, programs over them, and who runs them."""

import os

from lastword.cells import AtFrontier, Interpreter, ProgramLimits, Step, Tool
from lastword.processes.inside.family import Procfs, Relative

READ = Tool(
    "read",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "offset": {"type": "integer", "default": 1}},
        "required": ["path"],
    },
    "Read a file.",
    {"type": "string"},
)
ASK = Tool("ask", {"properties": {"what": {}}})  # takes anything, or nothing, and gives anything
THREE = """
import asyncio
print("before")
found = await asyncio.gather(read("a"), read("b", 2), read(path="c"))
print("after")
found
"""
ENDLESS = "print('up')\nwhile True:\n    pass"


async def frontier(
    interpreter: Interpreter, source: str, limits: ProgramLimits | None = None
) -> AtFrontier:
    """Where a program first stands still."""
    return at_frontier(await interpreter.start(source, tools=[READ, ASK], limits=limits))


def at_frontier(step: Step) -> AtFrontier:
    assert isinstance(step, AtFrontier), step
    return step


def ids(step: Step) -> tuple[str, ...]:
    """Of the calls that are waited for."""
    return tuple(call.id for call in at_frontier(step).pending)


def interpreters() -> list[Relative]:
    """The processes that programs run in, of all that came from this one."""
    return [kin for kin in descendants() if kin.name == "monty" and kin.state != "Z"]


def descendants() -> list[Relative]:
    proc = Procfs()
    try:
        return list(proc.descendants(os.getpid()))
    finally:
        proc.close()
