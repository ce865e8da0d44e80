"""What the tests of the server share.

Every answer that one gets is held against the OpenAPI document. A test of the page has a browser, a
server, a person who has opened its link, and a visitor, who is that person in a session of their
own. Whoever needs another server, or something to be there already, has a fixture of that name.
What needs no screen has the page's modules, in Node.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING

import pytest

from tests.server.client import Answer, Client
from tests.server.conforming import must_conform
from tests.server.page_node import Modules, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.server.browser import Server, Visitor


@pytest.fixture(autouse=True)
def documented(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is answered is what was promised."""
    ask = Client.ask

    async def checked(
        self: Client,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        answer = await ask(self, method, path, body, headers=headers)
        must_conform(method, path, answer)
        return answer

    monkeypatch.setattr(Client, "ask", checked)


@pytest.fixture(scope="session")
def modules() -> Generator[Modules]:
    with running() as modules:
        yield modules


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    from tests.server.browser import chromium  # noqa: PLC0415 - it may not be installed

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """One with the rehearsal. It is not started where there is no browser."""
    from tests.server.browser import started  # noqa: PLC0415

    with started(tmp_path_factory.mktemp("page")) as server:
        yield server


@pytest.fixture(scope="module")
def person(browser: Browser, server: Server) -> Generator[Visitor]:
    from tests.server.browser import visiting  # noqa: PLC0415

    with visiting(browser, server) as person:
        yield person


@pytest.fixture
def visitor(person: Visitor) -> Generator[Visitor]:
    person.arrive()
    yield person
    person.leave()


@pytest.fixture
def table(browser: Browser, server: Server) -> Generator[Page]:
    """A page on which time stands still unless it is told to go on."""
    from tests.server.browser import standing_still  # noqa: PLC0415

    with standing_still(browser, server) as page:
        yield page
