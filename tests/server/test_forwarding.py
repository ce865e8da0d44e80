"""N. Servers over one database answer as one: whatever is about a session is asked of its owner."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lastword import Run
from lastword.agent.permission import Questions
from lastword.server.vouching import HEADER, Vouching
from lastword.server.who import ApiToken, Who
from tests.promise.stories import OneAtATime, answer
from tests.promise.workshop import until
from tests.server.client import SECRET, Client, upto
from tests.server.nodes import nodes
from tests.server.test_permissions import Careful
from tests.server.test_permissions import answer as answered

STOPPER = "the token of who stops only"


async def waits(run: Run) -> None:
    await run.emit("working on it")
    await asyncio.Event().wait()


async def begun(client: Client, session: str = "s", text: str = "go") -> None:
    """A run goes on in a session that this server has."""
    async with client.events(session) as watching:
        await upto(watching, "snapshot")
        assert (await client.send(session, text)).status == 202
        await upto(watching, "text")


async def outcomes(client: Client, session: str) -> list[str]:
    """How its runs have ended."""
    log = (await client.get(f"/v1/sessions/{session}/log")).json["entries"]
    return [one["outcome"] for one in log if one["kind"] == "finished"]


@pytest.mark.scenario("N1", part="server")
async def test_a_stop_at_another_server_is_answered_by_the_one_that_has_the_run(
    postgres: str,
) -> None:
    async with nodes(postgres, waits, answer) as (one, other):
        await begun(one)
        receipt = await other.stop("s", reason="enough")

        assert receipt["quiet"]
        assert receipt["durable"]
        assert receipt["runs"] == ["s#1"]
        [there] = (await one.get("/v1/sessions/s/receipts")).json["receipts"]
        assert there["fenced_at"] == receipt["fenced_at"]
        assert (await other.get("/v1/sessions/s")).json["state"] == "idle"
        assert (await other.stop("s"))["idle"]


@pytest.mark.scenario("N1", part="server")
async def test_a_message_goes_to_the_server_that_has_the_session_whatever_it_does_there(
    postgres: str,
) -> None:
    async with nodes(postgres, waits, answer) as (one, other):
        await begun(one)
        ticket = await other.send("s", "after that", on_message="queue")
        assert (ticket.status, ticket.json["placed"]) == (202, "queued")
        waiting = (await other.get("/v1/sessions/s/queue")).json["messages"]
        assert [one["text"] for one in waiting] == ["after that"]
        path = f"/v1/sessions/s/queue/{ticket.json['message']}"
        changed = await other.ask("PATCH", path, json.dumps({"text": "or that"}).encode())
        assert [one["text"] for one in changed.json["messages"]] == ["or that"]
        assert (await other.send("s", "stop", heed_stop=True)).json["receipt"]["quiet"]
        assert (await other.ask("DELETE", "/v1/sessions/s")).status == 200
        assert (await one.get("/v1/sessions/s")).status == 404


async def test_a_message_that_is_asked_for_twice_is_one(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = 0

    async def loses(self: Any) -> None:
        nonlocal lost
        await head(self)
        if not lost:
            lost += 1
            raise Unanswered("its answer was lost")

    from lastword.server.calling import Response, Unanswered  # noqa: PLC0415 - for this alone

    head = Response.head
    async with nodes(postgres, waits, answer) as (one, other):
        await begun(one)
        monkeypatch.setattr(Response, "head", loses)
        assert (await other.send("s", "once", on_message="queue")).status == 202
        assert lost == 1
        assert len((await one.get("/v1/sessions/s/queue")).json["messages"]) == 1


@pytest.mark.scenario("N5", part="server")
async def test_of_two_who_send_at_once_at_two_servers_both_are_answered_one_after_the_other(
    postgres: str,
) -> None:
    work = OneAtATime(answer)
    async with nodes(postgres, work, work) as both:
        for turn in range(10):
            sending = [one.send(f"s{turn}", "go", on_message="queue") for one in both]
            told = await asyncio.gather(*sending)
            assert [one.status for one in told] == [202, 202]
            assert len({one.json["message"] for one in told}) == 2
        for turn in range(10):
            while len(ended := await outcomes(both[0], f"s{turn}")) < 2:
                pass
            assert ended == ["completed", "completed"]
    assert work.broken == []


@pytest.mark.scenario("N6")
async def test_who_watches_at_another_server_sees_what_happens_and_nothing_after_a_stop(
    postgres: str,
) -> None:
    async with nodes(postgres, waits, answer) as (one, other):
        await begun(one)
        async with other.events("s") as watching:
            seen = await upto(watching, "snapshot")
            assert seen[-1]["session"]["state"] == "running"
            receipt = await one.stop("s")
            assert receipt["quiet"]
            told = await upto(watching, "stopped")
            assert told[-1]["data"]["quiet"]
            assert (await one.send("s", "more")).status == 202
            await upto(watching, "text")


@pytest.mark.scenario("N6")
async def test_who_watched_a_session_that_nobody_had_is_told_by_the_server_that_took_it(
    postgres: str,
) -> None:
    async with nodes(postgres, waits, answer) as (one, other):
        async with other.events("s") as watching:
            await upto(watching, "snapshot")
            await begun(one)
            with pytest.raises(AssertionError, match="ended without"):
                await upto(watching, "never")
        async with other.events("s") as watching:
            [seen] = await upto(watching, "snapshot")
            assert seen["session"]["state"] == "running"


@pytest.mark.scenario("N6")
async def test_the_last_who_leaves_may_leave_at_any_server(postgres: str) -> None:
    async with nodes(postgres, waits, answer) as (one, other):
        await begun(one)
        async with one.events("s") as here:
            await upto(here, "snapshot")
            async with other.events("s", leaving="stop") as there:
                await upto(there, "snapshot")
            await upto(here, "stopped")


async def test_a_question_is_answered_at_any_server(postgres: str) -> None:
    engine, questions = Careful(), Questions()
    async with nodes(postgres, engine, engine, questions=questions) as (one, other):
        async with other.events("s") as watching:
            await upto(watching, "snapshot")
            await one.send("s", "go")
            with pytest.raises(AssertionError, match="ended without"):
                await upto(watching, "never")
        async with other.events("s") as watching:
            [seen] = await upto(watching, "snapshot")
            [question] = seen["questions"]
            assert (await answered(other, question, allow=True)).status == 200
            await until(lambda: engine.ran)


async def test_rights_and_names_are_those_of_who_asks(postgres: str) -> None:
    tokens = ApiToken(SECRET, "ann"), ApiToken(STOPPER, "bob", ("stop", "read"), "ann")
    async with nodes(postgres, waits, answer, tokens=tokens) as (one, other):
        await begun(one)
        bob = other.as_(STOPPER)
        assert (await bob.send("s", "more")).problem == "forbidden"
        receipt = await bob.stop("s")
        assert receipt["session"] == "s"
        assert receipt["runs"] == ["s#1"]


@pytest.mark.scenario("N7")
async def test_nobody_is_believed_to_be_another_server_who_does_not_know_their_secret(
    postgres: str,
) -> None:
    async with nodes(postgres, waits) as (one,):
        forged = Vouching(b"a guess", "http://127.0.0.1:1").sign(
            kind="forward",
            sender=1,
            receiver=1,
            method="POST",
            target="/v1/sessions/s/stop",
            body=b"",
            who=Who.named("ann"),
        )
        stranger = one.as_(None)
        for told in (forged, "", "a.b", forged.rpartition(".")[0]):
            said = {HEADER: told}
            assert (await stranger.ask("POST", "/v1/sessions/s/stop", headers=said)).status == 401
