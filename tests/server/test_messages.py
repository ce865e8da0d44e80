"""Messages, over HTTP."""

import asyncio

import pytest

from lastword import Run, Shown
from tests.promise.workshop import STUBBORN, is_up, until
from tests.server.asking import entries, outcomes
from tests.server.client import read_answer, serving_engine, upto
from tests.server.engines import Doors, Talker, echo


async def test_a_message_is_durable_when_it_is_answered_and_the_same_again_is_the_same() -> None:
    async with serving_engine(Talker()) as client:
        first = await client.send("s", "hello", id="mine")
        again = await client.send("s", "hello", id="mine")
        assert first.status == again.status == 202
        assert first.json == again.json
        assert first.json["placed"] == "starting"


@pytest.mark.scenario("A2", part="server")
async def test_a_message_stopped_while_it_is_prepared_never_reaches_the_model() -> None:
    asked, prepared = list[str](), asyncio.Event()

    async def engine(run: Run) -> None:
        await prepared.wait()
        asked.append(run.message.text)

    async with serving_engine(engine) as client, client.events("s") as events:
        reader, writer = await client.open()
        both = {"connection": "keep-alive"}
        # in one packet: the server knows of the stop before it has answered the message
        body = b'{"text": "go"}'
        writer.write(client.request("POST", "/v1/sessions/s/messages", body, both))
        writer.write(client.request("POST", "/v1/sessions/s/stop"))
        accepted, stopped = await read_answer(reader), await read_answer(reader)
        writer.close()
        prepared.set()

        assert (accepted.status, stopped.status) == (202, 200)
        assert not stopped.json["receipt"]["idle"]
        await client.send("s", "now")
        seen = await upto(events, "ended") + await upto(events, "ended")
        assert asked == ["now"]
        ended = [(e["run"], e["text"]) for e in seen if e["kind"] == "ended"]
        assert ended == [("s#1", "stopped"), ("s#2", "completed")]
        assert list((await outcomes(client)).values()) == ["stopped", "completed"]


@pytest.mark.scenario("A9", part="server")
async def test_whoever_sent_it_may_leave_and_the_run_goes_on() -> None:
    engine = Doors()
    async with serving_engine(engine) as client, client.events("s") as events:
        _, writer = await client.open()
        writer.write(client.request("POST", "/v1/sessions/s/messages", b'{"text": "go"}'))
        await upto(events, "text")
        writer.transport.abort()  # before it has read the answer, maybe before there is one
        async with client.events("s") as others:
            await upto(others, "snapshot")
        engine.let("go")

        [*_, ended] = await upto(events, "ended")
        assert ended["text"] == "completed"


@pytest.mark.scenario("T1")
async def test_a_takeover_fences_the_old_run_before_the_new_one_is_asked() -> None:
    runs, shown = dict[str, Run](), list[Shown]()

    async def engine(run: Run) -> None:
        runs[run.message.text] = run
        await run.emit(run.message.text)
        if run.message.text == "new":
            assert not runs["old"].current
            shown.extend(run.history)
        else:
            await asyncio.Event().wait()

    async with serving_engine(engine) as client, client.events("s") as events:
        old = (await client.send("s", "old")).json
        await upto(events, "text")
        new = (await client.send("s", "new")).json
        seen = await upto(events, "ended") + await upto(events, "ended")

        assert (new["placed"], new["run"]) == ("starting", "s#2")
        assert new["generation"] > old["generation"]
        assert (shown[-1].role, shown[-1].text) == ("user", "new")
        told = [(e["kind"], e["run"]) for e in seen if e["kind"] in {"text", "started", "ended"}]
        assert told == [("ended", "s#1"), ("started", "s#2"), ("text", "s#2"), ("ended", "s#2")]
        assert list((await outcomes(client)).values()) == ["superseded", "completed"]


@pytest.mark.scenario("T2", part="processes")
async def test_a_takeover_does_not_wait_for_what_is_still_dying() -> None:
    up = asyncio.Event()

    async def engine(run: Run) -> None:
        if run.message.text == "old":
            await is_up(await run.spawn(shell=STUBBORN))
            up.set()
            await asyncio.Event().wait()
        await run.emit("here already")

    async with serving_engine(engine, grace=0.5) as client, client.events("s") as events:
        await client.send("s", "old")
        await up.wait()
        await client.send("s", "new")
        seen = await upto(events, "text") + await upto(events, "stopped")

        kinds = [(e["kind"], e["data"] and e["data"].get("state")) for e in seen]
        assert kinds.index(("text", None)) < kinds.index(("process", "ended"))
        assert "killed" in [process["fate"] for process in seen[-1]["data"]["processes"]]


