"""Sessions that are opened and put away in one breath: whatever stands behind is answered."""

from pathlib import Path

from tests.acp.client import Client, Message, editor
from tests.promise.workshop import until


def about(client: Client, method: str, session: str) -> Message:
    where: Message = {"cwd": str(client.folder), "mcpServers": []} if method != "close" else {}
    return client.request(f"session/{method}", sessionId=session, **where)


async def test_a_session_that_is_opened_while_it_is_being_closed_is_open(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        story = client.prompt(session, "tell me a story")
        client.write(story)
        await until(lambda: client.text().count(" ") > 3)
        close, load = about(client, "close", session), about(client, "load", session)
        prompt = client.prompt(session, "count to 3")
        client.write(close, load, prompt)

        assert (await client.answered(story))["result"]["stopReason"] == "cancelled"
        assert (await client.answered(close))["result"] == {}
        assert (await client.answered(prompt))["result"]["stopReason"] == "end_turn"
        assert (await client.say(session, "count to 3"))["result"] == {"stopReason": "end_turn"}


async def test_a_session_that_is_being_deleted_cannot_be_opened(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        prompt, delete = client.prompt(session, "count to 3"), about(client, "delete", session)
        load, again = about(client, "load", session), client.prompt(session, "count to 3")
        client.write(prompt, delete, load, again)

        assert (await client.answered(prompt))["result"]["stopReason"] == "cancelled"
        assert (await client.answered(delete))["result"] == {}
        assert (await client.answered(load))["error"]["code"] == -32002
        assert (await client.answered(again))["error"]["code"] == -32002


async def test_what_stands_behind_a_load_that_is_called_off_is_answered(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        await client.say(session, "count to 3")
    async with editor(tmp_path) as client:
        load, prompt = about(client, "load", session), client.prompt(session, "count to 3")
        off = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": load["id"]}}
        client.write(load, prompt, off)

        assert (await client.answered(load))["error"]["code"] == -32800
        assert (await client.answered(prompt))["error"]["code"] == -32002
        await client.load(session)
        assert (await client.say(session, "count to 3"))["result"]["stopReason"] == "end_turn"
