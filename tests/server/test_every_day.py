"""Y. Every day, over HTTP: ask anew, rename, pin, look for a session, see what it has used.

It is the server's part of what the page, a terminal and an editor do by the same verbs.
"""

from __future__ import annotations

import json

import pytest

from lastword import Run
from tests.server.asking import entries
from tests.server.client import Answer, Client, serving_engine, upto
from tests.server.engines import Doors, echo
from tests.server.test_rights import house


async def change_session(client: Client, session: str, **told: object) -> Answer:
    body = json.dumps(told).encode()
    return await client.ask("PATCH", f"/v1/sessions/{session}", body)


async def again(client: Client, **told: object) -> Answer:
    return await client.post("/v1/sessions/s/again", told)


@pytest.mark.scenario("Y1", part="server")
async def test_the_last_turn_is_asked_anew_over_http_and_marked_for_who_watches() -> None:
    async with serving_engine(echo) as client, client.events("s") as events:
        run = (await client.send("s", "one")).json["run"]
        await upto(events, "ended")
        accepted = await again(client, run=run, text="two", id="mine")
        same = await again(client, run=run, text="two", id="mine")
        await upto(events, "ended")

        assert (accepted.status, accepted.json["message"]) == (202, "mine")
        assert same.json["run"] == accepted.json["run"]
        said = [one for one in await entries(client) if one["kind"] == "said"]
        assert [one.get("instead") for one in said] == [None, run]
        shown = (await client.get("/v1/sessions/s/transcript")).json["items"]
        assert [item["text"] for item in shown] == ["two", "re: two"]
        past = (await client.get("/v1/sessions/s/past")).json["items"]
        assert [one["rollback"] for one in past if one["kind"] == "turn"] == [True, False]


@pytest.mark.scenario("Y4", part="server")
async def test_a_turn_that_is_not_the_last_is_refused_over_http() -> None:
    async with serving_engine(echo) as client, client.events("s") as events:
        run = (await client.send("s", "one")).json["run"]
        await upto(events, "ended")
        await client.send("s", "two")
        await upto(events, "ended")
        refused = await again(client, run=run)

        assert (refused.status, refused.problem) == (409, "stale-turn")
        assert "the turn of run s#1 is not the last any more" in refused.json["detail"]
        assert (await client.post("/v1/sessions/nobody/again", {})).problem == "unknown-session"


@pytest.mark.scenario("Y5", part="server")
async def test_who_may_not_stop_takes_nothing_back() -> None:
    async with house(Doors("one", "two")) as people, people["ann"].events("s") as events:
        await people["bob"].send("s", "one")
        await upto(events, "ended")

        refused = await again(people["bob"], text="two")
        assert (refused.status, refused.problem) == (403, "forbidden")
        assert (await again(people["ann"], text="two")).status == 202


@pytest.mark.scenario("Y9", part="server")
async def test_a_session_is_renamed_pinned_and_found_by_its_title() -> None:
    async with house(echo) as people:
        ann = people["ann"]
        for name in ("a", "b", "c"):
            async with ann.events(name) as events:
                await ann.send(name, f"about {name}")
                await upto(events, "ended")
        changed = (await change_session(ann, "a", title="Der Schlüssel", pinned=True)).json
        assert (changed["title"], changed["pinned"]) == ("Der Schlüssel", True)

        async def found(query: str) -> list[str]:
            told = (await ann.get(f"/v1/sessions?{query}")).json["sessions"]
            return [one["id"] for one in told]

        assert await found("words=SCHL%C3%9CSSEL") == ["a"]
        assert sorted(await found("words=about")) == ["b", "c"]
        assert await found("pinned=true") == ["a"]
        assert sorted(await found("pinned=false")) == ["b", "c"]
        assert (await ann.get("/v1/sessions?pinned=perhaps")).status == 400
        assert (await change_session(people["cai"], "a", title="x")).problem == "forbidden"
        assert (await change_session(people["eve"], "a", title="x")).problem == "unknown-session"


@pytest.mark.scenario("Y10", part="server")
async def test_what_a_session_has_used_is_what_its_models_said() -> None:
    async def engine(run: Run) -> None:
        run.used("small-1", 100, 20)
        run.used("large-2", 1_000, 50)
        await run.emit("done")

    async with serving_engine(engine) as client, client.events("s") as events:
        await client.send("s", "one")
        await upto(events, "ended")
        told = (await client.get("/v1/sessions/s/usage")).json

        assert told == {
            "requests": 2,
            "input_tokens": 1_100,
            "output_tokens": 70,
            "model": "large-2",
            "filled": 1_050,
        }
        assert (await client.get("/v1/sessions/nobody/usage")).problem == "unknown-session"
