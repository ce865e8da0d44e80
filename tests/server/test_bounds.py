"""What anybody sends is bounded, before it costs others anything."""

from __future__ import annotations

import json

import pytest

from lastword import Runtime
from lastword.server import ServerLimits
from tests.server.client import served
from tests.server.engines import Doors


@pytest.mark.scenario("W25", part="server")
async def test_a_body_of_very_many_parts_is_refused_before_it_is_decoded() -> None:
    async with Runtime(Doors()) as runtime, served(runtime) as client:
        path, one = "/v1/sessions/s/messages", b'{"media_type": "a", "data": "\\"[{,"}'
        many = b'{"text": "x", "attachments": [' + b",".join([one] * 60_000) + b"]}"
        refused = await client.ask("POST", path, many)
        assert (refused.status, refused.problem) == (413, "too-large")
        assert "parts" in refused.json["detail"]
        long = await client.send("s", '[{,"\\' * 100_000)
        assert long.status == 202, "what a text has in it is no part"


@pytest.mark.scenario("W25", part="server")
async def test_what_waits_in_a_session_is_bounded_in_bytes_and_says_what_is_full() -> None:
    limits = ServerLimits(waiting=100_000)
    async with Runtime(Doors()) as runtime, served(runtime, limits=limits) as client:
        await client.send("s", "go")
        waits = [await client.send("s", "x" * 40_000, on_message="queue") for _ in range(3)]
        assert [one.status for one in waits] == [202, 202, 429]
        assert waits[-1].problem == "queue-full"
        assert "the messages that wait in s have 80000 bytes already" in waits[-1].json["detail"]
        edit = json.dumps({"text": "y" * 90_000}).encode()
        changed = await client.ask(
            "PATCH", f"/v1/sessions/s/queue/{waits[0].json['message']}", edit
        )
        assert (changed.status, changed.problem) == (429, "queue-full")
        assert (await client.send("s", "x" * 90_000)).status == 202, "it takes over, and waits not"


@pytest.mark.scenario("W25", part="server")
async def test_the_answer_to_a_stop_has_the_beginning_of_very_long_words_that_it_dropped() -> None:
    async with Runtime(Doors()) as runtime, served(runtime) as client:
        await client.send("s", "go")
        for number in range(5):
            await client.send("s", f"{number}" + "x" * 500_000, on_message="queue")
        answer = await client.post("/v1/sessions/s/stop")
        assert [one["message"]["text"][0] for one in answer.json["receipt"]["messages"]] == [
            *"01234"
        ]
        assert len(answer.body) < 1_100_000
        whole = (await client.get("/v1/sessions/s/receipts")).json["receipts"][0]
        assert all(len(one["message"]["text"]) == 500_001 for one in whole["messages"])
