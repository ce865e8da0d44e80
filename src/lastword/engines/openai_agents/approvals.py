"""The framework's own approvals: who answers them, and in whose name.

They never leave the process: the run that asked goes on with the answer, or ends and the call has
not started. So no approval is used twice.
"""

from __future__ import annotations

from typing import Any

from agents import RunResultStreaming, RunState, ToolApprovalItem

from lastword.engines.kit.approving import Approve, denied
from lastword.engines.openai_agents.actions import said_in
from lastword.engines.openai_agents.items import field_of
from lastword.runtime.run import Run


async def answered(run: Run, result: RunResultStreaming, approve: Approve | None) -> RunState[Any]:
    """The state to go on with, once all that was asked for is answered."""
    state = result.to_state()
    for asked in result.interruptions:
        if why := await _denied(run, asked, approve):
            state.reject(asked, rejection_message=why)
        else:
            state.approve(asked)
    run.must_hold("what was allowed")
    return state


async def _denied(run: Run, asked: ToolApprovalItem, approve: Approve | None) -> str:
    given = field_of(asked.raw_item, "arguments")
    arguments = given if isinstance(given, str) else said_in(asked.raw_item)
    return await denied(approve, run, asked.name or "a tool", arguments)
