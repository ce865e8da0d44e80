"""An agent runtime in which stop means stop.

The public names are in `public`, and are fetched when they are first asked for: a part that
stands by itself, such as `lastword.testing.provider`, is imported without the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lastword.public import *  # noqa: F403 - the same names, for whoever reads types

    __all__: list[str]
else:

    def __getattr__(name: str) -> object:
        return getattr(import_module("lastword.public"), name)

    def __dir__() -> list[str]:
        return list(import_module("lastword.public").__all__)
