"""A person at a terminal, and the session they talk to."""

from lastword.cli.chat.start import chat

__all__ = ["chat"]
