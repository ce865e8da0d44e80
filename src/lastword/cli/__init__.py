"""The command line."""

from lastword.cli.entry import main

__all__ = ["main"]
