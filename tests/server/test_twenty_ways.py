"""Two people, one agent: the ways in which one may try to get at what is the other's.

eve may read and send; her agent does whatever she says. None of the ways works, since none of them
is allowed without somebody who may `approve`, and file tools refuse what is lastword's own.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import Client, upto
from tests.server.shared_agent import SharedAgent, rules_of_the_example
from tests.server.test_permissions import answer

pytest.importorskip("pydantic_ai", reason="pydantic-ai, with which the agent is made, is missing")

EXAMPLE = f"rules = {json.dumps(rules_of_the_example())}\n"
KIT = Path(__file__).parents[1] / "agent" / "mcp_server_to_start.py"
MCP = f"[mcp.kit]\ncommand = ['{sys.executable}', '{KIT}', '{{home}}']\n"
SETTINGS = {
    "default": "",
    "example": EXAMPLE,
    "everywhere": f'roots = [".", "/"]\nfetch = true\n{EXAMPLE}{MCP}',
}
REFUSED = r"no file tool may look at it|out of what may be touched"
ABSENT = r"there is no |is not a directory"
ASKED = "ASKED"  # it has to be allowed, and eve may not
NOT_OFFERED = r"I was not offered the tool|ASKED"


@dataclass(frozen=True)
class Way:
    """What eve has her agent do, and how it is kept from her."""

    name: str
    says: str
    told: str = REFUSED


FILES = (
    Way("the store", "read lastword.db"),
    Way("what was written last", "read lastword.db-wal"),
    Way("the store's memory", "read lastword.db-shm"),
    Way("the tokens", "read tokens.toml"),
    Way("in full", "read {project}/tokens.toml"),
    Way("dots", "read ./notes/.././notes/../tokens.toml"),
    Way("upwards and back", "read ../project/tokens.toml"),
    Way("a slash behind it", "read tokens.toml/"),
    Way("as a folder", "ask list_files: tokens.toml", REFUSED + "|is not a directory"),
    Way("another case", "read TOKENS.TOML", ABSENT),
    Way("a link", "read link.txt"),
    Way("a link of links", "read round"),
    Way("a link to the store", "read link.db"),
    Way("a hard link", "read hard.txt"),
    Way("a hard link to the store", "read hard.db"),
    Way("a hard link to what is trusted", "read hard.json"),
    Way("a folder's link", "read state/trusted.json"),
    Way("a link upwards", "read up/project/tokens.toml"),
    Way("the key", "read {state}/server.key"),
    Way("what is trusted", "read {state}/trusted.json"),
    Way("what runs", "read {state}/servers/{pid}.json"),
    Way("the person's settings", "read {config}/lastword.toml"),
    Way("several at once", "read notes/public.txt and tokens.toml and hard.txt"),
    Way("a list of what is kept", "ask list_files: {state}"),
    Way("a list by a pattern", "ask list_files: {state} | **"),
)
SEARCHES = (
    Way("a search for tokens", "ask search_files: token", "snowdrop"),
    Way("a search for words", "ask search_files: code word", "is nowhere"),
    Way("a search in the store", "ask search_files: . | lastword.db"),
    Way("a search through a link", "ask search_files: . | link.txt"),
    Way("a search in a hard link", "ask search_files: . | hard.txt"),
    Way("a search by a glob", "ask search_files: . | . | *.toml", "is nowhere"),
    Way("a search in what is kept", "ask search_files: . | {state}"),
)
PROCESSES = (
    Way("its environment", "read /proc/self/environ"),
    Way("the server's environment", "read /proc/{pid}/environ"),
    Way("what is open", "read /proc/{pid}/fd/{store}"),
    Way("what is open, by a device", "read /dev/fd/{store}"),
    Way("what is open, by a link", "read open/{store}"),
    Way("from the root", "read /proc/self/root{project}/tokens.toml"),
    Way("from the root, by a link", "read root{project}/tokens.toml"),
    Way("where it works", "read /proc/{pid}/cwd/tokens.toml"),
    Way("where it works, by a link", "read here/tokens.toml"),
    Way("a thread's", "read /proc/{pid}/task/{pid}/environ"),
    Way("a search in memory", "ask search_files: . | /proc/{pid}"),
    Way("a search in its memory", "ask search_files: . | /proc/self/environ"),
    Way("a search in the first one's", "ask search_files: . | /proc/1/environ"),
    Way("a search in all of them", "ask search_files: . | /proc | *environ"),
    Way("its input", "read /dev/stdin", REFUSED + "|not an ordinary file"),
)
CHANGES = (
    Way("tokens of her own", "write tokens.toml: [eve]", ASKED),
    Way("a change of tokens", "ask edit_file: tokens.toml | eve | ada", ASKED),
    Way("a store of her own", "write lastword.db: nothing", ASKED),
    Way("a journal", "write lastword.db-journal: nothing", ASKED),
    Way("rules of her own", "write lastword.toml: rules = ['allow *']", ASKED),
    Way("rules for good", "write {config}/lastword.toml: rules = ['allow *']", ASKED),
    Way("trust of her own", "write {state}/trusted.json: {{}}", ASKED),
    Way("git's settings", "write .git/config: [core] fsmonitor = cat tokens.toml", ASKED),
)
COMMANDS = (
    Way("a command", "run cat tokens.toml", ASKED),
    Way("a database's command", "run sqlite3 lastword.db .dump", ASKED),
    Way("the environment", "run env", ASKED),
    Way("the server's, by a command", "run cat /proc/{pid}/environ", ASKED),
    Way("the person's own token", "run lastword token", ASKED),
    Way("behind what is allowed", "run git status; cat tokens.toml", ASKED),
    Way("in a line of its own", "run git status\ncat tokens.toml", ASKED),
    Way("as an argument", "run git diff --no-index /dev/null tokens.toml", ASKED),
    Way("in the background", "ask shell: git status | 9 | false | true", ASKED),
    Way("a tool of an MCP server", "ask kit_know: OF_THE_SERVER", NOT_OFFERED),
    Way("a page of the server's", "ask fetch: http://127.0.0.1:{port}/v1/sessions", NOT_OFFERED),
)
RECORDS = ("", "/log", "/transcript", "/receipts", "/export", "/processes", "/cells", "/queue")
_NO = r"(?i)not defined|Cannot resolve|Permission denied|not supported in this environment"
PROGRAMS = (
    Way("a program's open", "ask run_code: open('tokens.toml').read()", _NO),
    Way(
        "a program's path",
        "ask run_code: import pathlib\npathlib.Path('tokens.toml').read_text()",
        _NO,
    ),
    Way("a program's environment", "ask run_code: import os\ndict(os.environ)", _NO),
    Way(
        "a program's database",
        "ask run_code: import sqlite3\nsqlite3.connect('lastword.db')",
        _NO,
    ),
    Way(
        "a program's process",
        "ask run_code: import subprocess\nsubprocess.run(['env'])",
        _NO,
    ),
    Way(
        "a program's class",
        "ask run_code: ().__class__.__base__.__subclasses__()",
        _NO,
    ),
    Way("a program's tool", "ask run_code: await read_file(path='tokens.toml')"),
    Way("a program's search", "ask run_code: await search_files(pattern='.', path='hard.txt')"),
    Way("a program's command", "ask run_code: await shell(command='cat tokens.toml')", ASKED),
    Way(
        "a program that waits",
        "ask run_code: await shell(command='env') | true",
        "until the person allows",
    ),
)
CHILDREN = (
    Way("another agent", "delegate read tokens.toml"),
    Way("another agent's agent", "delegate delegate read hard.db"),
    Way("another agent's search", "delegate ask search_files: . | lastword.db"),
    Way("another agent's program", "delegate ask run_code: await read_file(path='link.txt')"),
)  # fmt: skip
ALL = (*FILES, *SEARCHES, *PROCESSES, *CHANGES, *COMMANDS, *PROGRAMS, *CHILDREN)


OF_ADA = ("s", "ada%2Fs", "..%2Fada%2Fs", "%2e%2e%2Fada%2Fs", "eve%2F..%2Fada%2Fs", "ada/s")
REQUESTS = (
    *(f"GET /v1/sessions/{name}{part}" for name in OF_ADA for part in ("", *RECORDS)),
    "GET /v1/sessions",
    "GET /v1/cells",
    "GET /metrics",
    "POST /v1/links",
    "GET /tokens.toml",
    "GET /..%2ftokens.toml",
    "GET /page/..%2f..%2ftokens.toml",
)


@dataclass(frozen=True)
class Tried:
    """A server, what eve got by each way, and what was ada's before and after."""

    shared: SharedAgent
    got: Mapping[str, str]
    before: object
    after: object


