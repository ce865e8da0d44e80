"""Event streams: all that there is to see, then all that happens, without a gap or a repeat."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from lastword import Run
from tests.promise.workshop import until
from tests.server.asking import entries
from tests.server.client import Client, serving_engine, upto
from tests.server.engines import Doors, Talker, echo


@dataclass
class Seen:
    """A session as far as a watcher, or its log, tells of it."""

    said: dict[str, str] = field(default_factory=dict[str, str])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    calls: dict[str, str] = field(default_factory=dict[str, str])
    ended: dict[str, str] = field(default_factory=dict[str, str])

    def note(self, event: Any) -> None:  # noqa: PLR0912 - one match
        """Something that was told."""
        data, run = event["data"], event["run"]
        match event["kind"]:
            case "snapshot":
                self.__init__()
                for one in data["told"]:
                    self.note(one)
            case "missed":
                for one in data["events"]:
                    self.note(one)
            case "accepted":
                self.said[data["id"]] = data["text"]
            case "text":
                self.texts[run] = self.texts.get(run, "") + event["text"]
            case "call":
                self.calls[data["call"]] = data["status"]
            case "ended":
                self.ended |= dict.fromkeys(data["messages"], data["outcome"])
            case _:
                pass

    def read(self, log: Iterable[Any]) -> Seen:
        """Something that is written."""
        for entry in log:
            match entry["kind"]:
                case "said":
                    self.said[entry["message"]["id"]] = entry["message"]["text"]
                case "text":
                    run = entry["run"]
                    self.texts[run] = self.texts.get(run, "") + entry["text"]
                case "called":
                    self.calls[entry["call"]] = "intended"
                case "result":
                    self.calls[entry["call"]] = entry["status"]
                case "finished":
                    self.ended |= dict.fromkeys(entry["messages"], entry["outcome"])
                case _:
                    pass
        return self


def seen_in(event: Any) -> Seen:
    """What one event tells."""
    seen = Seen()
    seen.note(event)
    return seen


async def look(where: str) -> str:
    await asyncio.sleep(0)
    return f"nothing {where}"


async def busy(run: Run) -> None:
    """Talks, looks something up, and talks on; some questions keep it for ever."""
    await run.emit("Let me see. ")
    await run.call(look, "here")
    for number in range(5):
        await run.emit(f"{number} ")
        await asyncio.sleep(0)
    if run.message.text == "for ever":
        await run.call(asyncio.Event().wait)


async def live(client: Client) -> None:
    """Three turns, of which the second is stopped."""
    async with client.events("s") as events:
        await client.send("s", "one")
        await upto(events, "ended")
        await client.send("s", "for ever")
        await upto(events, "call")
        await client.stop("s")
        await client.send("s", "last", id="last")
        await upto(events, "stopped")


def last_of(event: Any) -> bool:
    is_last = event["kind"] == "ended" and "last" in event["data"]["messages"]
    return is_last or (event["kind"], event["run"]) == ("ended", "s#3")


async def whole(client: Client, **headers: str) -> list[Any]:
    """The events of a session until its last message has ended."""
    seen: list[Any] = []
    async with client.events("s", **headers) as events:
        async for event in events:
            seen.append(event)
            told = event["data"]["told"] if event["kind"] == "snapshot" else [event]
            if any(map(last_of, told)):
                return seen
    raise AssertionError("the stream ended")


def flat(events: Iterable[Any]) -> list[tuple[str, str | None, str]]:
    """What was told, whether in time or as missed."""
    told: list[tuple[str, str | None, str]] = []
    for event in events:
        inner = event["data"]["events"] if event["kind"] == "missed" else [event]
        told += [(one["kind"], one["run"], one["text"]) for one in inner if one["kind"] != "typing"]
    return told


async def test_whoever_comes_at_any_moment_sees_what_the_log_says() -> None:
    async with serving_engine(busy) as client:

        async def come(late: int) -> list[Any]:
            for _ in range(late):
                await asyncio.sleep(0)
            return await whole(client)

        coming = asyncio.gather(*(come(late * 8) for late in range(24)))
        await live(client)
        watched = await coming
        log = Seen().read(await entries(client))

        moments = {told[0]["id"] for told in watched}
        assert len(moments) > 5, "they were to come at different moments"
        for told in watched:
            assert told[0]["kind"] == "snapshot"
            assert "snapshot" not in [event["kind"] for event in told[1:]]
            seen = Seen()
            for event in told:
                seen.note(event)
            assert seen == log


async def test_whoever_comes_between_two_words_sees_each_of_them_once() -> None:
    steps, done = asyncio.Queue[str](), list[str]()

    async def engine(run: Run) -> None:
        while (word := await steps.get()) != "end":
            await (run.call(look, word) if word == "call" else run.emit(word))
            done.append(word)

    async def come(here: asyncio.Event) -> Seen:
        seen = Seen()
        async with client.events("s") as events:
            async for event in events:
                seen.note(event)
                here.set()
                if last_of(event):
                    return seen
        raise AssertionError("the stream ended")

    async with serving_engine(engine) as client:
        await client.send("s", "go", id="last")
        coming = list[asyncio.Task[Seen]]()
        for number, word in enumerate(["a ", "b ", "call", "c ", "d "], 1):
            steps.put_nowait(word)
            await until(lambda number=number: len(done) == number)
            coming.append(asyncio.create_task(come(here := asyncio.Event())))
            await here.wait()
        steps.put_nowait("end")
        told = [await one for one in coming]

        log = Seen().read(await entries(client))
        assert log.texts == {"s#1": "a b c d "}
        assert told == [log] * 5


async def test_every_event_tells_its_generation_which_never_goes_back() -> None:
    async with serving_engine(busy) as client:
        told, _ = await asyncio.gather(whole(client), live(client))
        began = {e["run"]: e["generation"] for e in await entries(client) if e["kind"] == "began"}

        generations = [event["generation"] for event in told if event["kind"] != "missed"]
        assert generations == sorted(generations)
        for event in told:
            if event["kind"] == "text":
                assert event["generation"] == began[event["run"]]
            assert event["at"] > 0 or event["kind"] == "missed"


@pytest.mark.scenario("S20", part="server")
async def test_who_comes_back_with_an_id_gets_exactly_what_followed_it() -> None:
    async with serving_engine(busy) as client:
        told, _ = await asyncio.gather(whole(client), live(client))
        ids = [event["id"] for event in told]
        between = [at for at, id_ in enumerate(ids[:-1]) if id_ != ids[at + 1]]
        for at in between[::3]:
            again = await whole(client, last_event_id=ids[at])
            assert flat(again) == flat(told[at + 1 :])
            kinds = [(event["kind"], event["run"]) for event in again]
            for run in ("s#2", "s#3"):
                if ("ended", run) in kinds:
                    assert ("text", run) not in kinds[kinds.index(("ended", run)) :]
            # what a stop had fenced before it came back is a record, and not the run's own words
            assert "s#2" not in [event["run"] for event in again if event["kind"] == "text"]


async def test_who_is_cut_off_again_and_again_misses_and_repeats_nothing(seed: int) -> None:
    chance, engine = random.Random(seed), Talker()

    async def cut(client: Client, first: Any) -> list[Any]:
        seen = [first]
        while not [event for event in seen if event["kind"] == "stopped"]:
            async with client.events("s", last_event_id=seen[-1]["id"]) as events:
                left = chance.randrange(1, 40)
                while left > 0 or "last" not in seen[-1]:
                    seen.append(event := await anext(events))
                    left -= 1
                    if event["kind"] == "stopped":
                        break
        return seen

    async with serving_engine(engine, feed_limit=100_000) as client, client.events("s") as events:
        [first] = await upto(events, "snapshot")
        await client.send("s", "go")
        cutting = asyncio.gather(*(cut(client, first) for _ in range(3)))
        engine.go.set()
        unbroken = await some(events, 300)
        await client.stop("s")
        unbroken += await upto(events, "stopped")
        for broken in await cutting:
            assert flat(broken[1:]) == flat(unbroken), f"--seed {seed}"


async def some(events: AsyncIterator[Any], count: int) -> list[Any]:
    return [await anext(events) for _ in range(count)]


async def test_an_id_that_the_server_does_not_know_is_answered_with_a_snapshot() -> None:
    async with serving_engine(echo, feed_limit=10) as client:
        async with client.events("s") as events:
            [first] = await upto(events, "snapshot")
            last = first
            for text in "abcd":
                await client.send("s", text)
                [*_, last] = await upto(events, "ended")
        epoch, _, number = last["id"].rpartition("-")
        ahead, nonsense = f"{epoch}-{int(number) + 1}", f"{epoch}-{'9' * 5000}"
        for id_ in (
            first["id"],
            f"cafe-{number}",
            "x",
            f"{epoch}-x",
            f"{epoch}-²",
            ahead,
            nonsense,
        ):
            async with client.events("s", last_event_id=id_) as events:
                event = await anext(events)
                assert event["kind"] == "snapshot", id_
                assert seen_in(event).texts["s#4"] == "re: d"
        async with client.events("s", f"?after={last['id']}") as events:
            await client.send("s", "e")
            assert (await anext(events))["kind"] == "accepted"


async def test_a_snapshot_is_bounded_and_the_rest_is_in_the_log() -> None:
    async def engine(run: Run) -> None:
        for number in range(160):
            await run.think(f"{number}")
            await run.emit(f"{number} ")

    async with serving_engine(engine, feed_limit=10_000) as client:
        async with client.events("s") as events:
            await client.send("s", "go")
            await upto(events, "ended")
        async with client.events("s") as events:
            snapshot = (await anext(events))["data"]
        [turn] = snapshot["items"]
        assert snapshot["more"]
        assert 290 < len(turn["parts"]) <= 300
        before = await client.get(f"/v1/sessions/s/past?before={snapshot['before']}&limit=1000")
        [message, begun] = before.json["items"]
        assert message["id"] == before.json["messages"][0]["id"]
        assert not before.json["more"]
        words = [part["text"] for part in (*begun["parts"], *turn["parts"])]
        assert words == [word for n in range(160) for word in (f"{n}", f"{n} ")]


async def test_the_ids_of_a_deleted_session_are_not_taken_for_those_of_its_successor() -> None:
    engine = Doors()
    async with serving_engine(engine) as client, client.events("s") as events:
        await client.send("s", "old")
        [*_, last] = await upto(events, "text")
        answer = await client.ask("DELETE", "/v1/sessions/s")
        assert answer.status == 200
        assert answer.json["receipt"]["runs"] == ["s#1"]
        seen = [event async for event in events]
        assert [event["kind"] for event in seen][-1] == "closed"
        assert seen[-1]["data"] == {"why": "deleted"}
        assert "text" not in [event["kind"] for event in seen]
        assert [event["text"] for event in seen if event["kind"] == "ended"] == ["shutdown"]

        await client.send("s", "new")
        async with client.events("s", last_event_id=last["id"]) as again:
            snapshot = await anext(again)
        assert snapshot["kind"] == "snapshot"
        assert snapshot["generation"] > last["generation"]
        assert list(seen_in(snapshot).said.values()) == ["new"]


async def test_a_stream_on_which_nothing_happens_shows_that_it_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lastword.server.streams._BEAT", 0.01)
    async with serving_engine(echo) as client:
        reader, writer = await client.open()
        writer.write(client.request("GET", "/v1/sessions/s/events"))
        told = await reader.readuntil(b"\n\n\r\n3\r\n:\n\n\r\n3\r\n:\n\n\r\n")
        writer.close()

        assert b"retry: 1000" in told
        assert told.count(b"\ndata:") == 1


async def test_a_snapshot_tells_how_a_session_stands() -> None:
    engine = Doors()
    async with serving_engine(engine) as client:
        await client.send("s", "go", id="go")
        await client.send("s", "then", id="then", on_message="queue")
        await until(lambda: engine.runs)
        async with client.events("s") as events:
            [event] = await upto(events, "snapshot")
        told = event["data"]

        assert (told["phase"]["active"], told["session"]["active"]) == ("s#1", "s#1")
        assert (told["session"]["state"], told["session"]["title"]) == ("running", "go")
        assert [one["text"] for one in told["queue"]["messages"]] == ["then"]
        assert told["questions"] == told["processes"] == told["phase"]["ending"] == []
        assert not told["queue"]["hushed"]
