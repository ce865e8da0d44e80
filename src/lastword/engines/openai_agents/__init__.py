"""An openai-agents `Agent` as an engine, unchanged: `Runtime(OpenAIAgents(agent))`."""

from __future__ import annotations

from lastword.engines.kit.approving import Approve
from lastword.engines.kit.compaction import Compaction
from lastword.engines.kit.moved import FrameworkMoved
from lastword.engines.kit.trouble import ModelFailed
from lastword.engines.openai_agents.engine import OpenAIAgents
from lastword.engines.openai_agents.memory import RunSession
from lastword.engines.openai_agents.shell import shell

__all__ = [
    "Approve",
    "Compaction",
    "FrameworkMoved",
    "ModelFailed",
    "OpenAIAgents",
    "RunSession",
    "shell",
]
