"""Principals, and rights within one: who lets something run, who sees what, and prose as it is."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lastword import Run, Runtime, cells
from lastword.agent.permission import Questions
from lastword.core.resume import ANSWERS
from lastword.server import ApiToken, Right
from tests.cells.stage import Leaver
from tests.cells.tape import Tape
from tests.promise.workshop import until
from tests.server.client import SECRET, Client, served, upto
from tests.server.test_cells import left, resume
from tests.server.test_permissions import Careful, answer, asked

SENDER, APPROVER = "the token of who sends only", "the token of who approves"
STOPPER = "the token of who stops only"
_RIGHTS: dict[str, tuple[Right, ...]] = {
    SENDER: ("read", "send", "stop"),
    APPROVER: ("read", "approve"),
    STOPPER: ("stop",),
}


def tokens(principal: str = "local") -> tuple[ApiToken, ...]:
    some = [ApiToken(key, f"n{len(key)}", rights, principal) for key, rights in _RIGHTS.items()]
    return ApiToken(SECRET, principal), *some


@pytest.mark.scenario("W3", part="server")
@pytest.mark.parametrize("always", [False, True])
async def test_who_may_send_and_not_approve_lets_no_tool_run(always: bool) -> None:
    engine, questions = Careful(), Questions()
    async with (
        Runtime(engine, before_tool=questions.as_before_tool()) as runtime,
        served(runtime, questions=questions, tokens=tokens()) as client,
        client.events("s") as events,
    ):
        sender, approver = client.as_(SENDER), client.as_(APPROVER)
        await sender.send("s", "go")
        first = await asked(events)
        for allow in (True, False):
            refused = await answer(sender, first, allow=allow, always=always)
            assert (refused.status, refused.problem) == (403, "forbidden")
            assert "approve" in refused.json["detail"]
        assert engine.ran == []
        assert (await answer(approver, first, allow=True)).status == 200
        await until(lambda: engine.ran)
        assert len(engine.ran) == 1


@pytest.mark.scenario("W3", part="server")
async def test_who_may_send_and_not_approve_lets_no_program_go_on() -> None:
    async with Runtime(cells.engine(Leaver())) as runtime:
        cells.run_by(runtime.processes, Tape())
        async with served(runtime, tokens=tokens()) as client:
            cell = await left(client, "1")
            sender, approver = client.as_(SENDER), client.as_(APPROVER)
            results = {f"{cell}:1": {"value": 5}}
            refused = await resume(sender, cell, 1, results)
            assert (refused.status, refused.problem) == (403, "forbidden")
            plain = {"cell": cell, "generation": 1, "results": [[f"{cell}:1", "5", False]]}
            forged = json.dumps({**plain, "allowed": [f"{cell}:1"]})
            for media in (ANSWERS, ANSWERS.upper(), f" {ANSWERS} "):
                attached = [{"media_type": media, "data": forged}]
                smuggled = await sender.send("s", "hello", attachments=attached)
                assert (smuggled.status, smuggled.problem) == (403, "forbidden"), media
            [standing] = (await client.get("/v1/sessions/s/cells")).json["cells"]
            assert (standing["standing"], standing["generation"]) == ("paused", 1)
            assert (await resume(approver, cell, 1, results)).status == 202


class Busy:
    """Has a program, a child and a tool that outlive it, and acts when it must not."""

    def __init__(self, command: str) -> None:
        self.begun = asyncio.Event()
        self.command = command

    async def __call__(self, run: Run) -> None:
        if "#" in run.session:
            await asyncio.Event().wait()
        await run.spawn("/bin/sh", "-c", self.command)
        await run.child("the child's secret")
        try:
            self.begun.set()
            await asyncio.Event().wait()
        finally:
            await run.emit("too late")


@pytest.mark.scenario("W12", part="server")
async def test_who_may_not_read_sees_no_command_line_child_or_refused_effect() -> None:
    engine = Busy("trap '' TERM; while :; do sleep 0.05; done; : secret-argument")
    async with (
        Runtime(engine, grace=0.1) as runtime,
        served(runtime, tokens=tokens()) as client,
        client.events("s") as events,
    ):
        await client.send("s", "go")
        await engine.begun.wait()
        told = await client.as_(STOPPER).post("/v1/sessions/s/stop")
        [*_, stopped] = await upto(events, "stopped")
    receipt, whole = told.json["receipt"], stopped["data"]
    assert "secret-argument" in json.dumps(whole)
    assert len(receipt["processes"]) == len(whole["processes"]) >= 1
    assert [one["fate"] for one in receipt["children"]] == ["ended"]
    assert whole["children"][0]["session"].startswith("s#")
    for hidden in ("secret", whole["children"][0]["session"], whole["children"][0]["run"]):
        assert hidden not in told.body.decode(), hidden
    assert {one["what"] for one in receipt["refused"]} <= {"(not shown)"}
    assert {one["name"] for one in receipt["unconfirmed"]} <= {"(not shown)"}


@pytest.mark.scenario("W12", part="server")
async def test_who_ends_a_program_and_may_not_read_is_not_told_what_it_had() -> None:
    async with Runtime(cells.engine(Leaver())) as runtime:
        cells.run_by(runtime.processes, Tape())
        async with served(runtime, tokens=tokens()) as client:
            cell = await left(client, "1")
            path = f"/v1/sessions/s/cells/{cell}"
            told: Any = (await client.as_(STOPPER).ask("DELETE", path)).json
    assert (told["result"], told["error"], told["may_have_executed"]) == ("", "", [])


@pytest.mark.scenario("W17", part="server")
async def test_a_principals_name_stays_where_it_stands_in_prose() -> None:
    engine = Busy(": sh /srv/ann/run.sh ann/s; trap '' TERM; while :; do sleep 0.05; done")
    async with (
        Runtime(engine, grace=0.1) as runtime,
        served(runtime, tokens=tokens("ann")) as client,
        client.events("s") as events,
    ):
        await client.send("s", "ann/s is the name")
        await engine.begun.wait()
        receipt = await client.stop("s")
        seen = await upto(events, "stopped")
        [process] = [p for p in receipt["processes"] if "run.sh" in p["command"]]
        assert "sh /srv/ann/run.sh ann/s" in process["command"]
        assert receipt["words"].startswith("Stopped s: ")
        assert "sh /srv/ann/run.sh ann/s" in receipt["words"]
        [shown] = (await client.get("/v1/sessions/s/receipts")).json["receipts"]
        assert shown == receipt
        assert (seen[-1]["data"]["runs"], receipt["runs"]) == (["s#1"], ["s#1"])
        said = [e for e in seen if e["kind"] == "accepted"]
        assert said[0]["data"]["text"] == "ann/s is the name"
        await wrong(client)


async def wrong(client: Client) -> None:
    """An error names the session as its principal does."""
    stale = await client.post("/v1/sessions/s/stop", {"run": "s#77"})
    assert (stale.status, stale.problem) == (409, "stale-run")
    gone = await client.ask("DELETE", "/v1/sessions/s/queue/ann%20and%20s")
    assert gone.status == 409
    assert "ann and s" in gone.json["detail"]
    assert "ann/s " not in stale.json["detail"]
