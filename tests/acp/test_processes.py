"""What goes on under an id, typed in an editor: read, written to, signalled and ended."""

import re
from pathlib import Path

import pytest

from tests.acp.sdk import Editor, sdk_editor
from tests.promise.workshop import gone, until

LINE = "echo up; trap 'echo interrupted' INT; while :; do if read -r a; then echo got $a; fi; done"
START = f"ask shell: {LINE} | 0 | . | false | true | true"  # with an input, in the background


async def typed(client: Editor, session: str, words: str) -> str:
    """What is said to a command."""
    since = len(client.person.updates)
    answer = await client.say(session, f"/processes {words}".rstrip())
    assert answer.stop_reason == "end_turn"
    return client.person.text(since)


async def reads(client: Editor, session: str, id_: str, wanted: str) -> str:
    """What is read, once this is in it."""
    while wanted not in (found := await typed(client, session, f"read {id_}")):
        pass
    return found


@pytest.mark.scenario("P27", part="acp")
async def test_a_process_is_read_written_to_signalled_and_ended_from_an_editor(
    tmp_path: Path,
) -> None:
    async with sdk_editor(tmp_path) as client:
        session = await client.new()
        assert await typed(client, session, "") == "Nothing goes on under an id."
        await client.say(session, START)
        row = await typed(client, session, "")
        found = re.fullmatch(r"(p\d+)  (\d+)  kept  echo up; .*", row)
        assert found, row
        id_, pid = found[1], int(found[2])

        assert f"up\n{id_}: 3 bytes. It goes on." == await reads(client, session, id_, "up")
        told = await typed(client, session, f"write {id_} one two")
        assert told == f"{id_} has been given it."
        read = await reads(client, session, id_, "got")
        assert read == f"up\ngot one two\n{id_}: 15 bytes. It goes on."
        read = await typed(client, session, f"read {id_} 7")
        assert read == f"one two\n{id_}: 15 bytes. It goes on."
        told = await typed(client, session, f"signal {id_} int")
        assert told == f"SIGINT was sent to {id_}."
        await reads(client, session, id_, "interrupted")
        assert (await typed(client, session, f"end {id_}")).startswith(f"Ended: {id_} echo up;")
        await until(lambda: gone(pid))

        assert await typed(client, session, "") == "Nothing goes on under an id."
        read = await typed(client, session, f"read {id_}")
        assert re.search(rf"{id_}: \d+ bytes. It has ended: .*as the person wanted", read)
        for late in ("signal {} int", "end {}"):
            told = await typed(client, session, late.format(id_))
            assert f"{id_} has ended, so nothing was done: " in told
        assert "reads no more" in await typed(client, session, f"write {id_} x")


@pytest.mark.scenario("P27", part="acp")
async def test_what_is_typed_wrongly_in_an_editor_is_said_and_does_nothing(tmp_path: Path) -> None:
    async with sdk_editor(tmp_path) as client:
        session = await client.new()
        await client.say(session, START)
        [id_] = re.findall(r"^p\d+", await typed(client, session, ""))

        assert "say one of these: read ID" in await typed(client, session, "kill")
        assert "nothing here has the id 'p99'" in await typed(client, session, "end p99")
        told = await typed(client, session, f"signal {id_} loud")
        assert "there is no signal 'loud'" in told
        assert "begins at a number of bytes" in await typed(client, session, f"read {id_} -1")
        assert f"{id_}  " in await typed(client, session, "")
