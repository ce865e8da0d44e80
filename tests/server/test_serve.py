"""`lastword serve` as a process of its own: from the link it prints to its last word."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from collections.abc import Generator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from lastword.cli.entry import main
from tests.server.asking import outcomes
from tests.server.client import upto
from tests.server.process import ENGINE, Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """The one that all of these ask."""
    served = Server(tmp_path_factory.mktemp("served"))
    served.start()
    try:
        code = {"code": served.link}
        served.key = asyncio.run(served.client.as_(None).post("/v1/keys", code)).json["key"]
        yield served
    finally:
        served.kill()


@pytest.fixture(autouse=True)
def at_home(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is typed here is typed by the person whose server it is."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)


SERVE_NEEDY = ("serve", "--engine", "needy_engine:engine", "--store", "memory:")


def typed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """What a command line answers."""
    code: Any = 0
    try:
        main(words)
    except SystemExit as left:
        code = left.code or 0
    finally:
        gc.enable()  # a server that starts does without for a while
    told = capsys.readouterr()
    return int(code), told.out, told.err


async def test_the_link_opens_the_page_once_and_the_printed_token_is_good(
    server: Server,
) -> None:
    assert (await server.client.get("/v1/me")).json["agent"] == ""
    nobody = server.client.as_(None)
    assert (await server.client.as_(server.key).get("/v1/me")).status == 200
    await nobody.post("/v1/keys", {"code": server.link})
    again = await nobody.post("/v1/keys", {"code": server.link})
    assert (again.status, again.problem) == (410, "used-link")
    assert (await nobody.get("/v1/me")).status == 401
    assert b"<!doctype html>" in (await nobody.get("/")).body.lower()


async def test_a_session_is_stopped_from_a_shell_and_the_exit_code_says_how_it_went(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    client = server.client
    at = ("--url", server.url)
    async with client.events("shell") as events:
        await client.send("shell", "wait for it", id="it")
        await upto(events, "text")
        code, _, why = typed(capsys, "stop", "shell", "--run", "shell#7", *at)
        assert (code, "neither active nor waiting" in why) == (1, True)
        code, told, _ = typed(capsys, "stop", "shell", *at)
        assert (code, told.startswith("Stopped shell: 1 answer cut off, quiet")) == (0, True)
        await upto(events, "stopped")
        assert await outcomes(client, "shell") == {"it": "stopped"}
    code, told, _ = typed(capsys, "stop", "shell", *at)
    assert (code, told) == (3, "Nothing was running in shell.\n")


@pytest.fixture
def in_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Server]:
    """One whose engine is in the server's own process."""
    served = Server(tmp_path)
    served.start("--in-process")
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)
    try:
        yield served
    finally:
        served.kill()