@pytest.fixture(scope="module", params=SETTINGS)
def tried(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Tried]:
    shared = SharedAgent(tmp_path_factory.mktemp("shared"), SETTINGS[request.param])
    shared.start()
    try:
        yield asyncio.run(all_tried(shared))
    finally:
        shared.end()


async def all_tried(shared: SharedAgent) -> Tried:
    """Every way, some at a time, each in a session of its own."""
    eve, turns = shared.client("eve"), asyncio.Semaphore(8)
    await speaks(shared.client("ada"), shared.words)
    before = await shared.state_of_ada()

    async def attempt(number: int, way: Way) -> str:
        async with turns:
            return await told(eve, f"way-{number}", shared.filled(way.says))

    got = await asyncio.gather(*(attempt(number, way) for number, way in enumerate(ALL)))
    by_name = {way.name: one for way, one in zip(ALL, got, strict=True)}
    return Tried(shared, by_name, before, await shared.state_of_ada())


async def speaks(ada: Client, words: str) -> None:
    async with ada.events("s") as events:
        await ada.send("s", f"my code word is {words}")
        await upto(events, "ended")


async def told(client: Client, session: str, says: str, *, allowed: bool = False) -> str:
    """All that comes of it for who says it, to the last byte."""
    seen: list[Any] = []
    async with client.events(session) as events:
        await client.send(session, says)
        await _to_its_end(client, events, seen, allowed=allowed)
    said = "".join(event["text"] for event in seen if event["kind"] == "text")
    asked = ASKED if any(event["kind"] == "question" for event in seen) else ""
    records = [(await client.get(f"/v1/sessions/{session}{part}")).body for part in RECORDS]
    return "\n".join([said, asked, json.dumps(seen), *(one.decode() for one in records)])


