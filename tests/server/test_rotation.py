"""Tokens that are replaced while a server goes on: who has lost theirs sees no more."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from lastword import Engine, Runtime
from lastword.cli.notify import Supervisor
from lastword.server.asgi import LOOPBACK
from lastword.server.desk import ServerState
from lastword.server.limits import ServerLimits
from lastword.server.serve import listen, serving
from lastword.server.who import ALL, ApiToken, Keys
from tests.promise.workshop import until
from tests.server.agui_stories import body, user
from tests.server.client import Client, read_head, upto
from tests.server.engines import Doors, echo
from tests.server.process import Server

ANN, BOB, NEW = "ann has this long token", "bob has this long token", "a new and very long token"


@asynccontextmanager
async def desk_of(
    engine: Engine, *tokens: ApiToken, **settings: Any
) -> AsyncGenerator[tuple[ServerState, Client]]:
    listening, keys = listen("127.0.0.1", 0), Keys(tokens)
    async with Runtime(engine, **settings) as runtime:
        desk = ServerState(runtime, None, keys, ServerLimits(), "an engine")
        async with serving(desk, listening, hosts=LOOPBACK):
            yield desk, Client(listening.getsockname()[1], ANN)


async def status(client: Client) -> int:
    return (await client.get("/v1/me")).status


async def kinds(events: Any) -> list[str]:
    """What is told until the stream ends."""
    return [event["kind"] async for event in events]


@pytest.mark.scenario("O11")
@pytest.mark.parametrize(
    "now",
    [
        (),
        (ApiToken(NEW, "bob", principal="home"),),
        (ApiToken(BOB, "bob", ["read"], "home"),),
        (ApiToken(BOB, "bob", principal="elsewhere"),),
    ],
    ids=["gone", "another secret", "fewer rights", "another principal"],
)
async def test_who_has_lost_a_token_sees_no_more_and_all_others_notice_nothing(
    now: tuple[ApiToken, ...], caplog: pytest.LogCaptureFixture
) -> None:
    ann = ApiToken(ANN, "ann", principal="home")
    doors = Doors()
    async with (
        desk_of(doors, ann, ApiToken(BOB, "bob", principal="home")) as (desk, client),
        client.events("s") as hers,
        client.as_(BOB).events("s") as his,
    ):
        await client.send("s", "wait")
        for events in (hers, his):
            await upto(events, "text")

        with caplog.at_level(logging.WARNING):
            ended = desk.replace_tokens([ApiToken(ANN, "ann", principal="home"), *now])
            doors.let("wait")
            await upto(hers, "ended")

        assert ended == 1
        assert "ended" not in await kinds(his), "it is told nothing that came later"
        assert await status(client) == 200
        kept = any(token.secret == BOB for token in now)
        assert await status(client.as_(BOB)) == (200 if kept else 401)
        assert caplog.records == []


@pytest.mark.scenario("O11")
async def test_the_same_tokens_once_more_change_nothing() -> None:
    tokens = [ApiToken(ANN, "ann"), ApiToken(BOB, "bob", ["read", "stop"])]
    doors = Doors()
    async with desk_of(doors, *tokens) as (desk, client), client.events("s") as events:
        await client.send("s", "wait")
        await upto(events, "text")

        assert desk.replace_tokens(reversed(tokens)) == 0

        doors.let("wait")
        await upto(events, "ended")


@pytest.mark.scenario("O11")
async def test_a_page_that_a_link_opened_stays_open() -> None:
    async with desk_of(echo, ApiToken(ANN, "local")) as (desk, client):
        assert desk.keys
        page = client.as_(desk.keys.open(desk.keys.new_link()))
        async with page.events("s") as events:
            await upto(events, "snapshot")
            assert desk.replace_tokens([]) == 0
            await page.send("s", "hello")
            await upto(events, "ended")
        assert await status(client) == 401


@pytest.mark.scenario("O11")
async def test_a_stream_that_is_asked_for_as_the_token_goes_is_refused_or_ended() -> None:
    """Whatever the server was doing for it when the token went."""
    async with desk_of(echo, ApiToken(ANN, "ann")) as (desk, client):
        await client.send("s", "hello")
        for turns in range(60):
            desk.replace_tokens([ApiToken(ANN, "ann")])
            reader, writer = await client.open()
            with closing(writer):
                writer.write(client.request("GET", "/v1/sessions/s/events"))
                await writer.drain()
                for _ in range(turns):
                    await asyncio.sleep(0)
                desk.replace_tokens([])
                head, _ = await read_head(reader)
                await reader.read()  # to its end, which comes
            assert head in {200, 401}
        assert desk.shares.watchers.total() == 0


@pytest.mark.scenario("O11")
async def test_a_run_over_agui_is_stopped_with_the_token_of_who_asked_for_it() -> None:
    """To lose the stream is to leave it, and to leave it is a stop."""
    bob = ApiToken(BOB, "bob", ALL, "ann")
    async with (
        desk_of(Doors(), ApiToken(ANN, "ann"), bob) as (desk, client),
        client.as_(BOB).events("t") as events,
    ):
        reader, writer = await client.open()
        with closing(writer):
            told = json.dumps(body(messages=[user("wait")])).encode()
            writer.write(client.request("POST", "/v1/agui", told))
            await read_head(reader)
            await upto(events, "text")

            desk.replace_tokens([bob])

            await upto(events, "stopped")


# as a process


class WithTokens(Server):
    """A server with a file of tokens, which may be changed."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.file = home / "tokens.toml"
        self.options = ("--tokens", str(self.file), "--log-level", "info")

    def write(self, text: str) -> None:
        self.file.touch(0o600)
        self.file.write_text(text)

    def reread(self) -> None:
        self.process.send_signal(signal.SIGUSR1)


