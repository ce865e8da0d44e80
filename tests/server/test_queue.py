"""What waits, over HTTP: one turn each, in order; edited, moved, removed, resumed by its id."""

import asyncio
from typing import Any

import pytest

from lastword import Run
from tests.promise.workshop import until
from tests.server.asking import change, ends, entries, outcomes, remove, waiting
from tests.server.client import serving_engine, upto
from tests.server.engines import Doors

QUEUE = "/v1/sessions/s/queue"


@pytest.mark.scenario("T8")
async def test_what_is_queued_has_one_turn_and_one_outcome_each_in_strict_order() -> None:
    engine = Doors(*"bcde")
    async with serving_engine(engine, on_message="queue") as client, client.events("s") as events:
        told = [(await client.send("s", text, id=text)).json for text in "abcde"]
        assert [one["placed"] for one in told] == ["starting", *["queued"] * 4]
        assert [one["run"] for one in told] == [f"s#{number}" for number in range(1, 6)]
        assert await waiting(client) == ["b", "c", "d", "e"]
        engine.let("a")
        seen = await ends(events, 5)

        assert engine.order == list("abcde")
        ended = [e["data"]["messages"] for e in seen if e["kind"] == "ended"]
        assert ended == [[text] for text in "abcde"]
        assert await outcomes(client) == dict.fromkeys("abcde", "completed")
        lengths = [len(e["data"]["messages"]) for e in seen if e["kind"] == "queue"]
        assert lengths == [1, 2, 3, 4, 3, 2, 1, 0]


@pytest.mark.scenario("T4")
@pytest.mark.parametrize("queue_on_stop", ["drop", "keep"])
async def test_a_takeover_is_not_delayed_by_a_queue_and_accounts_for_it(queue_on_stop: str) -> None:
    engine = Doors("now", "b", "c")
    settings = {"queue_on_stop": queue_on_stop}
    async with serving_engine(engine, **settings) as client, client.events("s") as events:
        await client.send("s", "a", id="a")
        await until(lambda: engine.runs)
        for text in "bc":
            await client.send("s", text, id=text, on_message="queue")
        new = await client.send("s", "now", id="now")
        assert new.json["placed"] == "starting"
        seen = await upto(events, "stopped")
        fates = {one["message"]["text"]: one["fate"] for one in seen[-1]["data"]["messages"]}

        assert seen[-1]["data"]["reason"] == "superseded"
        if queue_on_stop == "drop":
            await until(lambda: engine.order == ["a", "now"])
            assert fates == {"b": "dropped", "c": "dropped"}
            ended = {"a": "superseded", "b": "superseded", "c": "superseded", "now": "completed"}
        else:
            await until(lambda: engine.order == ["a", "now", "b", "c"])
            assert "dropped" not in fates.values()
            ended = {"a": "superseded", "b": "completed", "c": "completed", "now": "completed"}
        async with client.events("s") as others:
            [snapshot] = await upto(others, "snapshot")
            if snapshot["data"]["session"]["busy"]:
                await upto(others, "ended")
        assert await outcomes(client) == ended


@pytest.mark.scenario("T10")
async def test_a_stop_with_five_queued_gives_all_of_their_words_back() -> None:
    engine = Doors()
    async with serving_engine(engine, on_message="queue") as client:
        await client.send("s", "go", id="go")
        await until(lambda: engine.runs)
        for number in range(5):
            await client.send("s", f"{number}", id=f"n{number}")
        receipt = await client.stop("s")

        fates = [(one["message"]["text"], one["fate"]) for one in receipt["messages"]]
        assert fates == [(f"{number}", "dropped") for number in range(5)]
        assert await waiting(client) == []
        assert set((await outcomes(client)).values()) == {"stopped"}
        assert len(await outcomes(client)) == 6
        assert engine.order == ["go"]


@pytest.mark.scenario("T10")
async def test_what_a_stop_has_paused_waits_until_it_is_resumed() -> None:
    engine = Doors("0", "1", "2")
    settings = {"on_message": "queue", "queue_on_stop": "keep"}
    async with serving_engine(engine, **settings) as client, client.events("s") as events:
        await client.send("s", "go", id="go")
        await until(lambda: engine.runs)
        for number in range(3):
            await client.send("s", f"{number}", id=f"n{number}")
        receipt = await client.stop("s")
        told = (await client.get(QUEUE)).json
        state = (await client.get("/v1/sessions/s")).json

        assert [one["fate"] for one in receipt["messages"]] == ["paused"] * 3
        assert [(one["text"], one["held"]) for one in told["messages"]] == [
            ("0", True),
            ("1", True),
            ("2", True),
        ]
        assert told["hushed"]
        assert (state["state"], state["busy"]) == ("waiting", False)
        assert engine.order == ["go"]
        resumed = await client.post(f"{QUEUE}/resume")
        assert resumed.status == 200
        await ends(events, 4)
        assert engine.order == ["go", "0", "1", "2"]