@pytest.mark.scenario("T3")
async def test_the_last_of_three_messages_is_dominant_and_the_second_is_context() -> None:
    shown = list[Shown]()

    async def engine(run: Run) -> None:
        if run.message.text != "c":
            await asyncio.Event().wait()
        shown.extend(run.history)

    async with serving_engine(engine) as client, client.events("s") as events:
        for text in "abc":
            await client.send("s", text, id=text)
        for _ in "abc":
            await upto(events, "ended")

        assert [item.text for item in shown if item.role == "user"] == ["a", "b", "c"]
        ended = {"a": "superseded", "b": "superseded", "c": "completed"}
        assert await outcomes(client) == ended


@pytest.mark.scenario("T5")
async def test_a_steer_joins_the_run_as_the_persons_own_words() -> None:
    taken, sent, asked = list[str](), asyncio.Event(), asyncio.Event()

    async def engine(run: Run) -> None:
        asked.set()
        await sent.wait()
        taken.extend(message.text for message in await run.steering())

    async with serving_engine(engine) as client, client.events("s") as events:
        await client.send("s", "go", id="go")
        await asked.wait()
        steer = await client.send("s", "gently", id="gently", on_message="steer")
        assert (steer.status, steer.json["placed"]) == (202, "steering")
        [waiting] = (await client.get("/v1/sessions/s/queue")).json["messages"]
        assert (waiting["text"], waiting["placed"]) == ("gently", "steering")
        sent.set()
        await upto(events, "ended")

        assert taken == ["gently"]
        assert await outcomes(client) == {"go": "completed", "gently": "completed"}
        assert (await client.send("s", "gently", id="gently")).json["outcome"] == "completed"


@pytest.mark.scenario("T6")
async def test_a_steer_as_a_turn_ends_is_answered_in_it_or_in_the_next() -> None:
    answered, doors = list[str](), list[asyncio.Event]()

    async def engine(run: Run) -> None:
        answered.extend(message.text for message in run.messages)
        if run.message.text.startswith("go"):
            doors.append(door := asyncio.Event())
            await door.wait()
        answered.extend(message.text for message in await run.steering())

    async with serving_engine(engine) as client:
        for turn in range(10):
            name = f"s{turn}"
            await client.send(name, f"go {turn}")
            await until(lambda turn=turn: len(doors) > turn)
            sending = asyncio.gather(
                *(client.send(name, f"{turn}.{one}", on_message="steer") for one in range(2))
            )
            for _ in range(turn):  # it ends a step later each time
                await asyncio.sleep(0)
            doors[turn].set()
            assert [answer.status for answer in await sending] == [202, 202]

        await until(lambda: len(answered) == 30)
        assert len(set(answered)) == 30


@pytest.mark.scenario("T7")
async def test_a_steer_that_a_stop_overtook_is_in_the_receipt_and_nowhere_later() -> None:
    engine = Doors("now")
    async with serving_engine(engine, queue_on_stop="keep") as client:
        await client.send("s", "go")
        await until(lambda: engine.runs)
        await client.send("s", "gently", id="gently", on_message="steer")
        receipt = await client.stop("s")
        [fate] = receipt["messages"]

        assert (fate["message"]["text"], fate["fate"]) == ("gently", "dropped")
        assert (await outcomes(client))["gently"] == "stopped"
        async with client.events("s") as events:
            await client.send("s", "now")
            await upto(events, "ended")
        shown = (await client.get("/v1/sessions/s/transcript")).json["items"]
        assert "gently" not in [item["text"] for item in shown]


@pytest.mark.scenario("T9")
async def test_what_is_collected_is_one_turn_with_its_order_senders_and_attachments() -> None:
    turns = list[list[tuple[str, str, int]]]()

    async def engine(run: Run) -> None:
        turns.append([(m.text, m.by, len(m.attachments)) for m in run.messages])
        if run.message.text == "go":
            await asyncio.Event().wait()

    async with serving_engine(engine) as client, client.events("s") as events:
        await client.send("s", "go")
        picture = {"media_type": "image/png", "data": "aGk=", "name": "a.png"}
        b = await client.send("s", "b", on_message="collect")
        c = await client.send("s", "c", on_message="collect", attachments=[picture])
        await client.post("/v1/sessions/s/stop", {"run": "s#1"})
        ends = await upto(events, "ended") + await upto(events, "ended")

        assert b.json["placed"] == c.json["placed"] == "collecting"
        assert turns[1] == [("b", "local", 0), ("c", "local", 1)]
        assert ends[-1]["data"]["messages"] == [b.json["message"], c.json["message"]]
        [*_, said] = [e for e in await entries(client) if e["kind"] == "said"]
        [attached] = said["message"]["attachments"]
        assert attached == {"media_type": "image/png", "uri": "", "name": "a.png", "size": 4}


