"""A compiled LangGraph graph as an engine, unchanged: `Runtime(LangGraph(graph))`.

What its models say is said through the run, its tools are called through the gate and are in the
ledger, its threads are fenced, and so are the checkpoints that it writes. Of the messages the log
is the truth, and a checkpoint of all other state.
"""

from __future__ import annotations

from lastword.engines.kit import Approve, Compaction, FrameworkMoved
from lastword.engines.langgraph.asking import Ask
from lastword.engines.langgraph.engine import LangGraph, hold_all

hold_all()  # from here on, in whatever engine's run

__all__ = ["Approve", "Ask", "Compaction", "FrameworkMoved", "LangGraph"]