async def test_a_stop_that_leaves_something_says_so_by_its_exit_code(
    server: Server, in_process: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is deaf to being cancelled ends with its process, if it has one of its own."""
    codes: list[int] = []
    for one in (in_process, server):
        async with one.client.events("deaf") as events:
            await one.client.send("deaf", "deaf to it")
            await upto(events, "text")
            at = ("--url", one.url, "--token", one.token)
            code, told, _ = typed(capsys, "stop", "deaf", *at)
            codes.append(code)
            assert ("deaf#1" in told) == (one is in_process)
    assert codes == [4, 0]


@pytest.mark.scenario("Z23")
async def test_an_engine_that_is_served_is_not_in_the_servers_process(
    server: Server, in_process: Server
) -> None:
    async def where(one: Server) -> int:
        async with one.client.events("where") as events:
            await one.client.send("where", "where are you", id="it")
            await upto(events, "ended")
            log = await one.client.get("/v1/sessions/where/log")
        return int(str(log.json).partition(" in ")[2].split("'")[0])

    assert await where(server) != server.process.pid
    assert await where(in_process) == in_process.process.pid


@pytest.mark.scenario("Z23")
async def test_an_engine_that_spins_holds_up_nobody_and_is_stopped(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    client = server.client
    async with client.events("spins") as events:
        await client.send("spins", "spin", id="it")
        await upto(events, "text")
        async with client.events("beside") as others:
            await client.send("beside", "hello")
            await upto(others, "ended")
        code, told, _ = typed(capsys, "stop", "spins", "--url", server.url)

    assert (code, told.startswith("Stopped spins: 1 answer cut off, quiet")) == (0, True)


@pytest.mark.scenario("Z23")
def test_a_module_that_no_fork_may_have_is_served_slowly_and_that_is_said(
    tmp_path: Path,
) -> None:
    served = Server(tmp_path, engine="tests.cli.threaded_engine:engine")
    try:
        served.start()
        assert "Each run imports the engine for itself, and starts slowly" in served.heard
        assert "importing it starts a thread" in served.heard
    finally:
        served.kill()


async def test_a_stop_that_cannot_be_asked_for_says_why(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, why in (
        (("--url", "http://127.0.0.1:9"), "no server of yours runs at http://127.0.0.1:9"),
        (("--url", "http://127.0.0.1:9", "--token", "mine"), "does not answer"),
        (("--url", "nonsense"), "is the address of a server"),
        (("--url", "http://192.0.2.1"), "say --token"),
        (("--url", server.url, "--token", "wrong"), "No token that is known here"),
    ):
        code, told, error = typed(capsys, "stop", "s", *words)
        assert (code, told) == (1, "")
        assert error.startswith("lastword stop: ")
        assert why in error, error


async def test_an_orderly_end_tells_who_watches_and_loses_nothing(server: Server) -> None:
    client, key = server.client, server.key
    async with AsyncExitStack() as watching:
        events = await watching.enter_async_context(client.events("s"))
        idle = await watching.enter_async_context(client.events("idle"))
        sent = (await client.send("s", "wait here", id="here")).json
        await client.send("s", "then this", id="this", on_message="queue")
        await upto(events, "text")
        ending = asyncio.to_thread(server.end, signal.SIGTERM)
        told, seen = await asyncio.gather(ending, rest(events))
        assert [event["kind"] async for event in idle] == ["snapshot", "closed"]

    assert "Goodbye" in told
    kinds = [event["kind"] for event in seen if event["kind"] != "queue"]
    assert kinds[-2:] == ["stopped", "closed"]
    [ended] = [event for event in seen if event["run"] == "s#1"]
    assert (ended["kind"], ended["text"]) == ("ended", "shutdown")

    server.start()
    before, client = client, server.client
    assert (await client.get("/v1/me")).status == 200
    assert (await before.get("/v1/me")).status == 401, "a token is of one start"
    assert (await client.as_(key).get("/v1/me")).status == 200, "the page's key is of more"
    again = (await client.send("s", "wait here", id="here")).json
    assert (again["run"], again["outcome"]) == (sent["run"], "shutdown")
    known = (await client.get("/v1/sessions/s")).json
    assert known["generation"] > sent["generation"]
    async with client.events("s", last_event_id=seen[-1]["id"]) as events:
        snapshot = await anext(events)
    assert snapshot["kind"] == "snapshot", "its numbers began anew"
    said = [e["text"] for e in snapshot["data"]["told"] if e["kind"] == "accepted"]
    assert said == ["wait here", "then this"]


async def rest(events: Any) -> list[Any]:
    return [event async for event in events]


async def test_whoever_sends_a_second_signal_is_not_kept_waiting(in_process: Server) -> None:
    """What is deaf in the server's own process keeps it."""
    server = in_process
    client = server.client
    _, writer = await client.open()
    writer.write(b"POST /v1/sessions/s/stop HTTP/1.1\r\nhost: 127.0.0.1\r\n")
    writer.write(f"authorization: Bearer {server.token}\r\n".encode())
    writer.write(b"content-type: application/json\r\ncontent-length: 99\r\n\r\n{")  # and no more
    async with client.events("s") as events:
        await client.send("s", "deaf to signals")
        await upto(events, "text")
        told = await asyncio.to_thread(server.end, signal.SIGINT, signal.SIGTERM)
    writer.close()

    assert "What could not be ended ends now" in told
    server.start()
    assert (await server.client.get("/v1/sessions/s")).json["state"] == "idle"


async def test_what_people_say_is_not_in_what_a_server_writes(server: Server) -> None:
    async with server.client.events("private") as events:
        await server.client.send("private", "a very private matter")
        await upto(events, "ended")
    assert "private" not in server.heard
    assert server.token not in server.heard


def test_a_port_that_is_taken_is_told_of(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("serve", "--engine", ENGINE, "--port", str(server.port), "--store", "memory:")
    code, told, error = typed(capsys, *words)
    assert (code, told) == (1, "")
    assert f"cannot listen on 127.0.0.1, port {server.port}: Address already in use" in error


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--engine", "nonsense"), "--engine is MODULE:FUNCTION; it is 'nonsense'"),
        (("--engine", "no.such:engine", "--store", "memory:"), "there is no module 'no.such' here"),
        (("--engine", "tests.server.engines:nothing", "--store", "memory:"), "has no 'nothing'"),
        (("--engine", f"{ENGINE[:-6]}NOT_AN_ENGINE", "--store", "memory:"), "is no function"),
        (("--engine", ENGINE, "--most", "0"), "--most must be 1 or more; it is 0"),
        (("--engine", ENGINE, "--in-process", "--warm", "3"), "not with --in-process"),
        (("--engine", "lost:engine", "--in-process"), "--engine: there is no module 'lost' here"),
        (("--engine", ENGINE, "--port", "99999"), "--port must be a number up to 65535"),
        (("--engine", ENGINE, "--port", "http"), "--port must be a number up to 65535"),
        (("--engine", ENGINE, "--host", "0.0.0.0"), "it takes tokens: --tokens FILE"),  # noqa: S104
        (("--engine", ENGINE, "--host", "::"), "it takes tokens: --tokens FILE"),
        (("--engine", ENGINE, "--store", "paper:notes"), "no store can be opened at 'paper:notes'"),
        (("--engine", ENGINE, "--tokens", "/no/such/file"), "/no/such/file"),
    ],
)
def test_what_cannot_be_served_is_told_of(
    words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told, error = typed(capsys, "serve", "--port", "0", *words)
    assert (code, told) == (1, "")
    last = error.splitlines()[-1]  # what it logs comes before it
    assert last.startswith("lastword serve: ")
    assert why in last


def test_an_engine_that_needs_what_is_not_installed_is_told_of_by_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needy_engine.py").write_text("import nobody_has_this\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    code, _, error = typed(capsys, *SERVE_NEEDY)
    assert code == 1
    assert "'needy_engine' needs nobody_has_this, which is not installed" in error
    assert "pip" not in error


def test_a_file_of_tokens_that_is_not_one_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tokens.toml"
    good = '[ann]\ntoken = "ann has this long token"\n'
    for text, mode, why in (
        (good, 0o644, "can be read by others"),
        ('[ann]\ntoken = "short"\n', 0o600, "[ann]: the token of ann is too short: 16 characters"),
        (f'{good}rights = ["fly"]\n', 0o600, "has the right 'fly', which there is not"),
        (f'{good}rights = "read"\n', 0o600, "rights is a list"),
        (f"{good}name = 1\n", 0o600, "has 'name'; it may have principal, rights, token"),
        (good + good.replace("[ann]", "[bob]"), 0o600, "two of them have the same token"),
        ("[ann]\n", 0o600, "[ann] has no token, as a text"),
        ('["an n"]\ntoken = "ann has this long token"\n', 0o600, "'an n' is not"),
        ("ann = 1\n", 0o600, "[ann] is not a table"),
        ("= nonsense\n", 0o600, "tokens.toml: "),
    ):
        file.write_text(text)
        file.chmod(mode)
        words = ("serve", "--engine", ENGINE, "--port", "0", "--tokens", str(file))
        code, told, error = typed(capsys, *words)
        assert (code, told) == (1, ""), text
        assert error.startswith("lastword serve: "), text
        assert why in error, error
        assert "long token" not in error, "a token is not told to whoever looks at a screen"
