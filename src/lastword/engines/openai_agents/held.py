"""All that is held of openai-agents, from when the first engine is made: in whatever engine's run.

Outside of lastword's runs the framework does what it did.
"""

from __future__ import annotations

from lastword.engines.kit.mcp import hold_mcp_requests
from lastword.engines.openai_agents.actions import ACTIONS
from lastword.engines.openai_agents.handoffs import HANDOFFS
from lastword.engines.openai_agents.innermost import find_functions
from lastword.engines.openai_agents.requests import REQUESTS
from lastword.engines.openai_agents.runners import RUNNERS
from lastword.engines.openai_agents.seams import hold_all
from lastword.engines.openai_agents.tools import TOOLS


def hold_agents() -> None:
    """From now on, whatever agent is run inside a run of lastword's is held to it."""
    find_functions()
    hold_mcp_requests()
    hold_all((*RUNNERS, *REQUESTS, *TOOLS, *ACTIONS, *HANDOFFS))
