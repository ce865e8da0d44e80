"""What goes on under an id, over HTTP: read, written to, signalled and ended by who may."""

from __future__ import annotations

import asyncio

import pytest

from lastword import NotAllowed, Run, Runtime
from lastword.runtime.jobs import Job
from lastword.server import ApiToken
from lastword.server.who import Right
from tests.promise.workshop import gone, until
from tests.server.client import served, serving_engine, upto

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


def token(name: str, *rights: Right) -> ApiToken:
    return ApiToken(f"the token of {name}, long enough", name, rights, "home")


#: what can be done to one, and the bodies
ACTS = (("POST", "/input", b'{"text": "x"}'), ("POST", "/signal", b'{"signal": "KILL"}'),
        ("DELETE", "", b""))  # fmt: skip


@pytest.mark.scenario("P35", part="server")
@pytest.mark.parametrize("kept", [False, True])
async def test_who_may_not_stop_a_run_does_nothing_to_its_processes(kept: bool) -> None:
    runs = list[Run]()

    async def engine(run: Run) -> None:
        if run.message.text == "go":
            process = await run.spawn(
                shell=LINE, stdin="pipe", on_stop="keep" if kept else "end", grace=0
            )
            run.job(process)
        runs.append(run)
        if not kept:
            await asyncio.Event().wait()

    full: tuple[Right, ...] = ("read", "send", "approve", "stop")
    people = (token("ann", *full), token("bob", *full), token("cyd", *full),
              token("dan", "read", "approve"))  # fmt: skip
    async with (
        Runtime(engine, level="tree", grace=0.2, stoppers=["ann"]) as runtime,
        served(runtime, tokens=people) as client,
    ):
        ann, bob, cyd, dan = (client.as_(one.secret) for one in people)
        await bob.send("s", "go")
        await until(lambda: runs)
        if kept:  # the run has ended, and is another's now
            await cyd.send("s", "more")
            await until(lambda: len(runs) > 1)
        [job] = runs[0].jobs
        path = f"/v1/sessions/s/processes/{job.id}"
        for method, end, body in ACTS:
            refused = await cyd.ask(method, path + end, body)
            assert (refused.status, refused.problem) == (403, "not-allowed")
            refused = await dan.ask(method, path + end, body)
            assert (refused.status, refused.problem) == (403, "forbidden")
            refused = await cyd.ask(method, f"/v1/sessions/s/processes/{job.pid}{end}", body)
            assert (refused.status, refused.problem) == (403, "not-allowed")
        assert not gone(job.pid)
        assert job.output in ("", "up\n")
        assert (await cyd.get(f"{path}/output")).status == 200  # to read is no act
        given = await bob.ask("POST", f"{path}/input", b'{"text": "one\\n"}')  # it is his
        assert given.status == 200
        await until(lambda: job.output == "up\ngot one\n")
        assert (await ann.ask("DELETE", path)).status == 200  # she may stop what others asked for
        assert gone(job.pid)


@pytest.mark.scenario("P35", part="processes")
async def test_a_child_s_process_is_theirs_who_asked_for_the_run_above() -> None:
    going = asyncio.Event()

    async def child(run: Run) -> None:
        run.job(await run.spawn(shell=LINE, stdin="pipe", grace=0))
        going.set()
        await asyncio.Event().wait()

    async def engine(run: Run) -> None:
        await (await run.child("work", engine=child)).outcome()

    async with Runtime(engine, level="tree", grace=0.2, stoppers=["ann"]) as runtime:
        session = runtime.session("s")
        await session.send("go", by="bob")
        await going.wait()
        [job] = session.processes
        with pytest.raises(NotAllowed, match="'cyd' has no right to stop "):
            session.process(job.id, by="cyd")
        assert session.process(job.id, by="bob") is job
        assert session.process(job.id) is job
        await session.process(job.id, by="ann").end()
        assert gone(job.pid)
