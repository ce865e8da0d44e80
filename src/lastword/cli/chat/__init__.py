"""A person at a terminal, and the session they talk to.

A line is sent, or it answers the question that is shown, or it is a command. Ctrl-C is a stop.
"""

from lastword.cli.chat.start import chat

__all__ = ["chat"]
