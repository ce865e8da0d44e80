"""The command line.

It puts the other floors together. A command imports what it needs when it is called for, so that
help needs nothing but Python.
"""

from lastword.cli.entry import main

__all__ = ["main"]
