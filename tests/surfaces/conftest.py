"""The page's modules, in Node, for what is told to a browser."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.server.page_node import Modules, running


@pytest.fixture(scope="session")
def modules() -> Generator[Modules]:
    with running() as modules:
        yield modules