def a_token(name: str, token: str) -> str:
    return f"[{name}]\ntoken = {token!r}\n"


@pytest.mark.scenario("O11")
async def test_a_server_reads_its_tokens_anew_when_it_is_told_to(tmp_path: Path) -> None:
    server = WithTokens(tmp_path)
    server.write(a_token("ann", ANN) + a_token("bob", BOB))
    server.start()
    try:
        ann, bob = server.client.as_(ANN), server.client.as_(BOB)
        async with ann.events("s") as hers, bob.events("s") as his:
            await upto(his, "snapshot")
            server.write(a_token("ann", ANN) + a_token("cat", NEW))
            server.reread()

            read = f"INFO lastword the tokens were read anew path={server.file} tokens="
            await until(lambda: f"{read}2 streams_ended=1\n" in server.heard)
            assert await kinds(his) == []
            assert await status(bob) == 401
            assert await status(bob.as_(NEW)) == 200
            assert await status(server.client) == 200, "its person's own is not in the file"

            for wrong, why in (("[ann", "Expected"), (a_token("ann", "tooshort"), "too short")):
                server.write(wrong)
                server.reread()
                await until(lambda why=why: why in server.heard)
            assert server.heard.count("the tokens are as they were: ") == 2
            assert "tooshort" not in server.heard
            server.file.unlink()
            os.mkfifo(server.file, 0o600)
            server.reread()
            await until(lambda: f"as they were: {server.file} is no regular file" in server.heard)

            await ann.send("s", "hello")
            await upto(hers, "ended")

            server.file.unlink()
            server.write("")
            server.reread()
            await until(lambda: "WARNING lastword no token is left: " in server.heard)
            assert f"{read}0 streams_ended=1\n" in server.heard
            assert await status(ann) == 401
        assert "Goodbye" in await asyncio.to_thread(server.end, signal.SIGTERM)
    finally:
        server.kill()


async def test_a_server_without_such_a_file_says_that_there_is_none(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    try:
        server.process.send_signal(signal.SIGUSR1)
        await until(lambda: "there is no file of tokens" in server.heard)
        assert await status(server.client) == 200
    finally:
        server.kill()


# whoever supervises it


@pytest.mark.scenario("O12")
@pytest.mark.parametrize("kind", ["path", "abstract"])
async def test_a_supervisor_is_told_when_the_server_can_be_asked(tmp_path: Path, kind: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        name = str(tmp_path / "notify") if kind == "path" else f"@{tmp_path}/notify"
        told.bind(name if kind == "path" else f"\0{name[1:]}")
        server = Server(tmp_path)
        server.environment["NOTIFY_SOCKET"] = name
        server.start()
        try:
            assert await asyncio.to_thread(told.recv, 100) == b"READY=1"
            assert await status(server.client) == 200
        finally:
            server.kill()


@pytest.mark.scenario("O12")
def test_what_the_server_starts_is_not_told_where_the_supervisor_listens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", "@nobody listens here")

    supervisor = Supervisor.found()

    assert "NOTIFY_SOCKET" not in os.environ
    supervisor.tell("READY=1")  # and who does not listen is not waited for
