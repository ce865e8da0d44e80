"""What a careless or hostile client does, and what must not come of it."""

import base64
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.acp.client import Message, editor
from tests.acp.test_prompts import STUBBORN, begun
from tests.promise.workshop import gone, until


def off(request: Message) -> Message:
    params = {"requestId": request["id"]}
    return {"jsonrpc": "2.0", "method": "$/cancel_request", "params": params}


def told(answer: Message) -> Message:
    return answer["result"]["_meta"]["lastword"]


async def test_a_cancel_is_answered_though_the_store_is_not_to_be_had(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        request = await begun(client, session)
        [file] = (tmp_path / "home" / "state").rglob("*.db")
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            client.write(client.cancel(session))
            answer = await client.answered(request)
            other.execute("ROLLBACK")

        assert answer["result"]["stopReason"] == "cancelled"
        assert told(answer)["receipt"]["durable"] is False
        while "error" in (again := await client.say(session, "count to 3")):
            assert "store" in again["error"]["message"]  # until the stop is in it
        assert again["result"]["stopReason"] == "end_turn"


async def test_a_long_prompt_of_one_session_holds_up_no_other(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        one, other = await client.new(), await client.new()
        request = await begun(client, one)
        long = client.prompt(other, "stop " * 2_000_000)
        client.write(long, client.cancel(one))

        assert (await client.answered(request))["result"]["stopReason"] == "cancelled"
        assert "result" in await client.answered(long)


@pytest.mark.parametrize("kind", ["", "../x", "text/html", "image/x-zzz", "image/jpeg"])
async def test_a_picture_that_no_provider_takes_is_not_taken(tmp_path: Path, kind: str) -> None:
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    async with editor(tmp_path) as client:
        session = await client.new()
        blocks = [{"type": "image", "data": data, "mimeType": kind}]
        answer = await client.ask("session/prompt", sessionId=session, prompt=blocks)

        assert answer["error"]["code"] == -32602
        assert (await client.say(session, "count to 3"))["result"]["stopReason"] == "end_turn"


async def test_a_prompt_right_after_a_cancel_brings_the_receipt_if_it_was_too_early(
    tmp_path: Path,
) -> None:
    async with editor(tmp_path, "--yes") as client:
        session = await client.new()
        first = client.prompt(session, STUBBORN)
        client.write(first)
        await until(lambda: (tmp_path / "own").exists() and (tmp_path / "pid").exists())
        second = client.prompt(session, "count to 50")
        client.write(client.cancel(session), second)
        early, late = await client.answered(first), await client.answered(second)

        assert (early["result"]["stopReason"], told(early)) == ("cancelled", {"quiet": False})
        assert (told(late)["quiet"], told(late)["receipt"]["reason"]) == (True, "stopped")
        assert all(gone(process["pid"]) for process in told(late)["receipt"]["processes"])


@pytest.mark.parametrize("mode", ["queue", "collect"])
async def test_calling_off_a_prompt_that_waits_leaves_the_others(tmp_path: Path, mode: str) -> None:
    async with editor(tmp_path, "--mode", mode) as client:
        session = await client.new()
        first = client.prompt(session, "count to 100")
        second = client.prompt(session, "tell me a story")
        client.write(first, second, off(second))

        assert (await client.answered(second))["result"]["stopReason"] == "cancelled"
        assert (await client.answered(first))["result"]["stopReason"] == "end_turn"
        assert "lighthouse" not in client.text()


async def test_opening_a_session_again_breaks_nothing_that_goes_on_in_it(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        request = client.prompt(session, "run echo hi; sleep 0.3; touch made")
        client.write(request)
        await until(client.asked)
        await client.ask("session/resume", sessionId=session, cwd=str(tmp_path), mcpServers=[])
        [asked] = client.asked()
        client.answer(asked, "allow_always")
        await until(lambda: [u for u in client.updates() if u.get("status") == "in_progress"])
        await client.load(session)

        assert (await client.answered(request))["result"]["stopReason"] == "end_turn"
        ends = [u["status"] for u in client.updates() if u.get("status") in ("completed", "failed")]
        assert ends == ["completed"]
        await client.load(session)
        await client.say(session, "run echo hi; sleep 0.3; touch made")
        assert len(client.asked()) == 1  # what was allowed for good still is


async def test_what_has_begun_to_be_closed_is_closed(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        await client.say(session, "count to 3")
        close = client.request("session/close", sessionId=session)
        client.write(close, off(close))
        assert (await client.answered(close))["result"] == {}
        await client.load(session)
        since = len(client.heard)
        await client.say(session, "count to 3")

        assert client.text(since) == "1 2 3"
        new = client.request("session/new", cwd=str(tmp_path), mcpServers=[])
        client.write(new, off(new))
        await client.answered(new)
        listed = (await client.ask("session/list"))["result"]["sessions"]
        assert len(listed) == (2 if client.heard[-2].get("result") else 1)


async def test_the_word_stop_comes_after_the_answer_of_what_it_stopped(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        request = await begun(client, session)
        stop = client.prompt(session, "Stop, please!")
        client.write(stop)
        answer = await client.answered(stop)
        place = client.heard.index(await client.answered(request))

        assert client.text(place) == told(answer)["words"]
        assert told(answer)["receipt"]["reason"] == "stopped"


async def test_a_session_of_another_editor_cannot_be_deleted(tmp_path: Path) -> None:
    async with editor(tmp_path) as one, editor(tmp_path) as other:
        session = await one.new()
        await one.say(session, "count to 3")
        refused = await other.ask("session/delete", sessionId=session)

        assert "error" in refused
        assert (await one.say(session, "count to 3"))["result"]["stopReason"] == "end_turn"
        listed = (await one.ask("session/list"))["result"]["sessions"]
        assert [card["sessionId"] for card in listed] == [session]
        busy = other.request("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
        behind = other.prompt(session, "hello")
        other.write(busy, behind)
        assert "error" in await other.answered(busy)
        assert "error" in await other.answered(behind)


async def test_a_question_of_a_child_has_an_end(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        client.allow = "allow_once"
        session = await client.new()
        await client.say(session, "delegate run echo hi")
        [asked] = client.asked()
        call = asked["params"]["toolCall"]["toolCallId"]

        assert [u["status"] for u in client.updates() if u.get("toolCallId") == call] == [
            "completed"
        ]


async def test_who_leaves_is_answered_if_they_still_listen(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        request = await begun(client, session)
        assert client.process.stdin
        client.process.stdin.close()
        answer = await client.answered(request)

        assert answer["result"]["stopReason"] == "cancelled"


async def test_what_is_no_command_is_said(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        for words in ("/mode/x.py what is in it?", "/stop-motion films"):
            since = len(client.heard)
            await client.say(session, words)
            assert "I have no rule for" in client.text(since)


async def test_a_card_that_is_none_hides_no_other(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        folder = tmp_path / "home" / "state" / "lastword" / "acp"
        for number, card in enumerate(('{"folders": []}', "[" * 5000, '{"folders": 5}', "\0")):
            (folder / f"{number:032x}.json").write_text(card)
        listed = (await client.ask("session/list"))["result"]["sessions"]

        assert [card["sessionId"] for card in listed] == [session]


async def test_a_flood_of_requests_is_heard_no_faster_than_it_is_answered(tmp_path: Path) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x" * 200}).encode() + b"\n"
    async with editor(tmp_path) as client:
        await client.new()
        client.write(line * 20_000)
        await until(lambda: len(client.heard) > 20_000)

        assert (await client.ask("initialize", protocolVersion=1))["result"]["protocolVersion"] == 1