@pytest.mark.scenario("T12")
async def test_a_waiting_message_is_edited_moved_and_removed_by_its_id() -> None:
    engine = Doors("b", "c", "D", "e")
    async with serving_engine(engine, on_message="queue") as client, client.events("s") as events:
        for text in "abcde":
            await client.send("s", text, id=text)
        edited = await change(client, "d", text="D")
        assert [one["text"] for one in edited.json["messages"]] == ["b", "c", "D", "e"]
        moved = await change(client, "d", to=0)
        assert [one["text"] for one in moved.json["messages"]] == ["D", "b", "c", "e"]
        both = await change(client, "e", text="e", to=1)
        assert [one["text"] for one in both.json["messages"]] == ["D", "e", "b", "c"]
        removed = await remove(client, "b")
        assert [one["text"] for one in removed.json["messages"]] == ["D", "e", "c"]
        engine.let("a")
        await until(lambda: engine.order == ["a", "D", "e", "c"])
        await ends(events, 4)  # what was taken back has no end that is to be seen

        assert (await outcomes(client))["b"] == "withdrawn"
        for answer in (await change(client, "d", text="x"), await remove(client, "b")):
            assert (answer.status, answer.problem) == (409, "not-waiting")
        said = [e["message"]["text"] for e in await entries(client) if e["kind"] == "said"]
        assert said[:5] == list("abcde")
        assert said[5] == "D"


async def test_a_place_is_counted_as_the_queue_is_shown() -> None:
    engine = Doors()
    async with serving_engine(engine, on_message="queue") as client:
        for text in "abcd":
            await client.send("s", text, id=text)
        await until(lambda: engine.runs)
        await client.send("s", "gently", id="gently", on_message="steer")
        assert await waiting(client) == ["gently", "b", "c", "d"]
        moved = await change(client, "d", to=1)
        assert [one["text"] for one in moved.json["messages"]] == ["gently", "d", "b", "c"]
        moved = await change(client, "d", to=2)
        assert [one["text"] for one in moved.json["messages"]] == ["gently", "b", "d", "c"]


async def test_a_change_that_says_nothing_or_nonsense_changes_nothing() -> None:
    engine = Doors()
    async with serving_engine(engine, on_message="queue") as client:
        for text in "ab":
            await client.send("s", text, id=text)
        wrong: list[dict[str, Any]] = [
            {},
            {"to": -1},
            {"to": "a"},
            {"text": None},
            {"text": "x", "at": 1},
        ]
        for told in wrong:
            answer = await change(client, "b", **told)
            assert (answer.status, answer.problem) == (400, "bad-request"), told
        assert await waiting(client) == ["b"]


@pytest.mark.scenario("T12")
async def test_a_change_that_races_the_turn_of_its_message_has_one_winner() -> None:
    met, turns = set[bool](), list[list[str]]()
    go = asyncio.Event()

    async def engine(run: Run) -> None:
        turns[-1].append(run.message.text)
        if run.message.text == "a":
            await go.wait()

    async with serving_engine(engine, on_message="queue") as client:
        for steps in range(24):  # that the change is ahead, on its way to the server
            go.clear()
            turns.append([])
            name = f"s{steps}"
            for text in "abc":
                await client.send(name, text, id=text)
            edits = steps % 2
            asked = change(client, "b", name, text="B") if edits else remove(client, "b", name)
            changing = asyncio.create_task(asked)
            for _ in range(steps):
                await asyncio.sleep(0)
            if steps > 21:
                await changing
            go.set()
            answer = await changing
            await until(lambda: turns[-1][-1:] == ["c"])

            won = answer.status == 200
            assert won or (answer.status, answer.problem) == (409, "not-waiting")
            met.add(won)
            expected = (["B"] if edits else []) if won else ["b"]
            assert turns[-1] == ["a", *expected, "c"]

    assert met == {True, False}, "each was to win sometimes"


@pytest.mark.scenario("T13")
async def test_a_sender_who_finds_the_queue_full_is_told_and_nothing_is_queued() -> None:
    engine = Doors()
    settings = {"on_message": "queue", "queue_limit": 2}
    async with serving_engine(engine, **settings) as client:
        for text in "abc":
            await client.send("s", text)
        answer = await client.send("s", "d", id="d")

        assert (answer.status, answer.problem) == (429, "queue-full")
        assert "retry-after" in answer.headers
        assert "queued" not in answer.body.decode()
        assert "d was not accepted" in answer.json["detail"]
        assert await waiting(client) == ["b", "c"]
        said = [e["message"]["text"] for e in await entries(client) if e["kind"] == "said"]
        assert said == ["a", "b", "c"]


@pytest.mark.scenario("T11")
async def test_what_waits_behind_a_run_that_fails_has_its_turn() -> None:
    order = list[str]()

    async def engine(run: Run) -> None:
        order.append(run.message.text)
        if run.message.text == "a":
            raise ValueError("broken")

    async with serving_engine(engine, on_message="queue") as client, client.events("s") as events:
        await asyncio.gather(*(client.send("s", text, id=text) for text in "abc"))
        await ends(events, 3)

        assert sorted(order) == ["a", "b", "c"]
        assert await outcomes(client) == {"a": "failed", "b": "completed", "c": "completed"}
