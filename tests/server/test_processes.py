"""What goes on under an id, over HTTP: read, written to, signalled and ended by who may."""

from __future__ import annotations

import asyncio

import pytest

from lastword import Run
from lastword.runtime.jobs import Job
from tests.promise.workshop import gone, until
from tests.server.client import serving_engine, upto

LINE = "echo up; while read -r line; do echo got $line; done"


@pytest.mark.scenario("P18", part="processes")
async def test_a_person_reads_writes_to_signals_and_ends_what_goes_on() -> None:
    runs = list[Run]()

    async def engine(run: Run) -> None:
        process = await run.spawn(shell=LINE, stdin="pipe")
        run.job(process)
        runs.append(run)
        await asyncio.Event().wait()

    async with serving_engine(engine, grace=0.2) as client, client.events("s") as events:
        await client.send("s", "go")
        await until(lambda: runs)
        told = await upto(events, "process")
        while told[-1]["data"]["state"] != "named":
            told = await upto(events, "process")
        [job] = runs[0].jobs
        path = f"/v1/sessions/s/processes/{job.id}"
        assert told[-1]["data"]["id"] == job.id
        [listed] = (await client.get("/v1/sessions/s/processes")).json["processes"]
        assert (listed["id"], listed["kept"], listed["ended_at"]) == (job.id, False, None)
        assert told[-1]["data"]["takes_input"]
        assert listed["takes_input"]

        await until(lambda: job.output == "up\n")
        read = (await client.get(f"{path}/output")).json
        expected = {"text": "up\n", "begin": 0, "end": 3, "total": 3, "code": None, "ended": ""}
        assert read == {"id": job.id, **expected}
        given = await client.post(f"{path}/input", {"text": "one\n"})
        assert given.status == 200
        assert given.json == {"done": True, "told": f"{job.id} has been given it."}
        await until(lambda: job.output == "up\ngot one\n")
        assert (await client.get(f"{path}/output?offset=3&limit=4")).json["text"] == "got "
        sent = await client.post(f"{path}/signal", {"signal": "STOP"})
        assert sent.status == 200
        assert sent.json == {"done": True, "told": f"SIGSTOP was sent to {job.id}."}
        wrong = await client.post(f"{path}/signal", {"signal": "LOUD"})
        assert (wrong.status, wrong.problem) == (400, "bad-request")

        ended = await client.ask("DELETE", path)
        assert ended.status == 200
        assert gone(job.pid)
        read = (await client.get(f"{path}/output?offset=3")).json
        assert (read["text"], read["ended"]) == ("got one\n", f"{job.ending}")
        assert "as the person wanted" in read["ended"]
        for late in (
            await client.post(f"{path}/signal", {"signal": "TERM"}),
            await client.post(f"{path}/input", {"text": "x"}),
        ):
            assert (late.status, late.problem) == (409, "not-running")
        again = await client.ask("DELETE", path)
        assert (again.status, again.problem) == (404, "not-found")
        unknown = await client.get("/v1/sessions/s/processes/p99/output")
        assert (unknown.status, unknown.problem) == (404, "not-found")
        assert runs[0].current  # none of this stopped the run


@pytest.mark.scenario("P27", part="server")
async def test_what_is_kept_is_told_as_ended_when_all_that_it_started_has() -> None:
    jobs = list[Job]()

    async def engine(run: Run) -> None:
        process = await run.spawn(shell="sleep 300 & echo $!", on_stop="keep")
        jobs.append(run.job(process))

    async with serving_engine(engine, grace=0.2) as client, client.events("s") as events:
        await client.send("s", "go")
        await until(lambda: jobs and jobs[0].code is not None)
        [job] = jobs
        [listed] = (await client.get("/v1/sessions/s/processes")).json["processes"]
        assert listed["ended_at"] is None
        assert (await client.ask("DELETE", f"/v1/sessions/s/processes/{job.id}")).status == 200
        told = await upto(events, "process")
        while told[-1]["data"]["state"] != "ended":
            told = await upto(events, "process")
        assert (told[-1]["data"]["id"], told[-1]["data"]["code"]) == (job.id, 0)
        [listed] = (await client.get("/v1/sessions/s/processes")).json["processes"]
        assert listed["ended_at"] is not None
