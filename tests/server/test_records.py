"""What happened, asked for over HTTP, page by page."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lastword import Run, Runtime
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from tests.promise.workshop import POLITE, gone, is_up, until
from tests.server.asking import ends
from tests.server.client import Client, served, serving_engine, upto
from tests.server.engines import Doors, echo


async def look(where: str) -> str:
    return f"nothing {where}"


async def pages(client: Client, path: str, name: str, cursor: str = "after") -> list[list[Any]]:
    """All pages of something, one after another."""
    found: list[list[Any]] = []
    more: object = None
    while not found or more is not None:
        query = "" if more is None else f"&{cursor}={more}"
        answer = await client.get(f"{path}?limit=3{query}")
        assert answer.status == 200, answer
        found.append(answer.json[name])
        more = answer.json["next"]
    return found


async def test_sessions_are_listed_newest_first_and_page_by_page() -> None:
    async with serving_engine(echo) as client:
        for number in range(7):
            async with client.events(f"s{number}") as events:
                await client.send(f"s{number}", f"first words of {number}")
                await upto(events, "ended")
        async with client.events("s2") as events:
            await client.send("s2", "again")
            await upto(events, "ended")
        found = await pages(client, "/v1/sessions", "sessions", "before")

        assert [len(page) for page in found] == [3, 3, 1]
        names = [one["id"] for page in found for one in page]
        assert names == ["s2", "s6", "s5", "s4", "s3", "s1", "s0"]
        assert found[0][0]["title"] == "first words of 2"
        times = [one["at"] for page in found for one in page]
        assert times == sorted(times, reverse=True)
        wrong = await client.get("/v1/sessions?before=nonsense")
        assert (wrong.status, wrong.problem) == (400, "bad-request")


async def test_a_session_says_how_it_stands_and_one_that_never_was_is_unknown() -> None:
    engine = Doors()
    async with serving_engine(engine) as client:
        await client.send("s", "go")
        await until(lambda: engine.runs)
        one = (await client.get("/v1/sessions/s")).json
        assert (one["id"], one["title"], one["active"]) == ("s", "go", "s#1")
        assert (one["state"], one["busy"]) == ("running", True)
        await client.stop("s")
        after = (await client.get("/v1/sessions/s")).json
        assert (after["state"], after["busy"], after["active"]) == ("idle", False, None)
        assert after["generation"] > one["generation"]
        for path in ("", "/log", "/transcript", "/receipts", "/export", "/processes"):
            answer = await client.get(f"/v1/sessions/never{path}")
            assert (answer.status, answer.problem) == (404, "unknown-session"), path
        [listed] = (await client.get("/v1/sessions")).json["sessions"]
        assert listed["id"] == "s"


async def test_a_session_whose_first_message_is_not_stored_yet_is_there() -> None:
    class Slow(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.writing, self.may = asyncio.Event(), asyncio.Event()

        async def commit(self, write: Write) -> None:
            self.writing.set()
            await self.may.wait()
            await super().commit(write)

    store = Slow()
    async with serving_engine(echo, store=store) as client:
        sending = asyncio.create_task(client.send("s", "go"))
        await store.writing.wait()
        answer = await client.get("/v1/sessions/s")
        store.may.set()

        assert (answer.status, answer.json["busy"]) == (200, True)
        assert (await sending).status == 202


async def test_a_deleted_session_is_gone_with_all_that_was_said() -> None:
    engine = Doors()
    async with serving_engine(engine) as client:
        await client.send("s", "go")
        await until(lambda: engine.runs)
        answer = await client.ask("DELETE", "/v1/sessions/s")
        assert answer.json["receipt"]["runs"] == ["s#1"]
        assert answer.json["receipt"]["quiet"]
        assert not engine.runs["go"].current
        assert (await client.get("/v1/sessions/s")).status == 404
        assert (await client.ask("DELETE", "/v1/sessions/s")).status == 404
        assert (await client.get("/v1/sessions")).json["sessions"] == []
        before = answer.json["receipt"]["generation"]
        again = (await client.send("s", "anew")).json
        assert again["generation"] > before, "generations never start over"


async def test_the_log_the_transcript_and_the_export_tell_one_story_page_by_page() -> None:
    async def engine(run: Run) -> None:
        await run.emit("Let me see. ")
        await run.emit(await run.call(look, f"about {run.message.text}"))

    async with serving_engine(engine, on_message="queue") as client:
        async with client.events("s") as events:
            for text in "abc":
                await client.send("s", text, id=text)
            await ends(events, 3)
        log = (await client.get("/v1/sessions/s/log?limit=1000")).json
        numbers = [entry["number"] for entry in log["entries"]]
        assert numbers == list(range(1, len(numbers) + 1))
        assert not log["more"]

        backwards: list[Any] = []
        before, more = len(numbers) + 1, True
        while more:
            page = (await client.get(f"/v1/sessions/s/log?before={before}&limit=4")).json
            backwards = page["entries"] + backwards
            before, more = page["entries"][0]["number"], page["more"]
        assert backwards == log["entries"]

        found = await pages(client, "/v1/sessions/s/transcript", "items")
        shown = [item for page in found for item in page]
        assert [item["text"] for item in shown if item["role"] == "user"] == ["a", "b", "c"]
        results = [item for item in shown if item["role"] == "result"]
        assert [item["status"] for item in results] == ["completed"] * 3

        export = await client.get("/v1/sessions/s/export")
        assert export.headers["content-type"] == "application/jsonl"
        lines = [json.loads(line) for line in export.body.decode().splitlines()]
        assert [line["kind"] for line in lines] == [entry["kind"] for entry in log["entries"]]


async def test_receipts_are_kept_newest_first() -> None:
    engine = Doors()
    async with serving_engine(engine) as client:
        given: list[Any] = []
        for number in range(4):
            await client.send("s", f"{number}")
            await until(lambda number=number: f"{number}" in engine.runs)
            given.append(await client.stop("s"))
        found = await pages(client, "/v1/sessions/s/receipts", "receipts")

        kept = [one for page in found for one in page]
        assert [len(page) for page in found] == [3, 1]
        assert [one["generation"] for one in kept] == [one["generation"] for one in given[::-1]]
        assert [one["runs"] for one in kept] == [["s#4"], ["s#3"], ["s#2"], ["s#1"]]
        assert [one["words"] for one in kept] == [one["words"] for one in given[::-1]]


async def test_a_number_that_is_none_or_beyond_its_limits_is_refused() -> None:
    async with serving_engine(echo) as client:
        await client.send("s", "go")
        for query in (
            *("limit=0", "limit=1001", "limit=-1", "limit=x", "limit=1.5", "limit="),
            *("limit=0000000000019999", "limit=%C2%B2", "after=1000000001", f"after={'9' * 5000}"),
        ):
            answer = await client.get(f"/v1/sessions/s/transcript?{query}")
            assert (answer.status, answer.problem) == (400, "bad-request"), query
            assert "must be a number from" in answer.json["detail"]
        assert (await client.get("/v1/sessions/s/transcript?limit=1000&after=99")).json == {
            "items": [],
            "next": None,
        }


async def test_processes_are_listed_and_a_kept_one_is_ended_by_its_number() -> None:
    up = asyncio.Event()

    async def engine(run: Run) -> None:
        await is_up(await run.spawn(shell=POLITE, on_stop="keep"))
        await is_up(await run.spawn(shell="echo up; exec sleep 301"))
        up.set()
        await asyncio.Event().wait()

    async with serving_engine(engine, grace=0.2) as client:
        await client.send("s", "go")
        await up.wait()
        path = "/v1/sessions/s/processes"
        kept, other = (await client.get(path)).json["processes"]
        assert (kept["kept"], other["kept"]) == (True, False)
        assert (kept["run"], kept["ended_at"]) == ("s#1", None)
        refused = await client.ask("DELETE", f"{path}/{other['pid']}")
        assert (refused.status, refused.problem) == (404, "not-found"), "it ends with its run"
        receipt = await client.stop("s")
        fates = {one["pid"]: one["fate"] for one in receipt["processes"]}
        assert fates[kept["pid"]] == "kept"
        assert fates[other["pid"]] == "ended"
        assert not gone(kept["pid"])
        told = (await client.ask("DELETE", f"{path}/{kept['pid']}")).json["processes"]
        assert gone(kept["pid"])
        assert all(one["ended_at"] for one in told)
        for pid in (kept["pid"], 1, "x"):
            answer = await client.ask("DELETE", f"{path}/{pid}")
            assert (answer.status, answer.problem) == (404, "not-found")


async def test_what_was_done_is_counted_for_prometheus() -> None:
    engine = Doors("one")
    async with serving_engine(engine) as client:
        async with client.events("s") as events:
            await client.send("s", "one")
            await upto(events, "ended")
            await client.send("s", "two")
            await until(lambda: "two" in engine.runs)
            told = (await client.get("/metrics")).body.decode()
            assert "lastword_runs_active 1" in told
            assert "lastword_watchers 1" in told
            await client.stop("s")
        answer = await client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain")
        lines = answer.body.decode().splitlines()
        for line in (
            "lastword_messages_accepted_total 2",
            'lastword_runs_total{outcome="completed"} 1',
            'lastword_runs_total{outcome="stopped"} 1',
            "lastword_runs_active 0",
            "lastword_stop_seconds_count 1",
        ):
            assert line in lines
        buckets = [int(line.split()[-1]) for line in lines if "_bucket" in line]
        assert buckets == sorted(buckets)
        assert buckets[-1] == 1


async def test_a_server_is_ready_while_it_takes_messages() -> None:
    async with Runtime(echo) as runtime, served(runtime) as client:
        nobody = client.as_(None)
        assert (await nobody.get("/healthz")).json == {"status": "ok"}
        assert (await nobody.get("/readyz")).json == {"status": "ok"}
        await runtime.close()
        assert (await nobody.get("/healthz")).json == {"status": "ok"}
        for answer in (await nobody.get("/readyz"), await client.send("s", "hello")):
            assert (answer.status, answer.problem) == (503, "closing")
            assert answer.headers["retry-after"] == "1"


class Long:
    """Is busy for more entries than a snapshot has, once it is let in; then answers what waits."""

    def __init__(self) -> None:
        self.door = asyncio.Event()

    async def __call__(self, run: Run) -> None:
        await run.emit("re: " + run.message.text)
        if run.message.text == "first":
            await self.door.wait()
            for number in range(160):
                await run.call(look, str(number))


@pytest.mark.scenario("W18", part="server")
async def test_what_waited_for_long_is_told_with_the_turn_that_answers_it() -> None:
    engine = Long()
    async with serving_engine(engine) as client:
        async with client.events("s") as events:
            await client.send("s", "first")
            await client.send("s", "second", on_message="queue")
            engine.door.set()
            await upto(events, "ended")
            await upto(events, "ended")
        async with client.events("s") as events:
            [snapshot, *_] = await upto(events, "snapshot")
        told = snapshot["data"]
        assert told["more"]
        assert [one["text"] for one in told["messages"]] == ["second"]
        placed = [one["id"] for one in told["items"] if one["kind"] == "message"]
        assert placed == [one["id"] for one in told["messages"]]
        whole = (await client.get(f"/v1/sessions/s/past?before={told['before']}&limit=1000")).json
        assert [one["text"] for one in whole["messages"]] == ["first", "second"]

        shown, before = list[str](), 1_000_000
        while before > 1:
            path = f"/v1/sessions/s/log?limit=7&before={before}"
            page = (await client.get(path)).json
            words = {one["id"]: one["text"] for one in page["messages"]}
            said = [one["message"] for one in page["entries"] if one["kind"] == "said"]
            words |= {one["id"]: one["text"] for one in said}
            began = [one for one in page["entries"] if one["kind"] == "began"]
            shown += [words[id_] for one in began for id_ in one["messages"]]
            before = page["entries"][0]["number"]
        assert shown == ["second", "first"]
