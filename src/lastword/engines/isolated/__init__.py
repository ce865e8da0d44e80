"""Runs in processes of their own: `Runtime(Isolated("shop.agent:engine"))`. When a receipt says
quiet, no instruction of the run is executed any more, by anybody."""

from lastword.engines.isolated.engine import Isolated

__all__ = ["Isolated"]
