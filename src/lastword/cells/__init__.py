"""Pausable code: programs over tools, which stand still wherever they wait for a call.

Needs `pydantic-monty`, which `lastword[cells]` brings. Nothing of it is imported in this process.
"""

from lastword.cells.cell import ContinuingCell, PausableCell
from lastword.cells.functions import Function, function
from lastword.cells.home import run_by
from lastword.cells.interpreter import Interpreter
from lastword.cells.limits import ProgramLimits
from lastword.cells.outside import observe, paused, resume, terminate, wait
from lastword.cells.serving import delivered, engine
from lastword.cells.steps import (
    AtFrontier,
    Err,
    Ok,
    Step,
    StepCall,
    StepFailed,
    StepFinished,
    StepLimit,
)
from lastword.cells.stubs import Tool, arguments, stubs
from lastword.core.resume import Resume

__all__ = [
    "AtFrontier",
    "ContinuingCell",
    "Err",
    "Function",
    "Interpreter",
    "Ok",
    "PausableCell",
    "ProgramLimits",
    "Resume",
    "Step",
    "StepCall",
    "StepFailed",
    "StepFinished",
    "StepLimit",
    "Tool",
    "arguments",
    "delivered",
    "engine",
    "function",
    "observe",
    "paused",
    "resume",
    "run_by",
    "stubs",
    "terminate",
    "wait",
]
