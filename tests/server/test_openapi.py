"""The OpenAPI document: it tells all that can be asked, and the server does what it tells."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from typing import Any, cast

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode, checks

from lastword import Run, Runtime
from lastword.agent.permission import Questions
from lastword.server.operations import OPERATIONS
from tests.server.client import SECRET, Client, frames_in, read_head, served, serving_engine, upto
from tests.server.conforming import told, validator
from tests.server.engines import Doors, echo

_EXAMPLES = 10  # of each operation, of each sort
_CHECKS: Any = cast("Any", checks)
_ALWAYS: list[Any] = [
    _CHECKS.not_a_server_error,
    _CHECKS.status_code_conformance,
    _CHECKS.content_type_conformance,
]


def loaded(document: dict[str, Any]) -> Any:
    """The document, as a program reads it."""
    return cast("Any", schemathesis.openapi).from_dict(document)


def refs(part: object) -> Iterator[str]:
    """Every reference in a document."""
    if isinstance(part, dict):
        for name, inner in cast("dict[str, object]", part).items():
            if name == "$ref":
                yield str(inner)
            yield from refs(inner)
    elif isinstance(part, list):
        for inner in cast("list[object]", part):
            yield from refs(inner)


def test_the_document_is_valid_and_every_reference_leads_somewhere() -> None:
    schema = loaded(told())
    schema.validate()
    found = [one.ok().label for one in schema.get_all_operations()]
    assert len(found) == len(OPERATIONS)
    for ref in refs(told()):
        name = ref.removeprefix("#/components/schemas/")
        assert name in told()["components"]["schemas"], ref


def test_every_operation_is_told_with_what_it_takes_and_what_may_go_wrong() -> None:
    for operation in OPERATIONS:
        way = told()["paths"][operation.path][operation.method.lower()]
        assert ("requestBody" in way) is (operation.takes is not None)
        assert str(operation.status) in way["responses"]
        assert ("401" in way["responses"]) is not operation.open
        if operation.right:
            assert f"right to {operation.right}" in way["description"]
    names = [way["operationId"] for ways in told()["paths"].values() for way in ways.values()]
    assert len(set(names)) == len(names)


async def test_the_server_gives_its_document_and_says_what_cannot_be_done_at_a_path() -> None:
    async with serving_engine(echo) as client:
        answer = await client.get("/v1/openapi.json")
        assert answer.json == told()
        able: dict[str, set[str]] = {}
        for operation in OPERATIONS:
            able.setdefault(operation.path, set()).add(operation.method)
        for path, methods in able.items():
            named = path.replace("{", "").replace("}", "")
            for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} - methods:
                answer = await client.ask(method, named)
                assert (answer.status, answer.problem) == (405, "method-not-allowed")
                assert set(answer.headers["allow"].split(", ")) == methods
        for path in ("/v1", "/v1/", "/v1/sessions/", "/v2/sessions", "/nothing", "/v1/sessions/s/"):
            answer = await client.get(path)
            assert (answer.status, answer.problem) == (404, "not-found"), path


async def test_events_snapshots_and_entries_are_as_they_are_told() -> None:
    async def shell(command: str) -> str:
        return f"ran {command}"

    async def engine(run: Run) -> None:
        async with run.typing():
            await run.think("hm")
            await run.emit("Let me see. ")
            await run.progress("looking")
            await run.call(shell, "make")
            if run.message.text == "for ever":
                await asyncio.Event().wait()

    questions = Questions()
    async with (
        Runtime(engine, before_tool=questions.as_before_tool()) as runtime,
        served(runtime, questions=questions) as client,
        client.events("s") as events,
        frames(client) as raw,
    ):
        seen = [await anext(raw)]
        await client.send("s", "for ever")
        told = await upto(events, "question")
        question = told[-1]["data"]["question"]
        await client.send("s", "then", on_message="queue")
        allowed = {"allow": True, "generation": question["generation"]}
        await client.post(f"/v1/sessions/s/permissions/{question['id']}", allowed)
        await upto(events, "question")
        async with frames(client) as others:
            seen.append(await anext(others))
        await client.stop("s")
        async for event in raw:
            seen.append(event)
            if any(map(is_receipt, event["changes"])):
                break
        async with frames(client) as others:
            seen.append(await anext(others))

        changes = [change for event in seen for change in event.get("changes", [])]
        kinds = {change["change"] for change in changes}
        assert kinds >= {"messageis", "pendingis", "placed", "partis", "turnis", "phaseis"}
        assert kinds >= {"queueis", "askopened", "askclosed", "waitis"}
        parts = {change["part"]["kind"] for change in changes if "part" in change}
        assert parts == {"text", "thinking", "progress", "call"}
        for event in seen:
            validator(event["kind"].capitalize()).validate(event)
        log = (await client.get("/v1/sessions/s/log")).json
        for entry in log["entries"]:
            validator("EntryOut").validate(entry)


@asynccontextmanager
async def frames(client: Client) -> AsyncGenerator[AsyncIterator[Any]]:
    """Events as they are."""
    reader, writer = await client.open()
    writer.write(client.request("GET", "/v1/sessions/s/events"))
    await read_head(reader)
    try:
        yield frames_in(reader)
    finally:
        writer.close()


def is_receipt(change: Any) -> bool:
    return change["change"] == "placed" and change["item"]["kind"] == "receipt"


@contextmanager
def beside() -> Generator[str]:
    """A server in a thread of its own, with a session that has a past; where it is."""
    ready, where = threading.Event(), list[str]()
    end: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        engine = Doors("one", "three")
        async with Runtime(engine) as runtime, served(runtime) as client:
            for text in ("one", "two", "three"):
                await client.send("s", text)
            over = asyncio.Event()
            end.append((asyncio.get_running_loop(), over))
            where.append(f"http://127.0.0.1:{client.port}")
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        ready.wait(30)
        yield where[0]
    finally:
        [(loop, over)] = end
        loop.call_soon_threadsafe(over.set)
        thread.join()


def ask_all_sorts_of_things(operation: Any, sort: GenerationMode, where: str) -> int:
    """Ask for one operation again and again, rightly or wrongly; how often."""
    times = count()
    known = sort is GenerationMode.POSITIVE and operation.label != "DELETE /v1/sessions/{session}"

    @settings(
        max_examples=_EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        phases=[Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=sort))
    def ask(case: Any) -> None:
        if known and "session" in case.path_parameters and next(times) % 2:
            case.path_parameters["session"] = "s"  # which there is
        answer = case.call(base_url=where, headers={"Authorization": f"Bearer {SECRET}"})
        # schemathesis does not know that what is too large has been rejected as well
        rejected = [] if answer.status_code == 413 else [_CHECKS.negative_data_rejection]
        # nor that an event stream is a string: what it has in it is AG-UI's, and held elsewhere
        streams = answer.headers["content-type"][0].startswith("text/event-stream")
        shaped = [] if streams else [_CHECKS.response_schema_conformance]
        case.validate_response(answer, checks=[*_ALWAYS, *shaped, *rejected])
        asked.append(case)

    asked: list[Any] = []
    ask()
    return len(asked)


def test_whatever_is_asked_the_server_answers_as_the_document_says() -> None:
    # without its security: who asks is told apart elsewhere
    document = {name: part for name, part in told().items() if name != "security"}
    schema = loaded(document)
    asked: dict[str, int] = {}
    with beside() as where:
        for operation in (one.ok() for one in schema.get_all_operations()):
            if operation.path.endswith("/events"):
                continue  # it is answered for ever
            asked[operation.label] = ask_all_sorts_of_things(
                operation, GenerationMode.POSITIVE, where
            )
            if "{" in operation.path or operation.query or operation.body:
                asked[operation.label] += ask_all_sorts_of_things(
                    operation, GenerationMode.NEGATIVE, where
                )

    assert len(asked) == len(OPERATIONS) - 2
    assert sum(asked.values()) > 200
