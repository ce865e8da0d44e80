"""Engines around what teams have: a plain function, or a framework's agent. One file each.

For who keeps a loop of their own: what a model is to be shown (`run.history`), in providers' words.
"""

from __future__ import annotations

from lastword.engines.kit.anthropic import anthropic as anthropic_messages
from lastword.engines.kit.chat import chat as openai_messages
from lastword.engines.kit.responses import responses as openai_input

__all__ = ["anthropic_messages", "openai_input", "openai_messages"]
