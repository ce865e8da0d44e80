"""Sessions of an editor: loaded as they were, listed, closed and forgotten."""

import base64
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acp.client import Client, Message, editor
from tests.promise.workshop import until

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


async def test_a_session_is_loaded_as_it_was(tmp_path: Path) -> None:
    async with editor(tmp_path, "--yes") as client:
        session = await client.new()
        await client.say(session, "run echo hi")
        await client.say(session, "think about it")
        before = [kept for update in client.updates() for kept in _kept(update)]
    async with editor(tmp_path) as client:
        loaded = await client.load(session)
        after = [kept for update in client.updates() for kept in _kept(update)]
        assert loaded["result"]["modes"]["currentModeId"] == "takeover"
        answer = await client.say(session, "count to 3")

    said = [(kind, what) for kind, what in after if kind == "user_message_chunk"]
    assert said == [
        ("user_message_chunk", "run echo hi"),
        ("user_message_chunk", "think about it"),
    ]
    assert _joined(before) == _joined([one for one in after if one not in said])
    assert answer["result"]["stopReason"] == "end_turn"


def _kept(update: Message) -> list[tuple[str, str]]:
    match update:
        case {"sessionUpdate": str(kind), "content": {"text": str(text)}}:
            return [(kind, text)]
        case {"sessionUpdate": "tool_call", "title": str(title)}:
            return [("tool_call", title)]
        case {"sessionUpdate": "tool_call_update", "status": "completed"}:
            return [("tool_call_update", f"{update['content']}")]
        case _:
            return []


def _joined(updates: list[tuple[str, str]]) -> list[tuple[str, str]]:
    joined: list[tuple[str, str]] = []
    for one in updates:
        if joined and one[0] == joined[-1][0]:
            joined[-1] = one[0], joined[-1][1] + one[1]
        else:
            joined.append(one)
    return joined


