"""The log of a server: a line for each request, and nothing that was said."""

from __future__ import annotations

import asyncio
import fcntl
import io
import json
import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from lastword import Run, Runtime
from lastword.cli import logs
from lastword.server import app
from tests.server.client import SECRET, Client, serving_engine
from tests.server.engines import echo

ENGINE = "tests.server.engine_to_serve:engine"
WORDS = "the words that were said"
ANN = "the token of ann, who is one of two"


def _lines(told: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in told.splitlines()]


@pytest.mark.scenario("W27", part="server")
async def test_each_request_is_one_line_as_json(capfd: pytest.CaptureFixture[str]) -> None:
    with logs.written("info", "json"):
        async with serving_engine(echo) as client:
            answers = [
                await client.get(f"/v1/me?token={quote(SECRET)}"),
                await client.send("s", WORDS),
                await client.as_(None).get("/v1/sessions/s"),
                await client.get("/v1/sessions/s/log%0aforged"),
                await client.ask("GET", f"/{'x' * 40_000}"),
            ]
    told = capfd.readouterr().err
    found = [one for one in _lines(told) if one["logger"] == "lastword.requests"]
    assert [(one["method"], one["path"], one["status"]) for one in found] == [
        ("GET", "/v1/me", 200),
        ("POST", "/v1/sessions/s/messages", 202),
        ("GET", "/v1/sessions/s", 401),
        ("GET", "/v1/sessions/s/log%0aforged", 404),
        ("", "", 431),
    ]
    assert [one["principal"] for one in found] == ["local", "local", "", "local", ""]
    assert [one["id"] for one in found] == [one.headers["x-request-id"] for one in answers]
    assert [one["id"] for one in found[2:]] == [one.json["id"] for one in answers[2:]]
    assert all(one["ms"] >= 0 and one["level"] == "info" for one in found)
    assert SECRET not in told
    assert quote(SECRET) not in told
    assert WORDS not in told


@pytest.mark.scenario("W27", part="server")
async def test_each_request_is_one_line_as_text(capfd: pytest.CaptureFixture[str]) -> None:
    with logs.written("info", "text"):
        async with serving_engine(echo) as client:
            answer = await client.get("/healthz")
    [line] = [one for one in capfd.readouterr().err.splitlines() if "lastword.requests" in one]
    id_ = re.escape(answer.headers["x-request-id"])
    form = r".* INFO lastword\.requests request method=GET path=/healthz status=200 ms=[\d.]+ "
    assert re.fullmatch(rf"{form}principal=local id={id_}", line), line


