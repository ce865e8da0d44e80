"""AG-UI's own client: a run, from its beginning or its middle, and what is refused."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from lastword import Run, Runtime
from lastword.server import ApiToken, Right, ServerLimits
from tests.promise.workshop import until
from tests.server.agui_stories import (
    CANCELLED,
    OTHER,
    SUCCESS,
    Speaker,
    Worker,
    agents,
    body,
    gone,
    told,
    user,
)
from tests.server.client import SECRET, served
from tests.server.engines import Doors

W58 = pytest.mark.scenario("W58", part="server")
W62 = pytest.mark.scenario("W62", part="server")


def attached(data: str) -> dict[str, object]:
    """A message with a text, as it comes."""
    source = {"type": "data", "value": data, "mimeType": "text/plain"}
    return {"id": "with", "role": "user", "content": [{"type": "document", "source": source}]}


# a run


@W58
async def test_a_message_is_answered_in_the_clients_own_events() -> None:
    engine = Worker()
    engine.go.set()
    async with agents(engine) as (_, node):
        agent = node.agent("a", "t")
        end = await agent.said("go")

    text = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]
    thought = ["REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END"]
    called = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"]
    assert agent.kinds == [
        "RUN_STARTED",
        "MESSAGES_SNAPSHOT",
        "REASONING_START",
        *thought,
        "REASONING_END",
        *text,
        *called,
        *text,
        "RUN_FINISHED",
    ]
    assert end["last"]["outcome"] == SUCCESS
    assert agent.events[0]["protocolVersion"] == "1.0"
    said, mused, spoke, asked, result, last = end["messages"]
    assert (said["role"], said["id"], said["content"]) == ("user", "said go", "go")
    assert (mused["role"], mused["content"]) == ("reasoning", "hm, yes")
    assert (spoke["role"], spoke["content"]) == ("assistant", "I look there. ")
    [call] = asked["toolCalls"]
    assert call["function"] == {"name": "look", "arguments": '{"where": "outside"}'}
    assert (result["role"], result["toolCallId"]) == ("tool", call["id"])
    assert (result["content"], last["content"]) == ("seen outside", "seen outside")


@W58
async def test_the_same_message_again_is_the_same_message_and_tells_how_it_ended() -> None:
    engine = Worker()
    engine.go.set()
    async with agents(engine) as (_, node):
        first = await node.agent("a", "t").said("go")
        again = node.agent("b", "t")
        end = await again.said("go")

        assert engine.runs == 1
        assert again.kinds == ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
        assert end["last"]["outcome"] == SUCCESS
        assert end["messages"] == first["messages"]


@W58
async def test_what_was_sent_before_and_never_heard_is_said_with_the_next_words() -> None:
    engine = Doors("one\n\ntwo")
    async with agents(engine) as (client, _):
        answer = await client.post("/v1/agui", body(messages=[user("one"), user("two")]))

        assert engine.order == ["one\n\ntwo"]
        assert told(answer)[-1]["outcome"] == SUCCESS


@W58
async def test_several_messages_that_are_sent_again_are_the_same_messages_each_by_its_id() -> None:
    engine, both = Doors(), body(messages=[user("one"), user("two")])
    async with agents(engine) as (client, _):
        first = asyncio.create_task(client.post("/v1/agui", both))
        await until(lambda: "one\n\ntwo" in engine.runs)
        again = asyncio.create_task(client.post("/v1/agui", both))
        await gone(client, but=2)
        engine.let("one\n\ntwo")
        streams = [told(await first), told(await again)]

        assert [stream[-1]["outcome"] for stream in streams] == [SUCCESS, SUCCESS]
        assert engine.order == ["one\n\ntwo"]
        for _, snapshot, *_ in streams:
            said = [one["id"] for one in snapshot["messages"] if one["role"] == "user"]
            assert said == ["said one", "said two"]


@W62
async def test_a_message_that_lastword_has_named_is_joined_by_who_sends_it_back() -> None:
    engine = Doors()
    async with agents(engine) as (client, _):
        await client.send("t", "one")
        back = {"id": "m1", "role": "user", "content": "one"}
        joined = asyncio.create_task(client.post("/v1/agui", body(messages=[back])))
        await gone(client, but=1)
        engine.let("one")

        assert told(await joined)[-1]["outcome"] == SUCCESS
        assert engine.order == ["one"]


@W58
async def test_what_comes_with_a_message_is_attached_and_is_still_there_in_the_snapshot() -> None:
    heard: list[Any] = []

    async def engine(run: Run) -> None:
        heard.extend((one.media_type, one.data, one.uri) for one in run.message.attachments)

    picture = {"type": "data", "value": "aGk=", "mimeType": "image/png"}
    text = {"type": "data", "value": base64.b64encode(b"hi").decode(), "mimeType": "text/plain"}
    page = {"type": "url", "value": "https://page.test/a.pdf", "mimeType": "application/pdf"}
    content = [
        {"type": "text", "text": "look"},
        {"type": "image", "source": picture},
        {"type": "document", "source": text},
        {"type": "document", "source": page},
    ]
    async with agents(engine) as (_, node):
        end = await node.agent("a", "t").said(say={"id": "with", "content": content})

        assert end["last"]["outcome"] == SUCCESS
        assert end["messages"][0]["content"] == content
    assert heard == [
        ("image/png", "aGk=", ""),
        ("text/plain", "hi", ""),
        ("application/pdf", "", "https://page.test/a.pdf"),
    ]


@W58
async def test_a_run_that_fails_is_an_error_with_its_words() -> None:
    async def engine(run: Run) -> None:
        await run.emit("so far")
        raise RuntimeError("the roof is gone")

    async with agents(engine) as (_, node):
        agent = node.agent("a", "t")
        end = await agent.said("go")

        assert agent.text == "so far"
        assert (end["last"]["type"], end["last"]["code"]) == ("RUN_ERROR", "failed")
        assert "the roof is gone" in end["last"]["message"]


# coming in the middle, and what is refused


@W62
async def test_who_joins_in_the_middle_has_all_that_was_said_and_hears_the_rest() -> None:
    engine = Worker()
    async with agents(engine) as (_, node):
        first, second = node.agent("a", "t"), node.agent("b", "t")
        await first.run("go")
        await first.upto("TOOL_CALL_END")
        await engine.began.wait()
        await second.run()
        snapshot = await second.upto("MESSAGES_SNAPSHOT")
        engine.go.set()
        ends = [await first.end(), await second.end()]

        roles = [one["role"] for one in snapshot["messages"]]
        assert roles == ["user", "reasoning", "assistant", "assistant"]
        assert second.kinds[2:4] == ["TOOL_CALL_RESULT", "TEXT_MESSAGE_START"]
        assert ends[0]["messages"] == ends[1]["messages"]
        assert ends[1]["last"]["outcome"] == SUCCESS


@W62
async def test_words_go_on_in_the_message_that_the_snapshot_has() -> None:
    engine = Speaker(let=False)
    async with agents(engine) as (client, node):
        await node.agent("a", "t").run("it")
        await until(lambda: bool(engine.runs))
        joined = node.agent("b", "t")
        await joined.run()
        [_, partial] = (await joined.upto("MESSAGES_SNAPSHOT"))["messages"]
        assert partial["content"] == "about it: "
        engine.go.set()
        assert (await joined.upto("TEXT_MESSAGE_CONTENT"))["messageId"] == partial["id"]
        await client.stop("t")
        end = await joined.end()

        [_, message] = [one for one in end["messages"] if one["role"] != "activity"]
        assert message["content"] == f"about it: {joined.text}"


@W62
async def test_of_a_long_session_the_snapshot_has_the_newest_as_much_as_a_client_takes() -> None:
    async def engine(run: Run) -> None:
        for _ in range(3):
            await run.emit("x" * 1_000_000)

    async with agents(engine) as (_, node):
        for number in range(4):
            end = await node.agent(f"{number}", "t").said(f"number {number}")
            assert end["last"]["outcome"] == SUCCESS
        end = await node.agent("a", "t").said()

        assert "failed" not in end, "the client gives up at ten million characters"
        roles = [one["role"] for one in end["messages"]]
        assert roles == ["user", "assistant", "user", "assistant"], "the oldest are left out"


@W62
async def test_a_stream_counts_as_one_of_who_watches() -> None:
    engine = Doors()
    async with agents(engine, limits=ServerLimits(watchers=1)) as (client, node):
        first, second = node.agent("a", "t"), node.agent("b", "u")
        await first.run("long")
        await first.upto("TEXT_MESSAGE_CONTENT")
        refused = await second.said("hello")
        assert "HTTP 429" in refused["failed"]
        assert (await client.stop("t"))["runs"] == ["t#1"], "a stop is answered all the same"

        assert (await first.end())["last"]["outcome"] == CANCELLED
        assert engine.order == ["long"]


@W62
async def test_what_is_deleted_is_ended_first_and_its_stream_says_so() -> None:
    engine = Doors()
    async with agents(engine) as (client, node):
        agent = node.agent("a", "t")
        await agent.run("long")
        await agent.upto("TEXT_MESSAGE_CONTENT")
        await client.ask("DELETE", "/v1/sessions/t")

        assert (await agent.end())["last"]["outcome"] == CANCELLED
        assert agent.kinds[-2:] == ["lastword.receipt", "RUN_FINISHED"]


@W62
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"threadId": None}, "threadId"),
        ({"threadId": "a/b"}, "name"),
        ({"messages": "hello"}, "messages"),
        ({"messages": [{"role": "user", "content": "no id"}]}, "id"),
        ({"messages": [{"id": "m", "role": "user", "content": ""}]}, "says nothing"),
        ({"messages": [{"id": "m", "role": "user", "content": [{"type": "tune"}]}]}, "not known"),
        ({"messages": [{"id": "m7", "role": "user", "content": "x"}]}, "m1, m2"),
        ({"messages": [user("x")], "tools": [{"name": "alert", "description": ""}]}, "tools"),
        ({"resume": [{"interruptId": "q@1", "status": "maybe"}]}, "status"),
        ({"resume": [{"interruptId": "q@1", "status": "resolved", "payload": "yes"}]}, "not one"),
        ({"messages": [user("x" * 1_000_001)]}, "cannot be sent"),
        ({"messages": [user("x"), user("x")]}, "two new messages"),
        ({"messages": [user(f"{number}") for number in range(101)]}, "at most 100"),
        ({"messages": [attached("!!!")]}, "message with cannot be sent: the data of"),
        ({"messages": [attached("!!!")]}, "not base64"),
        ({"messages": [attached("//8=")]}, "not UTF-8"),
        ({"messages": [attached("é")]}, "not base64"),
    ],
)
async def test_what_cannot_be_understood_is_refused_and_nothing_is_done(
    wrong: dict[str, object], why: str
) -> None:
    engine = Doors()
    async with (
        Runtime(engine) as runtime,
        served(runtime, tokens=(ApiToken(SECRET),)) as client,
    ):
        answer = await client.post("/v1/agui", body(**wrong))

        assert (answer.status, answer.problem) == (400, "bad-request")
        assert why in answer.json["detail"]
        assert (await client.get("/v1/sessions")).json["sessions"] == []
        assert engine.order == []


@W62
@pytest.mark.parametrize("rights", [("read",), ("send",), ("send", "stop"), ()])
async def test_it_takes_the_rights_to_send_and_to_read(rights: tuple[Right, ...]) -> None:
    async with agents(Doors("hello"), rights) as (client, node):
        agent = node.agent("b", "t", OTHER)
        end = await agent.said("hello")

        assert "HTTP 403" in end["failed"]
        assert agent.events == []
        assert (await client.get("/v1/sessions")).json["sessions"] == []


@W62
async def test_who_has_no_right_to_stop_takes_nothing_over_and_stops_nothing_by_leaving() -> None:
    engine = Doors()
    async with agents(engine, ("read", "send")) as (client, node):
        first, second = node.agent("a", "t"), node.agent("b", "t", OTHER)
        await first.run("one")
        await first.upto("TEXT_MESSAGE_CONTENT")
        refused = await second.said("two", query="?on_disconnect=stop")
        assert "HTTP 403" in refused["failed"]
        await second.run()  # the same words: nothing was done with them
        await second.upto("lastword.queue")
        engine.let("one")
        assert (await first.end())["last"]["outcome"] == SUCCESS
        await second.upto("TEXT_MESSAGE_CONTENT")
        await second.abort()
        await second.end()
        await gone(client)
        engine.let("two")
        end = await second.said()

        assert (end["last"]["outcome"], engine.order) == (SUCCESS, ["one", "two"])
        assert (await client.get("/v1/sessions/t/receipts")).json["receipts"] == []