async def test_sessions_are_listed_by_where_they_work_and_can_be_forgotten(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    async with editor(tmp_path) as client:
        first = await client.new()
        await client.say(first, "count to 3")
        second = await client.new(cwd=str(tmp_path / "other"))
        every = (await client.ask("session/list"))["result"]["sessions"]
        here = (await client.ask("session/list", cwd=str(tmp_path)))["result"]["sessions"]

        assert {one["sessionId"] for one in every} == {first, second}
        assert [(one["sessionId"], one["title"]) for one in here] == [(first, "count to 3")]

        assert (await client.ask("session/delete", sessionId=first))["result"] == {}
        assert [
            o["sessionId"] for o in (await client.ask("session/list"))["result"]["sessions"]
        ] == [second]
        gone = await client.load(first)
        assert gone["error"]["code"] == -32002


async def test_closing_a_session_stops_it_and_answers_its_prompts_first(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        prompt = client.prompt(session, "tell me a story")
        client.write(prompt)
        await until(lambda: client.text().count(" ") > 3)
        closed = await client.ask("session/close", sessionId=session)

        assert closed["result"] == {}
        answer = await client.answered(prompt)
        assert answer["result"]["stopReason"] == "cancelled"
        assert client.heard.index(answer) < client.heard.index(closed)
        assert (await client.say(session, "hello"))["error"]["code"] == -32002
        resumed = await client.ask("session/resume", sessionId=session, cwd=str(tmp_path))
        assert "modes" in resumed["result"]
        assert (await client.say(session, "count to 3"))["result"]["stopReason"] == "end_turn"


async def test_what_a_new_message_does_can_be_set_in_three_ways(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        await client.ask("session/set_mode", sessionId=session, modeId="queue")
        option = {"sessionId": session, "configId": "on_message", "value": "steer"}
        answer = await client.ask("session/set_config_option", **option)
        assert answer["result"]["configOptions"][0]["currentValue"] == "steer"
        await client.say(session, "/mode refuse")

        told = [one["currentModeId"] for one in client.updates("current_mode_update")]
        assert told == ["queue", "steer", "refuse"]
        wrong = await client.ask("session/set_mode", sessionId=session, modeId="sing")
        assert "there is no mode sing" in wrong["error"]["message"]


async def test_what_an_editor_attaches_is_part_of_what_was_said(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        blocks = [
            {"type": "text", "text": "what is"},
            {"type": "resource_link", "name": "a.py", "uri": "file:///a.py"},
            {"type": "resource", "resource": {"uri": "file:///b.py", "text": "print()"}},
            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        ]
        await client.ask("session/prompt", sessionId=session, prompt=blocks)
    async with editor(tmp_path) as client:
        await client.load(session)
        [said] = client.updates("user_message_chunk")

    words = said["content"]["text"]
    assert words == ('what is\n[a.py](file:///a.py)\n<file uri="file:///b.py">\nprint()\n</file>')


# permission


async def test_the_person_is_asked_and_their_choice_holds(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        client.allow = "allow_once"
        await client.say(session, "run echo one")
        assert "one" in client.text()
        client.allow = "allow_always"
        await client.say(session, "run echo two")
        await client.say(session, "run echo two")
        client.allow = "reject_once"
        since = len(client.heard)
        await client.say(session, "run echo three")

        assert len(client.asked()) == 3
        assert "not allow" in client.text(since)
        calls = [update["toolCallId"] for update in client.updates("tool_call")]
        assert {ask["params"]["toolCall"]["toolCallId"] for ask in client.asked()} <= set(calls)
        for asked in client.asked():
            call = asked["params"]["toolCall"]["toolCallId"]
            first = client.place(lambda m, call=call: _is_call(m, call))
            assert first < client.heard.index(asked)


def _is_call(message: Message, call: str) -> bool:
    update = message.get("params", {}).get("update", {})
    return (update.get("sessionUpdate"), update.get("toolCallId")) == ("tool_call", call)


@pytest.mark.scenario("G5", part="acp")
async def test_a_stop_withdraws_the_question_and_a_late_yes_is_nobodys(tmp_path: Path) -> None:
    async with editor(tmp_path) as client:
        session = await client.new()
        prompt = client.prompt(session, "run touch made")
        client.write(prompt)
        await until(client.asked)
        client.write(client.cancel(session))
        answer = await client.answered(prompt)
        [asked] = client.asked()
        [withdrawn] = [m for m in client.heard if m.get("method") == "$/cancel_request"]
        client.answer(asked, "allow_always")
        await client.say(session, "count to 3")

        assert answer["result"]["stopReason"] == "cancelled"
        assert withdrawn["params"] == {"requestId": asked["id"]}
        assert not (tmp_path / "made").exists()
        again = client.prompt(session, "run touch made")
        client.write(again)
        await until(lambda: len(client.asked()) == 2)  # the late answer allowed nothing for good
        client.write(client.cancel(session))
        await client.answered(again)
        assert not (tmp_path / "made").exists()


async def test_only_the_protocol_is_on_the_output_whatever_is_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import atexit; atexit.register(print, 'bye')\n")
    async with editor(tmp_path, "--yes", env={"PYTHONPATH": str(tmp_path)}) as client:
        session = await client.new()
        answer = await client.say(session, "run echo to the terminal > /proc/self/fd/1")
        assert answer["result"]["stopReason"] == "end_turn"
    assert "bye" in capfd.readouterr().err


async def hands_over(client: Client, folder: Path) -> str:
    """A session with an MCP server of the client's."""
    server = Path(__file__).parents[1] / "agent" / "mcp_server_to_start.py"
    given = {"name": "my server", "command": sys.executable, "args": [str(server), str(folder)]}
    return await client.new(mcpServers=[{**given, "env": []}])


async def test_an_mcp_server_of_the_client_s_is_used(tmp_path: Path) -> None:
    async with editor(tmp_path, "--yes") as client:
        session = await hands_over(client, tmp_path)
        await client.say(session, "ask my_server_say: hello")

    assert "you said hello" in client.text()


# what the editor holds


class Holding:
    """An editor with a file that is not saved."""

    def __init__(self, client: Client, held: dict[str, str]) -> None:
        self.client = client
        self.held = held
        self.silent = False
        self._seen = 0

    def serve(self) -> None:
        """Answer what was asked of its files since the last time."""
        for message in self.client.heard[self._seen :]:
            match message:
                case {"method": "fs/read_text_file", "params": {"path": path}} if path in self.held:
                    self._answer(message, {"content": self.held[path]})
                case {"method": "fs/read_text_file"}:
                    self._answer(message, None)
                case {"method": "fs/write_text_file", "params": params} if not self.silent:
                    self.held[params["path"]] = params["content"]
                    self._answer(message, {})
                case _:
                    pass
        self._seen = len(self.client.heard)

    def _answer(self, message: Message, result: Message | None) -> None:
        error = {"code": -32002, "message": "no such file"}
        rest = {"error": error} if result is None else {"result": result}
        self.client.write({"jsonrpc": "2.0", "id": message["id"], **rest})

    async def until(self, happened: Callable[[], object]) -> None:
        """Serve until it has."""

        def served() -> object:
            self.serve()
            return happened()

        await until(served)


async def offering(client: Client, **fs: bool) -> str:
    """A session of an editor that offers its files."""
    await client.ask("initialize", protocolVersion=1, clientCapabilities={"fs": fs})
    return await client.new()


async def test_what_is_not_saved_is_read_and_what_is_written_is_written_there(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("saved")
    (tmp_path / "b.txt").write_text("only on the disk")
    path = str(tmp_path / "a.txt")
    async with editor(tmp_path, "--yes") as client:
        session = await offering(client, readTextFile=True, writeTextFile=True)
        holding = Holding(client, {path: "not saved"})
        for words in ("read a.txt and b.txt", "write a.txt: new words"):
            request = client.prompt(session, words)
            client.write(request)
            await holding.until(
                lambda r=request: [m for m in client.heard if m.get("id") == r["id"]]
            )

    assert "returned: not saved" in client.text()
    assert "returned: only on the disk" in client.text()
    assert holding.held == {path: "new words"}
    assert (tmp_path / "a.txt").read_text() == "saved"


async def test_an_editor_that_offers_no_files_is_not_asked_for_any(tmp_path: Path) -> None:
    async with editor(tmp_path, "--yes") as client:
        session = await offering(client)
        await client.say(session, "write a.txt: new words")
        assert not [m for m in client.heard if str(m.get("method")).startswith("fs/")]

    assert (tmp_path / "a.txt").read_text() == "new words"


async def test_a_stop_takes_back_what_the_editor_was_asked_for(tmp_path: Path) -> None:
    async with editor(tmp_path, "--yes") as client:
        session = await offering(client, writeTextFile=True)
        request = client.prompt(session, "write a.txt: new words")
        client.write(request)
        await until(lambda: [m for m in client.heard if m.get("method") == "fs/write_text_file"])
        client.write(client.cancel(session))
        answer = await client.answered(request)
        await until(lambda: [m for m in client.heard if m.get("method") == "$/cancel_request"])

    assert answer["result"]["_meta"]["lastword"]["quiet"]
    assert [
        call["status"] for call in answer["result"]["_meta"]["lastword"]["receipt"]["calls"]
    ] == ["may have executed"]