@pytest.mark.scenario("T11")
async def test_a_message_sent_while_a_stopped_run_unwinds_runs_next() -> None:
    wedged, opened = asyncio.Event(), asyncio.Event()

    async def engine(run: Run) -> None:
        while run.message.text == "wedge" and not opened.is_set():
            wedged.set()
            try:
                await opened.wait()
            except asyncio.CancelledError:
                continue

    async with serving_engine(engine, deadline=0.3) as client, client.events("s") as events:
        await client.send("s", "wedge")
        await wedged.wait()
        receipt = await client.stop("s", "?wait=fence")
        assert not receipt["quiet"]
        await upto(events, "ended")
        assert (await client.send("s", "next", on_message="refuse")).status == 202
        [*_, ended] = await upto(events, "ended")
        assert (ended["run"], ended["text"]) == ("s#2", "completed")
        receipt = await client.stop("s")
        assert not receipt["quiet"]
        assert receipt["unconfirmed"]
        state = (await client.get("/v1/sessions/s")).json["state"]
        assert state == "stopping"
        opened.set()
        await upto(events, "settled")


@pytest.mark.scenario("T14")
async def test_a_rolled_back_turn_is_not_shown_to_the_model_and_is_in_the_log() -> None:
    histories = dict[str, list[Shown]]()

    async def engine(run: Run) -> None:
        histories[run.message.text] = list(run.history)
        await run.emit(f"about {run.message.text}")
        if run.message.text == "wrong":
            await asyncio.Event().wait()

    async with serving_engine(engine) as client, client.events("s") as events:
        await client.send("s", "wrong", id="wrong")
        await upto(events, "text")
        await client.send("s", "right", id="right", on_message="rollback")
        await upto(events, "ended")
        await upto(events, "ended")

        assert [item.text for item in histories["right"]] == ["right"]
        assert "about wrong" in [e.get("text") for e in await entries(client)]
        assert await outcomes(client) == {"wrong": "superseded", "right": "completed"}


async def test_a_message_to_a_busy_session_can_be_refused_and_then_was_never_there() -> None:
    engine = Doors()
    async with serving_engine(engine) as client:
        await client.send("s", "go")
        answer = await client.send("s", "no", id="no", on_message="refuse")

        assert (answer.status, answer.problem) == (409, "busy")
        assert engine.order == ["go"]
        assert not [e for e in await entries(client) if e.get("message", {}).get("id") == "no"]


async def test_words_that_mean_stop_are_heeded_where_that_is_asked_for() -> None:
    engine = Doors()
    async with serving_engine(engine) as client:
        await client.send("s", "go")
        await until(lambda: engine.runs)
        heeded = await client.send("s", "STOP!!", heed_stop=True)
        assert heeded.status == 200
        assert heeded.json["receipt"]["runs"] == ["s#1"]
        said = await client.send("s", "don't stop now", heed_stop=True)
        literal = await client.send("s", "stop")
        assert [said.status, literal.status] == [202, 202]
        await until(lambda: engine.order == ["go", "don't stop now", "stop"])


async def test_a_failed_run_is_told_with_its_error() -> None:
    async def engine(run: Run) -> None:
        raise ValueError("broken")

    async with serving_engine(engine) as client, client.events("s") as events:
        await client.send("s", "go")
        [*_, ended] = await upto(events, "ended")
        assert (ended["text"], ended["data"]["error"]) == ("failed", "ValueError: broken")


async def test_what_is_not_a_message_is_refused_with_what_is_wrong() -> None:
    wrong = {
        b"": "the body",
        b"{": "the body",
        b"[]": "Expected `object`",
        b'{"text": 1}': "Expected `str`",
        b'{"text": "a", "on_message": "shout"}': "Invalid enum value",
        b'{"text": "a", "loud": true}': "unknown field",
        b'{"text": "a", "id": ""}': "length >= 1",
        b'{"text": "a", "id": "m1"}': "nor like m1",
        b'{"text": "\xff"}': "the body",
    }
    async with serving_engine(echo) as client:
        for body, what in wrong.items():
            headers = {"content_type": "application/json", "content_length": str(len(body))}
            answer = await client.ask("POST", "/v1/sessions/s/messages", body, headers=headers)
            assert (answer.status, answer.problem) == (400, "bad-request"), body
            assert what in answer.json["detail"]
        said = await client.ask(
            "POST", "/v1/sessions/s/messages", b"text=a", headers={"content_type": "text/plain"}
        )
        assert (said.status, said.problem) == (415, "unsupported-media-type")
        assert (await client.get("/v1/sessions/s")).status == 404  # none of it was ever there
