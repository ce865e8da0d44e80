"""What a test of an interruptible agent needs.

The names are in `public`, and are fetched when they are first asked for: the provider, which
stands by itself, is imported without the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lastword.testing.public import *  # noqa: F403 - the same names, for whoever reads types

    __all__: list[str]
else:

    def __getattr__(name: str) -> object:
        return getattr(import_module("lastword.testing.public"), name)

    def __dir__() -> list[str]:
        return list(import_module("lastword.testing.public").__all__)
