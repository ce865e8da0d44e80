"""Pausable code: programs over tools, which stand still wherever they wait for a call.

Needs `pydantic-monty`, which `lastword[cells]` brings. Nothing of it is imported in this process.
"""

from lastword.cells.interpreter import Interpreter
from lastword.cells.limits import Limits
from lastword.cells.steps import (
    AtFrontier,
    Err,
    Failed,
    Finished,
    LimitReached,
    Ok,
    PendingCall,
    Step,
)
from lastword.cells.stubs import Tool, arguments, stubs

__all__ = [
    "AtFrontier",
    "Err",
    "Failed",
    "Finished",
    "Interpreter",
    "LimitReached",
    "Limits",
    "Ok",
    "PendingCall",
    "Step",
    "Tool",
    "arguments",
    "stubs",
]
