"""Those who want in, or want what is not theirs: pages of other sites, names that lead here, keys
that are nobody's, and neighbours."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lastword import Runtime
from lastword.agent.permission import Questions
from lastword.server import ApiToken
from lastword.server.who import Who, token_from
from tests.promise.workshop import until
from tests.server.asking import waiting
from tests.server.client import SECRET, Client, served, serving_engine, upto
from tests.server.engines import Doors, echo
from tests.server.hostile import raw, said

BOB, MALLORY = "the token of bob, long enough", "the token of mallory, long enough"
SENDER, STOPPER = "the token of a sender, long enough", "the token of a stopper, long enough"


# names that lead here, and pages of other sites


async def test_a_server_answers_only_to_its_own_names() -> None:
    async with serving_engine(echo) as client:
        port = client.port
        for host in ("127.0.0.1", f"localhost:{port}", f"LOCALHOST.:{port}", f"[::1]:{port}"):
            assert (await client.get("/v1/me", host=host)).status == 200, host
        for host in (
            *("evil.example", f"evil.example:{port}", "127.0.0.1.nip.io", "localhost.evil.example"),
            *("localhost, evil.example", "localhost@evil.example", "2130706433", "0.0.0.0", " "),  # noqa: S104
        ):
            for path in ("/v1/me", "/", "/healthz", "/v1/openapi.json", "/nothing"):
                answer = await client.get(path, host=host)
                refused = answer.status, answer.problem
                assert refused in {(403, "wrong-host"), (400, "bad-request")}, (host, path)
        for lines in (
            (),
            (f"host: localhost:{port}", "host: evil.example"),
            ("host: localhost",) * 2,
        ):
            answer = await said(client, raw("GET /v1/me HTTP/1.1", *lines))
            assert (answer.status, answer.problem) == (400, "bad-request"), lines


async def test_a_page_of_another_site_reaches_nothing_where_nobody_need_say_who_they_are() -> None:
    """A browser adds nothing of its own to what another page asks; here nothing would be needed."""
    async with Runtime(echo) as runtime, served(runtime, tokens=()) as client:
        here = f"http://127.0.0.1:{client.port}"
        own = await client.post("/v1/sessions/s/stop", origin=here)
        assert own.status == 200
        elsewhere: list[dict[str, str]] = [
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"origin": f"http://127.0.0.1:{client.port + 1}"},
            {"origin": f"http://localhost:{client.port}"},
            {"origin": f"{here}.evil.example"},
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
            {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
        ]
        for headers in elsewhere:
            for path in ("stop", "queue/resume", "events?on_disconnect=stop"):
                stop = await client.ask("POST", f"/v1/sessions/s/{path}", headers=headers)
                assert (stop.status, stop.problem) == (403, "wrong-origin"), headers
            preflight = await client.ask("OPTIONS", "/v1/sessions/s/messages", headers=headers)
            assert preflight.status in {403, 405}, headers
            assert not [name for name in preflight.headers if name.startswith("access-control")]
            events = await client.ask("GET", "/v1/sessions/s/events", headers=headers)
            assert events.problem == "wrong-origin", headers


async def test_a_form_cannot_say_what_only_a_program_says() -> None:
    async with serving_engine(echo) as client:
        for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
            answer = await client.ask(
                *("POST", "/v1/sessions/s/messages", b'{"text": "do it"}'),
                headers={"content-type": media},
            )
            assert (answer.status, answer.problem) == (415, "unsupported-media-type"), media
        assert (await client.get("/v1/sessions")).json["sessions"] == []


# keys


async def test_a_token_is_believed_only_whole_and_where_it_belongs() -> None:
    async with serving_engine(echo) as client:
        for told in (
            *("Bearer", "Bearer ", f"Bearer {SECRET[:-1]}", f"Bearer {SECRET}x", f"Basic {SECRET}"),
            *(SECRET, f"Bearer {SECRET.upper()}", "Bearer \xff\xfe", f"Bearer  {'x' * 5000}"),
        ):
            answer = await client.as_(None).get("/v1/me", authorization=told)
            assert answer.problem == "unauthorized", told
            assert answer.headers["www-authenticate"] == "Bearer"
        nobody = client.as_(None)
        token = SECRET.replace(" ", "+")
        assert (await nobody.get(f"/v1/me?token={token}&access_token={token}")).status == 401
        there, never = await nobody.get("/v1/sessions/s"), await nobody.get("/v1/sessions/never")
        assert {**there.json, "id": ""} == {**never.json, "id": ""}, "nobody learns what exists"
    key = b"k" * 32
    assert token_from(key, "one start") != token_from(key, "another")


# neighbours


@asynccontextmanager
async def street(engine: Any, **more: Any) -> AsyncGenerator[tuple[Client, Client, Client]]:
    """The person, bob and mallory, at the same server."""
    questions = more.pop("questions", None)
    tokens = (
        *(ApiToken(SECRET), ApiToken(BOB, "bob"), ApiToken(MALLORY, "mallory")),
        *(
            ApiToken(SENDER, "sender", ["send"], "bob"),
            ApiToken(STOPPER, "stopper", ["stop"], "bob"),
        ),
    )
    async with (
        Runtime(engine, **more) as runtime,
        served(runtime, questions=questions, tokens=tokens) as client,
    ):
        yield client, client.as_(BOB), client.as_(MALLORY)


async def test_nothing_of_a_neighbour_is_reached_by_any_path() -> None:
    questions, engine = Questions(), Doors()
    async with street(engine, questions=questions, on_message="queue") as (local, bob, mallory):
        await bob.send("s", "a secret", id="mine")
        await bob.send("s", "another secret", id="waits")
        await until(lambda: engine.runs)
        async with bob.events("s") as events:
            seen = (await anext(events))["id"]
        for who in (mallory, local):
            for name in (
                "s",
                "bob%2Fs",
                "bob%2fs",
                "bob/s",
                "..%2Fbob%2Fs",
                "%2E%2E",
                "s%231",
                "s#1",
            ):
                for rest in ("", "/log", "/export", "/transcript", "/receipts", "/processes"):
                    answer = await who.get(f"/v1/sessions/{name}{rest}")
                    assert answer.status in {400, 404}, (name, rest)
                    assert b"secret" not in answer.body
            async with who.events("s", last_event_id=seen) as events:
                first = await anext(events)
                assert (first["kind"], first["data"]["items"]) == ("snapshot", [])
            for run in ("s#1", "bob/s#1", "../bob/s#1", "bob%2Fs#1"):
                stop = await who.post("/v1/sessions/s/stop", {"run": run})
                assert stop.problem == "stale-run", run
                assert "bob/s#1" not in stop.json["detail"].replace(run, "")
            assert (await who.stop("s"))["idle"]
            for method, path in (
                *(("DELETE", "queue/waits"), ("DELETE", "queue/mine"), ("DELETE", "processes/1")),
                ("DELETE", ""),
            ):
                gone = await who.ask(method, f"/v1/sessions/s/{path}".rstrip("/"))
                assert gone.status in {404, 409}, path
            assert await waiting(who) == []
            assert (await who.get("/v1/sessions")).json["sessions"] == []
        assert await waiting(bob) == ["another secret"]
        assert engine.runs["a secret"].current


@pytest.mark.parametrize("name", ["", "a/b", "a#1", "bob/", "a\nb", "\x00", "é#"])
def test_a_principal_whose_name_could_be_part_of_a_neighbours_session_is_none(name: str) -> None:
    if name:
        with pytest.raises(ValueError, match="principal"):
            Who("x", name, frozenset())
    with pytest.raises(ValueError, match="token's"):
        ApiToken(BOB, name or " ")


async def test_a_session_of_a_child_run_is_nobodys_to_name() -> None:
    async def parent(run: Any) -> None:
        if "#" not in run.session:
            child = await run.child("a secret")
            await child.outcome()
        await run.emit("done")

    async with street(parent) as (local, bob, _):
        async with bob.events("s") as events:
            await bob.send("s", "go")
            await upto(events, "ended")
        for who in (local, bob):
            for name in ("bob%2Fs%231%2F1", "s%231%2F1", "bob/s%231/1", "s%231"):
                answer = await who.get(f"/v1/sessions/{name}/log")
                assert answer.status in {400, 404}, name
                assert b"secret" not in answer.body


async def test_who_may_not_read_is_told_nothing_that_others_have_said() -> None:
    engine = Doors()
    async with street(engine, on_message="queue") as (client, bob, _):
        sender, stopper = client.as_(SENDER), client.as_(STOPPER)
        for text in ("one", "a secret", "another secret"):
            await bob.send("s", text)
        await sender.send("s", "mine", id="mine")
        told = await sender.ask("PATCH", "/v1/sessions/s/queue/mine", b'{"to": 0}')
        assert [one["text"] for one in told.json["messages"]] == ["mine"]
        resumed = await sender.post("/v1/sessions/s/queue/resume")
        receipt = await stopper.post("/v1/sessions/s/stop")

        assert len(receipt.json["receipt"]["messages"]) == 3
        assert b"secret" not in told.body + resumed.body + receipt.body