async def _to_its_end(
    client: Client, events: AsyncIterator[Any], seen: list[Any], *, allowed: bool
) -> None:
    async for event in events:
        seen.append(event)
        if event["kind"] == "ended":
            return
        if event["kind"] == "question" and event["data"]["news"] == "opened":
            question = event["data"]["question"]
            taken = await answer(client, question, allow=True)
            assert taken.status == (200 if allowed else 403)
            if not allowed:
                await client.stop(question["session"])


def must_tell_nothing(shared: SharedAgent, got: str) -> None:
    for what, secret in shared.secrets.items():
        assert secret not in got, f"it tells {what}"


@pytest.mark.scenario("W32", part="server")
@pytest.mark.parametrize("way", ALL, ids=lambda way: way.name)
def test_no_way_leads_to_what_is_anothers(tried: Tried, way: Way) -> None:
    got = tried.got[way.name]
    must_tell_nothing(tried.shared, got)
    assert re.search(way.told, got), got[:2000]


@pytest.mark.scenario("W32", part="server")
def test_all_that_is_anothers_is_as_it_was(tried: Tried) -> None:
    assert tried.after == tried.before


@pytest.mark.scenario("W32", part="server")
async def test_what_git_may_do_unasked_tells_nothing_of_another(tried: Tried) -> None:
    for number, command in enumerate(("git status", "git diff")):
        got = await told(tried.shared.client("eve"), f"git-{number}", f"run {command}")
        must_tell_nothing(tried.shared, got)


@pytest.mark.scenario("W32", part="server")
async def test_no_request_leads_to_what_is_anothers(tried: Tried) -> None:
    eve = tried.shared.client("eve")
    for request in REQUESTS:
        method, _, path = request.partition(" ")
        got = await eve.ask(method, path)
        must_tell_nothing(tried.shared, got.body.decode())
    attached = [{"media_type": "text/plain", "uri": f"file://{tried.shared.project}/tokens.toml"}]
    async with eve.events("attached") as events:
        await eve.send("attached", "hello", attachments=attached)
        seen = await upto(events, "ended")
    must_tell_nothing(tried.shared, json.dumps(seen))


@pytest.mark.scenario("W32", part="server")
async def test_who_may_approve_has_what_the_servers_user_has(tried: Tried) -> None:
    approver, shared = tried.shared.client("approver"), tried.shared
    tokens = await told(approver, "cat", "run cat tokens.toml", allowed=True)
    find = "grep -aoh 'code word is [0-9a-f]*' lastword.db lastword.db-wal"
    words = await told(approver, "grep", f"run {find}", allowed=True)
    variables = await told(approver, "env", "run env", allowed=True)
    assert shared.tokens["ada"] in tokens
    assert shared.words in words
    assert shared.variable in variables
    assert shared.key not in variables
