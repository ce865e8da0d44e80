"""Cells over HTTP: seen, resumed once by the frontier that was seen, frozen by a stop."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from lastword import Runtime, cells
from lastword.cells import Step
from lastword.server.who import ApiToken
from tests.cells.stage import TWO, Leaver
from tests.cells.tape import Tape
from tests.server.client import SECRET, Client, served, upto

BOBS = "another token that is long enough"


class Loud(Tape):
    """It prints more than a connection holds."""

    SIZE = 20_000_000

    async def start(self, source: str, **how: object) -> Step:
        step = await super().start(source, **how)
        return replace(step, output="x" * self.SIZE)


@asynccontextmanager
async def standing(source: str = "2") -> AsyncGenerator[tuple[Client, str]]:
    """A server with a cell that stands at its first frontier, and its id."""
    async with Runtime(cells.engine(Leaver())) as runtime:
        cells.run_by(runtime.processes, Tape())
        tokens = (ApiToken(SECRET), ApiToken(BOBS, "bob", ["read", "send", "approve", "stop"]))
        async with served(runtime, tokens=tokens) as client:
            yield client, await left(client, source)


async def left(client: Client, source: str) -> str:
    """Send a program; the cell, once it stands."""
    async with client.events("s") as events:
        await upto(events, "snapshot")
        await client.send("s", source)
        async for event in events:
            if event["kind"] == "cell" and event["data"]["standing"] == "paused":
                return str(event["data"]["id"])
    raise AssertionError("it never stood still")


async def resume(client: Client, cell: str, generation: int, results: dict[str, Any]) -> Any:
    told = {"generation": generation, "results": results}
    return await client.post(f"/v1/sessions/s/cells/{cell}/resume", told)


async def frontier(client: Client, cell: str) -> Any:
    answer = await client.get(f"/v1/sessions/s/cells/{cell}/frontier")
    assert answer.status == 200, answer
    return answer.json


async def test_a_frontier_is_seen_as_often_as_one_likes_and_its_output_is_new_once() -> None:
    async with standing() as (client, cell):
        first, again = await frontier(client, cell), await frontier(client, cell)
        assert first["pending"] == again["pending"]
        [waits] = first["pending"]
        assert (waits["call"], waits["name"], waits["tool"]) == (f"{cell}:1", "ask", "ask")
        assert [line["text"] for line in waits["lines"]]
        assert [choice["label"] for choice in waits["choices"]] == ["Allow", "Deny"]
        assert (first["generation"], first["standing"]) == (1, "paused")
        assert (first["fresh"], again["fresh"]) == ("out 1\n", "")
        assert first["output"] == again["output"] == "out 1\n"


async def test_who_leaves_before_the_output_has_leaves_it_to_the_next() -> None:
    async with Runtime(cells.engine(Leaver())) as runtime:
        cells.run_by(runtime.processes, Loud())
        async with served(runtime) as client:
            cell = await left(client, "1")
            reader, writer = await client.open()
            writer.write(client.request("GET", f"/v1/sessions/s/cells/{cell}/frontier"))
            await reader.readexactly(100)
            writer.transport.abort()
            async with asyncio.timeout(20):
                while (
                    answer := await client.get(f"/v1/sessions/s/cells/{cell}/frontier")
                ).status == 409:
                    assert answer.problem == "observer-busy"
            assert len(answer.json["fresh"]) == Loud.SIZE


async def test_a_resume_goes_on_from_the_frontier_that_was_seen_or_is_refused() -> None:
    async with standing() as (client, cell):
        wrong = await resume(client, cell, 1, {"nobody:9": {"value": 1}})
        assert (wrong.status, wrong.problem) == (409, "wrong-calls")
        early = await resume(client, cell, 7, {f"{cell}:1": {"value": 1}})
        assert (early.problem, early.json["current"]) == ("future-generation", 1)
        neither = await resume(client, cell, 1, {f"{cell}:1": {}})
        assert (neither.status, neither.problem) == (400, "bad-request")

        async with client.events("s") as events:
            await upto(events, "snapshot")
            answer = await resume(client, cell, 1, {f"{cell}:1": {"value": "yes"}})
            assert answer.status == 202
            await upto(events, "ended")
        assert (await frontier(client, cell))["generation"] == 2
        stale = await resume(client, cell, 1, {f"{cell}:1": {"value": "again"}})
        assert (stale.problem, stale.json["current"]) == ("stale-generation", 2)
        [listed] = (await client.get("/v1/sessions/s/cells")).json["cells"]
        assert (listed["standing"], listed["generation"]) == ("paused", 2)


async def test_of_two_resumes_at_once_one_is_taken() -> None:
    async with standing() as (client, cell):
        both = await asyncio.gather(
            *(resume(client, cell, 1, {f"{cell}:1": {"value": n}}) for n in range(2))
        )
        assert sorted(answer.status for answer in both) == [202, 409]
        [late] = [answer.problem for answer in both if answer.status == 409]
        assert late in {"already-running", "stale-generation"}


async def test_a_stop_freezes_it_and_says_so_and_nobody_resumes_it() -> None:
    async with standing() as (client, cell):
        receipt = await client.stop("s")
        assert receipt["cells"] == [{"cell": cell, "frontier": 1, "waits": ["ask"]}]
        assert f"programs frozen: {cell} (waited on ask)" in receipt["words"]
        late = await resume(client, cell, 1, {f"{cell}:1": {"value": 1}})
        assert (late.status, late.problem) == (409, "cell-gone")
        [listed] = (await client.get("/v1/sessions/s/cells")).json["cells"]
        assert listed["ending"]["outcome"] == "frozen"
        assert (await client.get("/v1/cells")).json == {"cells": []}


async def test_a_cell_can_be_ended_once() -> None:
    async with standing() as (client, cell):
        ended = await client.ask("DELETE", f"/v1/sessions/s/cells/{cell}")
        assert (ended.status, ended.json["outcome"]) == (200, "terminated")
        again = await client.ask("DELETE", f"/v1/sessions/s/cells/{cell}")
        assert again.problem == "cell-gone"


async def test_what_is_another_principals_is_not_there() -> None:
    async with standing() as (client, cell):
        bob = client.as_(BOBS)
        assert (await bob.get("/v1/cells")).json == {"cells": []}
        for answer in (
            await bob.get(f"/v1/sessions/s/cells/{cell}/frontier"),
            await resume(bob, cell, 1, {f"{cell}:1": {"value": 1}}),
            await bob.ask("DELETE", f"/v1/sessions/s/cells/{cell}"),
        ):
            assert answer.status == 404
        nothing = await client.get("/v1/sessions/s/cells/nobody/frontier")
        assert nothing.problem == "unknown-cell"


async def test_a_shell_lists_shows_and_resumes() -> None:
    async with standing() as (client, cell):
        where = ("--url", f"http://127.0.0.1:{client.port}", "--token", SECRET)

        async def typed(*words: str) -> str:
            pipe = asyncio.subprocess.PIPE
            command = (sys.executable, "-m", "lastword", *words, *where)
            process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
            return "".join(part.decode() for part in await process.communicate())

        assert f"{cell}  s  frontier 1: ask" in await typed("cells")
        shown = await typed("cell", cell)
        assert f"{cell}:1  ask" in shown
        assert "out 1" in shown
        first = ("resume", cell, "--generation", "1", "--result")
        assert "is JSON" in await typed(*first, f"{cell}:1=A")
        done = await typed(*first, f'{cell}:1="A"')
        assert f"Accepted: run s#2 brings the answers to frontier 1 of {cell}" in done
        assert "lastword resume: " in await typed(*first, f'{cell}:1="B"')


async def test_a_real_program_goes_on_with_what_was_brought() -> None:
    async with Runtime(cells.engine(Leaver())) as runtime, served(runtime) as client:
        cell = await left(client, TWO)
        pending = (await frontier(client, cell))["pending"]
        assert [call["name"] for call in pending] == ["read", "read"]
        async with client.events("s") as events:
            await upto(events, "snapshot")
            results = {call["call"]: {"value": call["call"]} for call in pending}
            await resume(client, cell, 1, results)
            await upto(events, "ended")
        [listed] = (await client.get("/v1/sessions/s/cells")).json["cells"]
        assert listed["ending"]["outcome"] == "completed"


async def test_a_program_is_listed_by_whose_session_it_is_in_whatever_that_is_named() -> None:
    async with Runtime(cells.engine(Leaver())) as runtime:
        cells.run_by(runtime.processes, Tape())
        tokens = (ApiToken(SECRET), ApiToken(BOBS, "bob"))
        async with served(runtime, tokens=tokens) as client:
            for name in ("s", "org/repo", "bob/s", "bob/org/repo"):
                assert await (await runtime.session(name).send("2")).outcome() == "completed"
            here = (await client.get("/v1/cells")).json["cells"]
            bobs = (await client.as_(BOBS).get("/v1/cells")).json["cells"]

    assert [cell["session"] for cell in here] == ["s", "org/repo"]
    assert [cell["session"] for cell in bobs] == ["s", "org/repo"]
