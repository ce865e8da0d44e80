"""What was allowed in a program that waited, or to an agent below, is on record as well."""

import asyncio
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from lastword import Runtime, cells
from lastword.agent.assistant import assistant
from lastword.agent.rehearsal import Rehearsal
from lastword.cells import Err
from lastword.cli import records
from lastword.core.entries import Answered, Asked, Called, Entry
from tests.agent.to_the_letter import call, talking
from tests.promise.workshop import until
from tests.server.client import served

WRITE = "await write_file('a.txt', 'hello')"
WAIT = f"{WRITE}\nawait shell('sleep 1000')"


def on_record(log: tuple[Entry, ...]) -> list[Asked | Answered]:
    return [entry for entry in log if isinstance(entry, Asked | Answered)]


@pytest.mark.scenario("W38", part="agent")
async def test_who_allowed_a_call_of_a_program_is_in_log_receipt_and_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:{tmp_path / 'kept.db'}"
    files = tmp_path / "files"
    files.mkdir()
    async with talking(files, store=store) as talk:
        await talk.does(call("run_code", source=WAIT, pause=True))
        [stored] = await cells.paused(talk.runtime)
        assert stored.record.frontier
        [pending] = stored.record.frontier.pending
        talk.model.calls.append(call("shell", command="sleep 1000"))
        await cells.resume(talk.session, stored.id, 1, allow=[pending.id], by="ann")
        await talk.question()  # of the model, which went on after the program stood again
        receipt = await talk.session.stop()

        [answer] = receipt.answers
        assert (answer.name, answer.subject, answer.by) == ("write_file", "a.txt", "ann")
        assert "people said: ann allowed write_file `a.txt`" in str(receipt)
        log = await talk.session.log()
        first, second = on_record(log)[:2]
        assert isinstance(first, Asked)
        assert isinstance(second, Answered)
        assert (first.tool, first.subject, second.by) == ("write_file", "a.txt", "ann")
        written = [one.call for one in log if isinstance(one, Called) and one.name == "write_file"]
        assert [first.call, second.call] == [written[0], written[0]]

    await asyncio.to_thread(records.main, "export", store, "s")
    exported = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["by"] for line in exported if line["kind"] == "answered"] == ["ann"]


@pytest.mark.scenario("W38", part="agent")
async def test_who_refused_a_call_of_a_program_is_in_the_log(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        await talk.does(call("run_code", source=WRITE, pause=True))
        [stored] = await cells.paused(talk.runtime)
        assert stored.record.frontier
        [pending] = stored.record.frontier.pending
        refused = {pending.id: Err("the person did not allow it")}
        await (await cells.resume(talk.session, stored.id, 1, refused, by="ann")).outcome()

        asked, answered = on_record(await talk.session.log())
        assert isinstance(asked, Asked)
        assert isinstance(answered, Answered)
        assert (asked.call, asked.tool, asked.subject) == (pending.id, "write_file", "a.txt")
        assert (answered.allowed, answered.by) == (False, "ann")


@pytest.mark.scenario("W39", part="agent")
@pytest.mark.scenario("W39", part="server")
async def test_what_an_agent_below_was_allowed_is_on_record_where_the_person_was_asked(
    tmp_path: Path,
) -> None:
    agent = assistant(Rehearsal(pace=0), roots=[tmp_path])
    before = agent.questions.as_before_tool()
    async with (
        Runtime(agent.engine, before_tool=before, grace=0.25) as runtime,
        served(runtime, questions=agent.questions) as client,
    ):
        session = runtime.session("s")
        await session.send("delegate run sleep 1000")
        await until(agent.questions.open)
        [question] = agent.questions.open()
        assert question.session != "s"
        agent.questions.answer(question.id, True, question.generation, always=True, by="ann")
        await until(lambda: not agent.questions.open())
        receipt = await session.stop()

        [answer] = receipt.answers
        assert "ann allowed shell `sleep 1000` (always this exact command)" in str(receipt)
        here = on_record(await session.log())
        assert [(type(one).__name__, one.call) for one in here] == [
            ("Asked", answer.call),
            ("Answered", answer.call),
        ]
        child = quote(question.session, safe="")
        below = await client.get(f"/v1/sessions/s/log?below={child}")
        kinds = [entry["kind"] for entry in below.json["entries"]]
        assert ("asked" in kinds, "answered" in kinds) == (True, True)
        await runtime.session("another").send("say hello")
        for not_below in ("s%239%2F9", "s", "another"):
            assert (await client.get(f"/v1/sessions/s/log?below={not_below}")).status == 404
