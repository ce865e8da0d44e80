"""Requests that could be read in two ways, or not at all, or that bring what could do harm later;
what leaves in answer to them; and those who leave before it does."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope

from lastword import Runtime
from lastword.server import ServerLimits, app
from lastword.server.asgi import CSP
from lastword.server.who import Who
from tests.promise.workshop import until
from tests.server.asking import entries
from tests.server.client import SECRET, read_answer, served, serving_engine, upto
from tests.server.engines import Doors, echo
from tests.server.hostile import door, raw, said

SMUGGLED = (
    ("content-length: 2", "transfer-encoding: chunked"),
    ("transfer-encoding: xchunked",),
    ("transfer-encoding: chunked, identity",),
    ("content-length: 2", "content-length: 3"),
    ("content-length: 2, 2",),
    ("content-length: +2",),
    ("content-length : 2",),
    ("content-length: 2", " transfer-encoding: chunked"),
    ("content-length: 99999999999999999999999999",),
)


@pytest.mark.parametrize("lines", SMUGGLED, ids=" / ".join)
async def test_a_request_of_two_lengths_is_refused_and_nothing_behind_it_is_read(
    lines: tuple[str, ...],
) -> None:
    engine = Doors()
    async with serving_engine(engine) as client:
        head = f"host: localhost:{client.port}", f"authorization: Bearer {SECRET}"
        behind = client.request("POST", "/v1/sessions/s/messages", b'{"text": "smuggled"}')
        json_ = "content-type: application/json"
        first = raw("POST /v1/sessions/s/stop HTTP/1.1", *head, json_, *lines)
        reader, writer = await client.open()
        writer.write(first + b"0\r\n\r\n" + behind)
        answer = await read_answer(reader)
        assert (answer.status, answer.problem) == (400, "bad-request")
        assert answer.headers["connection"] == "close"
        assert answer.headers["content-security-policy"] == CSP
        assert await reader.read() == b""
        writer.close()
        assert (await client.get("/v1/sessions")).json["sessions"] == []


async def test_odd_methods_and_targets_do_nothing() -> None:
    async with serving_engine(echo) as client:
        await client.send("s", "hello")
        head = f"host: localhost:{client.port}", f"authorization: Bearer {SECRET}"
        for first in (
            *("TRACE /v1/me HTTP/1.1", "OPTIONS * HTTP/1.1", "PUT /v1/sessions/s HTTP/1.1"),
            *("CONNECT localhost:80 HTTP/1.1", "FROBNICATE / HTTP/1.1", "GET /v1/é HTTP/1.1"),
            *("PRI * HTTP/2.0", "GET //v1/me HTTP/1.1", "GET /v1/sessions/%ff HTTP/1.1"),
            *(
                "GET /v1/sessions/a%00b HTTP/1.1",
                "GET /v1/../v1/me HTTP/1.1",
                "GET /assets/..%2f HTTP/1.1",
            ),
            *("GET /assets/../asgi.py HTTP/1.1", "GET /assets/%2e%2e/asgi.py HTTP/1.1"),
            *("POST /v1/me HTTP/1.1", "DELETE / HTTP/1.1", "GET /v1/sessions/s/ HTTP/1.1"),
        ):
            answer = await said(client, raw(first, *head))
            assert answer.status in {400, 404, 405}, first
            assert answer.headers["content-security-policy"] == CSP, first
            assert SECRET.encode() not in answer.body, first
        override = await client.post("/v1/sessions/s", None, x_http_method_override="DELETE")
        assert override.status == 405
        assert (await client.get("/v1/sessions/s")).status == 200


async def test_a_name_is_printable_and_cannot_be_mistaken_for_another() -> None:
    async with serving_engine(echo) as client:
        for name in ("%0a", "a%0d%0ab", "%23", "a%5cb", "%e2%80%ae", ".", "..", "x" * 201, "%7f"):
            answer = await said(client, client.request("GET", f"/v1/sessions/{name}"))
            assert answer.status in {400, 404}, name
            sent = client.request("POST", f"/v1/sessions/{name}/messages", b'{"text": "x"}')
            assert (await said(client, sent)).status in {400, 404}, name
        for name in ("x" * 200, "%c3%a9", "a%20b", "%25", "%3Cb%3E", "@", "'", "%22"):
            assert (await client.send(name, "hello")).status == 202, name
        assert len((await client.get("/v1/sessions")).json["sessions"]) == 8


POISON = (
    rb'{"text": "\ud800"}',
    b'{"text": "\xff\xfe"}',
    b'{"text": "\xed\xa0\x80"}',
    rb'{"text": "x", "id": "\udfff"}',
    rb'{"text": "x", "attachments": [{"media_type": "\ud800", "data": "x"}]}',
    b'{"text": ' + b"[" * 100_000,
    b'{"text": "x", "attachments": ' + b'[{"a":' * 100_000,
    b'{"text": 1e999}',
    b'{"text": "x", "heed_stop": 99999999999999999999999999999}',
    b'{"text": "x", "by": "somebody else"}',
    b'{"text": "x", "id": "m1"}',
    b'{"text": "x", "id": ""}',
    b'\xef\xbb\xbf{"text": "x"}',
    b'{"text": "x"} {"text": "y"}',
    b'["text"]',
    b"null",
    b"\x00",
)


async def test_words_that_are_none_poison_nothing() -> None:
    engine = Doors("well", "n\x00l\x1b[2J")
    async with serving_engine(engine) as client:
        for body in POISON:
            answer = await client.ask("POST", "/v1/sessions/s/messages", body)
            assert (answer.status, answer.problem) == (400, "bad-request"), body[:60]
        strange = await client.send("s", "n\x00l\x1b[2J", id="a\r\nb: \x00\x1b")
        assert strange.status == 202
        async with client.events("s") as events:
            await client.send("s", "well", on_message="queue")
            while (await upto(events, "ended"))[-1]["data"]["messages"] != ["m2"]:
                pass
        said_ = [one["message"]["text"] for one in await entries(client) if one["kind"] == "said"]
        assert said_ == ["n\x00l\x1b[2J", "well"]
        for rest in ("", "/export", "/transcript", "/receipts", "/queue"):
            assert (await client.get(f"/v1/sessions/s{rest}")).status == 200


# what leaves


async def test_whatever_leaves_is_labelled_and_nothing_of_it_is_a_page_but_the_page() -> None:
    script = "<script>alert(1)</script>"
    async with serving_engine(echo) as client:
        await client.send("%3Cscript%3E", script, id=script)
        for path in (
            *("/", "/nothing", "/healthz", "/readyz", "/metrics", "/v1/me", "/v1/openapi.json"),
            *("/v1/sessions", "/v1/sessions/%3Cscript%3E", "/v1/sessions/%3Cscript%3E/log"),
            *("/v1/sessions/%3Cscript%3E/export", "/v1/sessions/%3Cscript%3E/transcript"),
            *("/v1/sessions/%3Cscript%3Ex/log", "/v1/sessions?before=%3Cscript%3E", "/assets/x"),
            *(f"/v1/sessions?limit={script}", "/%3Cscript%3E"),
        ):
            for who in (client, client.as_(None)):
                answer = await said(client, who.request("GET", path))
                assert answer.headers["content-security-policy"] == CSP, path
                assert answer.headers["x-content-type-options"] == "nosniff", path
                assert answer.headers["x-frame-options"] == "DENY", path
                assert "server" not in answer.headers, path
                if path.startswith("/v1/sessions"):
                    assert answer.headers["cache-control"] == "no-store", path
                if answer.headers.get("content-type", "").startswith("text/html"):
                    assert path == "/", path
                    assert b"alert(1)" not in answer.body


async def test_a_mistake_of_ours_tells_nobody_what_is_inside() -> None:
    def broken(scope: Scope) -> Who | None:
        raise KeyError("/home/ann/secret.db", scope)

    async with Runtime(echo) as runtime:
        served_ = app(runtime, who=broken)
        sent: list[Message] = []

        async def receive() -> Message:
            raise AssertionError("nothing is read")

        await _ask(served_, receive, sent)
        assert sent[0]["status"] == 500
        assert (b"content-security-policy", CSP.encode()) in sent[0]["headers"]
        problem = json.loads(sent[1]["body"])
        assert problem["type"] == "urn:lastword:problem:internal"
        assert "secret" not in json.dumps(problem)


async def _ask(served_: Any, receive: Receive, sent: list[Message]) -> None:
    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/v1/me", "raw_path": b"/v1/me"}
    rest = {"query_string": b"", "headers": [(b"host", b"localhost")], "root_path": ""}
    await served_({**scope, **rest}, receive, send)


async def test_no_log_has_what_was_said_or_who_has_which_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    async with door() as (client, keys):
        code = keys.new_link()
        key = (await client.post("/v1/keys", {"code": code})).json["key"]
        own, bad = client.as_(SECRET), client.as_("a token that is nobody's")
        async with own.events("s") as events:
            await own.send("s", "the words that were said", id="a\nforged line level=ERROR")
            await upto(events, "ended")
        await bad.send("s", "the words that were said")
        await client.as_(key).get("/v1/me")
        await own.ask("POST", "/v1/sessions/s/messages", b'{"text": "the words')
        await own.post("/v1/sessions/s/stop", {"run": "the words", "reason": "the words"})
        await said(own, b"the words that were said\r\n\r\n")
        await own.stop("s")
    secrets = ("the words", SECRET, "nobody's", code, key, "forged line")
    lines = [caplog.handler.format(record) for record in caplog.records]
    assert [line for line in lines if re.search("accepted session=s", line)]
    assert [line for line in lines for secret in secrets if secret in line] == []


# the promise, for those who leave or come back


@pytest.mark.scenario("A9", part="server")
async def test_who_leaves_in_the_middle_of_asking_has_asked_or_has_not() -> None:
    engine = Doors()
    async with serving_engine(engine) as client:
        request = client.request("POST", "/v1/sessions/s/messages", b'{"text": "go", "id": "one"}')
        _, writer = await client.open()
        writer.write(request[:-1])
        writer.close()
        _, writer = await client.open()
        writer.write(request)
        writer.close()
        await until(lambda: engine.runs)
        again = await client.send("s", "go", id="one")
        assert again.json["run"] == "s#1"
        assert engine.order == ["go"]

        reader, writer = await client.open()
        writer.write(client.request("POST", "/v1/sessions/s/stop"))
        writer.close()
        await until(lambda: not engine.runs["go"].current)
        assert await reader.read() == b""
        receipts = (await client.get("/v1/sessions/s/receipts")).json["receipts"]
        assert [one["runs"] for one in receipts] == [["s#1"]]


async def test_a_stop_is_heeded_whoever_else_makes_noise() -> None:
    engine = Doors()
    limits = ServerLimits(requests=4)
    async with Runtime(engine) as runtime, served(runtime, limits=limits) as client:
        nobody = client.as_(None)
        await client.send("s", "go")
        noise = [nobody.get("/readyz") for _ in range(50)]
        answer, *_ = await asyncio.gather(client.post("/v1/sessions/s/stop"), *noise)
        assert answer.json["receipt"]["runs"] == ["s#1"]
