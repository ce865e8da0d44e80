"""Whatever is written to it, the agent answers what it owes an answer, and lives on."""

import logging
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.acp.client import Client, editor
from tests.acp.corpus import line, mangled, owed, requests, wrong_everywhere
from tests.acp.inside import inside
from tests.promise.workshop import until

AT_ONCE = 50


async def works(client: Client) -> None:
    """A prompt is answered as ever."""
    session = await client.new()
    await client.ask("session/set_mode", sessionId=session, modeId="takeover")
    since = len(client.heard)
    answer = await client.say(session, "count to 3")
    assert answer["result"] == {"stopReason": "end_turn"}
    assert client.text(since) == "1 2 3"


async def every_line_is_answered(client: Client, lines: list[bytes]) -> None:
    """Write them; each that wants an answer has one, and no other has."""
    since = len(client.heard)
    client.write(b"".join(one + b"\n" for one in lines))
    wanted = Counter(map(str, (id_ for one in lines for id_ in owed(one))))

    def answers() -> "Counter[str]":
        told = [m for m in client.heard[since:] if "method" not in m]
        return Counter(str(m["id"]) for m in told)

    await until(lambda: answers().total() >= wanted.total())
    assert answers() == wanted


async def numbered(client: Client) -> list[bytes]:
    """One of each, for a session that is there, each under an id of its own."""
    session = await client.new()
    messages = requests(session, str(client.folder))
    for message in messages:
        if message.get("id") == 0:
            message["id"] = client.request("")["id"]
    return [line(message) for message in messages]


async def test_at_every_key_of_every_method_what_does_not_belong_there_has_its_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "lastword")
    async with inside(tmp_path) as client:
        session = await client.new()
        for message in requests(session, str(tmp_path)):
            lines: list[bytes] = []
            for wrong in wrong_everywhere(message):
                if wrong.get("id") == 0:
                    wrong["id"] = client.request("")["id"]
                lines.append(line(wrong))
            await every_line_is_answered(client, lines)
        await works(client)

    broken = [m for m in client.heard if m.get("error", {}).get("code") == -32603]
    assert [m["error"]["message"] for m in broken] == []
    assert caplog.messages == []


async def test_whatever_happens_to_lines_on_their_way_each_is_answered(
    tmp_path: Path, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "lastword")
    chance = random.Random(seed)
    async with inside(tmp_path) as client:
        for _ in range(20):
            lines = await numbered(client)
            await every_line_is_answered(client, [mangled(lines, chance) for _ in range(AT_ONCE)])
        await works(client)
    assert caplog.messages == []


async def test_a_process_of_its_own_survives_it_as_well(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with editor(tmp_path, "--yes") as client:
        for _ in range(4):
            lines = await numbered(client)
            await every_line_is_answered(client, [mangled(lines, chance) for _ in range(AT_ONCE)])
        await works(client)
        assert client.process.returncode is None
