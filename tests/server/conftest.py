"""Every answer that a test of the server gets is held against the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.server.client import Answer, Client
from tests.server.conforming import must_conform


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