@pytest.mark.scenario("W27", part="server")
async def test_the_id_of_a_mistake_is_in_the_log_with_where_it_was_made_and_not_its_words(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def who(_: object) -> str:
        raise KeyError(WORDS)

    with logs.written("warning", "json"):
        async with Runtime(echo) as runtime:
            answer = await _asked(runtime, who)
    assert answer["status"] == 500
    told = capfd.readouterr().err
    [line] = _lines(told)
    assert (line["id"], line["error"], line["level"]) == (answer["id"], "KeyError", "error")
    assert "test_logs.py" in line["message"], "where it was made"
    assert "raise KeyError(WORDS)" in line["message"]
    assert WORDS not in told


async def _asked(runtime: Runtime, who: Any) -> Any:
    sent = list[Any]()

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/v1/me", "raw_path": b"/v1/me"}
    rest = {"query_string": b"", "headers": [(b"host", b"localhost")], "root_path": ""}
    await app(runtime, who=who)(scope | rest, receive, send)
    return json.loads(sent[1]["body"])


@pytest.mark.scenario("W27", part="server")
async def test_an_app_that_is_mounted_logs_by_names_that_others_can_set(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "lastword.requests")
    async with serving_engine(echo) as client:
        await client.get("/v1/me")
    [record] = [one for one in caplog.records if one.name == "lastword.requests"]
    assert " path=/v1/me status=200 " in record.getMessage()


@pytest.mark.scenario("W27", part="server")
async def test_nobody_waits_for_who_does_not_read_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stuck = Stuck()
    monkeypatch.setattr(sys, "stderr", stuck)
    logger = logging.getLogger("lastword.requests")
    try:
        with logs.written("info", "text"):
            for _ in range(20_000):
                logger.info("one more")
    finally:
        stuck.taken.set()


class Stuck(io.StringIO):
    """Nobody reads what is written here."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = threading.Event()

    def write(self, text: str, /) -> int:
        self.taken.wait()
        return len(text)


class Process(NamedTuple):
    """A server of its own."""

    pid: int
    client: Client
    said: list[str]


@contextmanager
def process(
    home: Path, *words: str, lines: int = 1, stderr: int | None = None, link: bool = True
) -> Generator[Process]:
    """`lastword serve`, and the first lines that it prints; what it logs is in `home/heard`, if it
    does not go elsewhere."""
    home.mkdir(exist_ok=True)
    where = {"HOME": str(home), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}
    command = [sys.executable, "-m", "lastword", "serve", "--engine", ENGINE, "--port", "0"]
    command += ["--print-link"] * link
    with (
        (home / "heard").open("w") as heard,
        subprocess.Popen(
            [*command, *words],
            env=os.environ | where,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=heard if stderr is None else stderr,
            text=True,
        ) as served,
    ):
        try:
            assert served.stdout
            said = [served.stdout.readline() for _ in range(lines)]
            port = re.search(r"http://127\.0\.0\.1:(\d+)/", said[0])
            assert port, said
            yield Process(served.pid, Client(int(port[1]), None), said)
        finally:
            served.terminate()
            served.communicate()


async def _signed_in(one: Process) -> Client:
    """By the link that it printed."""
    code = one.said[0].strip().partition("#key=")[2]
    return one.client.as_((await one.client.post("/v1/keys", {"code": code})).json["key"])


@pytest.mark.scenario("W27", part="server")
async def test_nothing_that_anybody_sends_is_written_by_the_loop_to_who_does_not_read_it(
    tmp_path: Path,
) -> None:
    reads, writes = os.pipe()
    room = fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
    with (
        os.fdopen(writes, "wb"),
        process(tmp_path / "home", "--store", "memory:", stderr=writes) as one,
        os.fdopen(reads, "rb"),  # closed first, so that it can end whatever it does
    ):
        ann = await _signed_in(one)
        for _ in range(room // 16):  # a line of 16 bytes for each would be more than fits
            reader, writer = await one.client.open()
            writer.write(b"\x16\x03\x01 nonsense\r\n\r\n")
            await asyncio.wait_for(reader.read(), 60)
            writer.close()
        stopped = asyncio.wait_for(ann.post("/v1/sessions/s/stop"), 60)
        assert (await stopped).status == 200


@pytest.mark.scenario("W27", part="server")
@pytest.mark.parametrize(
    ("where", "logger"), [(("--in-process",), "somebody.elses"), ((), "lastword")]
)
async def test_what_anything_else_warns_of_is_in_the_log_in_its_form(
    tmp_path: Path, where: tuple[str, ...], logger: str
) -> None:
    """Of a run that has a process, by a logger that there is here, with the other's name."""
    words = ("--store", "memory:", "--log-format", "json", *where)
    with process(tmp_path / "home", *words) as one:
        ann = await _signed_in(one)
        await ann.send("s", "warn of something")
        while (await ann.get("/v1/sessions/s/log")).json["entries"][-1]["kind"] != "finished":
            pass
    [line] = _lines((tmp_path / "home" / "heard").read_text())
    assert (line["logger"], line["level"]) == (logger, "warning")
    assert "somebody.elses" in str(line)


@pytest.mark.scenario("W28", part="server")
async def test_of_two_server_processes_on_one_file_the_second_says_whose_a_session_is(
    tmp_path: Path,
) -> None:
    words = "--store", f"sqlite:{tmp_path / 'it.db'}", "--log-level", "info", "--log-format", "json"
    with process(tmp_path / "one", *words) as one, process(tmp_path / "two", *words) as two:
        mine, theirs = await _signed_in(one), await _signed_in(two)
        assert (await mine.send("s", "wait for it")).status == 202
        answer = await theirs.send("s", WORDS)
        assert (answer.status, answer.problem) == (409, "owned-elsewhere")
        assert answer.json["owner"]["process"] == one.pid
        assert f"process {one.pid} on " in answer.json["detail"]
        assert (await mine.stop("s"))["runs"] == ["s#1"]
    heard = (tmp_path / "two" / "heard").read_text()
    found = [line for line in _lines(heard) if line["logger"] == "lastword.requests"]
    assert [(line["path"], line["status"], line["id"]) for line in found[1:]] == [
        ("/v1/sessions/s/messages", 409, answer.json["id"])
    ]
    assert WORDS not in heard
    assert str(theirs.token) not in heard


@pytest.mark.scenario("W29", part="server")
async def test_on_every_address_it_warns_and_says_what_sharing_means_and_its_link_opens(
    tmp_path: Path,
) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.touch(mode=0o600)
    tokens.write_text(f'[ann]\ntoken = "{ANN}"\nrights = ["read", "send"]\n')
    words = "--store", "memory:", "--host", "0.0.0.0", "--tokens", str(tokens)  # noqa: S104
    with process(tmp_path / "home", *words, lines=8) as one:
        said = " ".join("".join(one.said).split())
        assert "It listens on every address of this machine, without encryption" in said
        assert "All who have a token share one agent, which works as you do." in said
        assert "your own `allow` rules and --yes approve for everybody" in said
        me = (await (await _signed_in(one)).get("/v1/me")).json
        assert me["principal"] == "local"
        assert (await one.client.as_(ANN).get("/v1/me")).json["principal"] == "ann"
    assert (tmp_path / "home" / "heard").read_text() == ""


@pytest.mark.scenario("O15")
async def test_a_conversation_and_its_mishaps_leave_no_word_of_it_in_the_log(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async def engine(run: Run) -> None:
        await run.emit(f"re: {run.message.text}")
        if "fail" in run.message.text:
            raise ValueError(run.message.text)
        await asyncio.Event().wait()

    body = json.dumps({"threadId": "s", "runId": "r", "messages": [_user(f"fail {WORDS}")]})
    with logs.written("info", "json"):
        async with serving_engine(engine) as client:
            answers = [
                await client.send("s", WORDS),
                await client.send("s", f"{WORDS} again"),  # takes over
                await client.post("/v1/sessions/s/stop"),
                await client.ask("POST", "/v1/agui", body.encode()),
                await client.ask("POST", "/v1/sessions/s/messages", f'{{"text": "{WORDS}'.encode()),
                await client.send("s", WORDS, nonsense=WORDS),
                await client.as_(f"{ANN} is wrong").get("/v1/me"),
                await client.get("/v1/me", cookie=WORDS, user_agent=WORDS),
            ]
    told = capfd.readouterr().err
    for secret in (WORDS, SECRET, ANN):
        assert secret not in told
        assert quote(secret) not in told
    lines = [one for one in _lines(told) if one["logger"] == "lastword.requests"]
    assert {one["id"] for one in lines} == {one.headers["x-request-id"] for one in answers}


def _user(text: str) -> dict[str, str]:
    return {"id": "m", "role": "user", "content": text}
