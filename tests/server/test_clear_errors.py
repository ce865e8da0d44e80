"""Odd but honest input: it is taken, or refused with words that say why."""

from __future__ import annotations

import json

import pytest
from starlette.types import Scope

from lastword import Runtime, cells
from lastword.server import app
from tests.cells.stage import Leaver
from tests.cells.tape import Tape
from tests.server.client import served
from tests.server.engines import echo
from tests.server.test_cells import left
from tests.server.test_mount import Below, mounted


@pytest.mark.scenario("W23", part="server")
async def test_a_hook_may_give_a_name_alone() -> None:
    def who(scope: Scope) -> str | None:
        return dict(scope["headers"]).get(b"x-user", b"").decode() or None

    async with Runtime(echo) as runtime, mounted(app(runtime, who=who)) as client:
        assert (await client.as_(None).get("/v1/me")).status == 401
        ann = Below(client.port, None, {"x-user": "ann"})
        me = (await ann.get("/v1/me")).json
        assert (me["name"], me["principal"]) == ("ann", "ann")
        assert me["rights"] == ["approve", "read", "send", "stop"]


@pytest.mark.scenario("W16", part="server")
@pytest.mark.parametrize("depth", [900, 5_000, 200_000])
async def test_json_that_is_nested_deep_is_taken_or_refused_in_words(depth: int) -> None:
    async with Runtime(cells.engine(Leaver())) as runtime:
        cells.run_by(runtime.processes, Tape())
        async with served(runtime) as client:
            cell = await left(client, "1")
            value = "[" * depth + "]" * depth
            results = f'{{"{cell}:1": {{"value": {value}}}}}'
            body = f'{{"generation": 1, "results": {results}}}'.encode()
            path = f"/v1/sessions/s/cells/{cell}/resume"
            for where in (path, "/v1/sessions/s/messages", "/v1/sessions/s/stop"):
                answer = await client.ask("POST", where, body)
                assert answer.status in {202, 400, 413}, (where, answer.body)
                assert json.loads(answer.body).get("detail", "-")
