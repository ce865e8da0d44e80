"""N. Servers that are processes of their own, over one database: ended, paused, killed."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.database import Cluster
from tests.promise.workshop import until
from tests.server.client import Client, upto
from tests.server.process import Server

LEASE = "2"


class Nodes:
    """Those of one test."""

    def __init__(self, home: Path, address: str) -> None:
        self.deeds = home / "deeds"
        self.deeds.mkdir()
        self.address = address
        self._home = home
        self._all: list[Server] = []

    def start(self) -> Server:
        """Another one."""
        home = self._home / str(len(self._all))
        home.mkdir()
        server = Server(home, self.address, "tests.server.lines_to_serve:engine")
        server.environment["DEEDS"] = str(self.deeds)
        with socket.create_server(("127.0.0.1", 0)) as free:
            server.port = free.getsockname()[1]
        self._all.append(server)
        server.start("--lease", LEASE, "--place", server.url)
        return server

    def size(self, run: str) -> int:
        """How much the command of a run has written."""
        path = self.deeds / run
        return path.stat().st_size if path.exists() else 0

    def listed(self) -> tuple[int, str]:
        """What `lastword nodes` says."""
        command = [sys.executable, "-m", "lastword", "nodes", "--store", self.address]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        return told.returncode, told.stdout + told.stderr

    def end(self) -> None:
        for server in self._all:
            server.kill()


@pytest.fixture
def nodes(tmp_path: Path, postgres: str) -> Generator[Nodes]:
    made = Nodes(tmp_path, postgres)
    yield made
    made.end()


async def begun(client: Client, nodes: Nodes) -> None:
    await said(client, "s", "go")
    await until(lambda: nodes.size("s#1"))


async def said(client: Client, session: str, text: str) -> None:
    """Something is said, and the answer has begun."""
    async with client.events(session) as watching:
        await upto(watching, "snapshot")
        assert (await client.send(session, text)).status == 202
        await upto(watching, "text")


async def quiet_from(client: Client) -> Any:
    """The first receipt that says so."""
    while not (receipt := await client.stop("s"))["quiet"]:
        pass
    return receipt


@pytest.mark.scenario("N1", part="server")
async def test_a_stop_that_comes_to_another_process_ends_the_run_and_what_it_started(
    nodes: Nodes,
) -> None:
    one, other = nodes.start(), nodes.start()
    await begun(one.client, nodes)
    receipt = await other.client.stop("s")
    assert receipt["quiet"]
    assert receipt["durable"]
    assert receipt["runs"] == ["s#1"]
    size = nodes.size("s#1")
    assert (await one.client.stop("s"))["idle"]
    assert nodes.size("s#1") == size


@pytest.mark.scenario("N2", part="server")
async def test_a_server_that_is_paused_is_stopped_from_another_and_does_nothing_when_it_wakes(
    nodes: Nodes,
) -> None:
    one, other = nodes.start(), nodes.start()
    await begun(one.client, nodes)
    one.process.send_signal(signal.SIGSTOP)
    said = await other.client.stop("s")
    assert not said["quiet"]
    assert "has not answered" in said["words"]
    await quiet_from(other.client)

    size = nodes.size("s#1")
    one.process.send_signal(signal.SIGCONT)
    while not (await one.client.stop("s"))["idle"]:
        pass  # until it knows whose the session is
    assert nodes.size("s#1") == size
    ended = (await other.client.get("/v1/sessions/s/log")).json["entries"]
    assert [e["outcome"] for e in ended if e["kind"] == "finished"] == ["lost"]


@pytest.mark.scenario("N3", part="server")
async def test_what_a_killed_server_had_accepted_runs_once_at_another(nodes: Nodes) -> None:
    one, other = nodes.start(), nodes.start()
    await begun(one.client, nodes)
    next_ = await other.client.send("s", "after that", on_message="queue", id="next")
    assert next_.json["placed"] == "queued"
    one.kill()

    async def answered() -> bool:
        log = (await other.client.get("/v1/sessions/s/log")).json
        return any(e["kind"] == "text" and "after that" in e["text"] for e in log["entries"])

    while not await answered():
        pass  # until the other has found what was left
    size = nodes.size("s#1")
    log = (await other.client.get("/v1/sessions/s/log")).json["entries"]
    assert next(e["outcome"] for e in log if e["kind"] == "finished") == "lost"
    assert [m for e in log if e["kind"] == "began" for m in e["messages"]].count("next") == 1
    assert (await other.client.send("s", "go on")).status == 202
    assert nodes.size("s#1") == size


@pytest.mark.scenario("N4", part="server")
@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_a_stop_at_another_server_is_made_while_the_database_restarts(
    nodes: Nodes, cluster: Cluster, mode: str
) -> None:
    one, other = nodes.start(), nodes.start()
    await begun(one.client, nodes)
    restarting = asyncio.create_task(asyncio.to_thread(cluster.restart, mode))
    receipt = await quiet_from(other.client)
    await restarting
    size = nodes.size("s#1")
    assert receipt["runs"] in ([], ["s#1"])  # the first of several stops ended it
    assert (await one.client.stop("s"))["idle"]
    assert nodes.size("s#1") == size


@pytest.mark.scenario("N8")
async def test_a_server_that_is_told_to_end_waits_for_what_goes_on_and_others_have_the_rest(
    nodes: Nodes,
) -> None:
    one, other = nodes.start(), nodes.start()
    await said(one.client, "rests", "hello")
    await said(one.client, "s", "until")
    one.process.send_signal(signal.SIGTERM)
    while (await one.client.get("/readyz")).status == 200:
        pass
    assert (await other.client.send("rests", "and you?")).status == 202
    while (await other.client.get("/v1/sessions/rests")).json["owner"]:
        pass  # until it is the other's
    assert (await other.client.get("/v1/sessions/s")).json["state"] == "running"
    (nodes.deeds / "end").touch()
    assert "Everything is stopped" in one.end()
    log = (await other.client.get("/v1/sessions/s/log")).json["entries"]
    assert [e["outcome"] for e in log if e["kind"] == "finished"] == ["completed"]


@pytest.mark.scenario("N9")
async def test_a_link_of_one_server_opens_the_page_at_any_and_once(nodes: Nodes) -> None:
    one, other = nodes.start(), nodes.start()
    nobody = other.client.as_(None)
    code = one.link.rpartition("#key=")[2] or one.link
    opened = await nobody.post("/v1/keys", {"code": code})
    assert opened.status == 201
    for server in (one, other):
        asked = server.client.as_(opened.json["key"])
        assert (await asked.get("/v1/me")).json["principal"] == "local"
        again = await server.client.as_(None).post("/v1/keys", {"code": code})
        assert (again.status, again.problem) == (410, "used-link")
    link = (await other.client.post("/v1/links")).json["path"].rpartition("=")[2]
    assert (await one.client.as_(None).post("/v1/keys", {"code": link})).status == 201


@pytest.mark.scenario("N10")
async def test_who_looks_after_them_sees_who_is_there_and_who_is_silent(nodes: Nodes) -> None:
    one, other = nodes.start(), nodes.start()
    code, told = await asyncio.to_thread(nodes.listed)
    assert code == 0, told
    assert one.url in told
    assert other.url in told
    assert "2 in all." in told
    metrics = (await one.client.get("/metrics")).body.decode()
    assert "lastword_nodes 2" in metrics
    one.process.send_signal(signal.SIGSTOP)
    code, told = await asyncio.to_thread(nodes.listed)
    assert code == 1
    assert re.search(rf"silent +{one.url} ", told)
