"""Who may do what: rights by token, and sessions that nobody else sees."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from lastword import Engine, Runtime
from lastword.server import ApiToken, Right, ServerLimits
from lastword.server.operations import OPERATIONS
from tests.promise.workshop import until
from tests.server.asking import change, outcomes, remove, waiting
from tests.server.client import Client, served, upto
from tests.server.engines import Doors, echo

_RIGHTS: dict[str, tuple[Right, ...]] = {
    "ann": ("read", "send", "approve", "stop", "admin"),
    "bob": ("read", "send"),
    "cai": ("read",),
    "dee": ("stop",),
}


def key(name: str) -> str:
    return f"the token of {name}, long enough"


@asynccontextmanager
async def house(
    engine: Engine, *, limits: ServerLimits | None = None, **settings: object
) -> AsyncGenerator[dict[str, Client]]:
    """Four people in one place, and eve in another."""
    tokens = [ApiToken(key(name), name, rights, "home") for name, rights in _RIGHTS.items()]
    tokens.append(ApiToken(key("eve"), "eve"))
    async with (
        Runtime(engine, **settings) as runtime,  # pyright: ignore[reportArgumentType] - as told
        served(runtime, tokens=tuple(tokens), limits=limits) as client,
    ):
        yield {name: client.as_(key(name)) for name in (*_RIGHTS, "eve")}


async def test_each_operation_takes_the_right_that_it_names() -> None:
    async with house(echo) as people:
        for operation in OPERATIONS:
            path = operation.path.replace("{", "").replace("}", "")
            body = b"{}" if operation.takes else b""
            nobody = await people["ann"].as_(None).ask(operation.method, path, body)
            assert (nobody.status == 401) is not operation.open, operation.path
            for name, rights in _RIGHTS.items():
                if operation.path.endswith("/events") and "read" in rights:
                    continue  # it would be answered for ever
                if operation.path == "/v1/links":
                    continue  # for whoever started the server alone
                answer = await people[name].ask(operation.method, path, body)
                lacks = operation.right is not None and operation.right not in rights
                assert (answer.status == 403) is lacks, (name, operation.path, answer.body)
                if lacks:
                    assert answer.problem == "forbidden"
                    assert f"no right to {operation.right}" in answer.json["detail"]


async def test_a_wrong_token_is_nobodys_and_is_told_how_to_ask() -> None:
    async with house(echo) as people:
        for token in (None, "", "wrong", key("ann")[:-1], key("ann") + "x"):
            answer = await people["ann"].as_(token).get("/v1/sessions")
            assert (answer.status, answer.problem) == (401, "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"
            assert "`lastword token` prints one" in answer.json["detail"]
        me = (await people["bob"].get("/v1/me")).json
        assert (me["name"], me["principal"], me["rights"]) == ("bob", "home", ["read", "send"])


@pytest.mark.scenario("T15")
async def test_who_has_no_right_to_stop_has_no_effect_and_is_told() -> None:
    engine = Doors("two")
    async with house(engine) as people, people["cai"].events("s") as events:
        ann, bob = people["ann"], people["bob"]
        started = (await ann.send("s", "one", id="one")).json
        await until(lambda: engine.runs)
        for answer in (
            await bob.post("/v1/sessions/s/stop"),
            await bob.post("/v1/sessions/s/stop", {"run": "s#1"}),
            await bob.send("s", "stop", heed_stop=True),
        ):
            assert (answer.status, answer.problem) == (403, "forbidden")
        # a takeover would be a stop, so it follows instead; a rollback too
        for policy in ("takeover", "rollback", None):
            told = (await bob.send("s", "two", on_message=policy)).json
            assert told["placed"] == "queued", policy
        assert engine.runs["one"].current
        assert (await ann.get("/v1/sessions/s")).json["generation"] == started["generation"]

        engine.let("one")
        seen = await upto(events, "ended")
        assert seen[-1]["text"] == "completed"
        assert "stopped" not in [event["kind"] for event in seen]


@pytest.mark.scenario("T15")
async def test_who_may_not_stop_changes_only_what_is_theirs_in_the_queue() -> None:
    engine = Doors()
    async with house(engine, on_message="queue") as people:
        ann, bob = people["ann"], people["bob"]
        await ann.send("s", "go", id="go")
        await ann.send("s", "hers", id="hers")
        await bob.send("s", "his", id="his")
        for answer in (
            await remove(bob, "hers"),
            await change(bob, "hers", text="x"),
            await change(bob, "hers", to=1),
        ):
            assert (answer.status, answer.problem) == (403, "not-allowed")
        assert await waiting(ann) == ["hers", "his"]
        assert (await change(bob, "his", text="better")).status == 200
        gone = await remove(bob, "go")
        assert (gone.status, gone.problem) == (409, "not-waiting")
        assert (await remove(ann, "his")).status == 200
        assert await waiting(ann) == ["hers"]


async def test_sessions_of_one_principal_are_not_there_for_another() -> None:
    engine = Doors()
    async with house(engine) as people:
        ann, eve = people["ann"], people["eve"]
        await ann.send("s", "secret plan", id="plan")
        await until(lambda: engine.runs)
        for path in ("", "/log", "/transcript", "/receipts", "/export", "/processes"):
            answer = await eve.get(f"/v1/sessions/s{path}")
            assert (answer.status, answer.problem) == (404, "unknown-session"), path
        deleted = await eve.ask("DELETE", "/v1/sessions/s")
        assert deleted.status == 404
        assert (await eve.stop("s"))["idle"]
        assert (await eve.get("/v1/sessions")).json["sessions"] == []
        for name in ("home/s", "home%2fs", "..%2fhome%2fs", "home%2Fs"):
            answer = await eve.get(f"/v1/sessions/{name}")
            assert answer.status in {400, 404}
            assert b"secret" not in answer.body
        async with eve.events("s") as events:
            [snapshot] = await upto(events, "snapshot")
            assert snapshot["data"]["items"] == []
            assert snapshot["data"]["phase"]["active"] is None
        assert engine.runs["secret plan"].current

        await eve.send("s", "mine", id="mine")
        assert (await eve.get("/v1/sessions/s")).json["id"] == "s"
        assert await outcomes(eve) == {}
        assert engine.runs["secret plan"].current, "another session, whatever it is called"
        [one] = (await ann.get("/v1/sessions")).json["sessions"]
        assert (one["id"], one["title"]) == ("s", "secret plan")
        receipt = await ann.stop("s")
        assert (receipt["session"], receipt["runs"]) == ("s", ["s#1"])
        assert "home" not in receipt["words"]


async def test_no_name_of_a_principal_is_told_to_those_who_watch_a_session() -> None:
    engine = Doors()
    async with house(engine) as people:
        ann = people["ann"]
        reader, writer = await ann.open()
        writer.write(ann.request("GET", "/v1/sessions/s/events"))
        await ann.send("s", "go")
        await until(lambda: engine.runs)
        await ann.send("s", "then", on_message="queue")
        await ann.stop("s")
        told = await reader.readuntil(b'"kind":"receipt"') + await reader.readuntil(b"\n\n")
        writer.close()

        assert b"s#1" in told
        assert b"home" not in told
        for path in ("/log", "/receipts", "/queue", "/processes", "/transcript", ""):
            assert b"home/" not in (await ann.get(f"/v1/sessions/s{path}")).body, path


async def test_who_has_too_much_of_something_is_refused_and_keeps_what_there_is() -> None:
    limits = ServerLimits(sessions=2, watchers=1)
    async with house(echo, limits=limits) as people:
        ann, eve = people["ann"], people["eve"]
        for name in "ab":
            assert (await ann.send(name, "hello")).status == 202
        third = await ann.send("c", "hello")
        assert (third.status, third.problem) == (429, "too-many")
        assert (await ann.send("a", "again")).status == 202
        assert (await eve.send("c", "hello")).status == 202, "another's count is another's"
        await ann.ask("DELETE", "/v1/sessions/b")
        assert (await ann.send("c", "hello")).status == 202
        async with ann.events("a") as events:
            await anext(events)
            second = await ann.get("/v1/sessions/a/events")
            assert (second.status, second.problem) == (429, "too-many")
            assert second.headers["retry-after"] == "5"
            async with eve.events("c") as others:
                await anext(others)
