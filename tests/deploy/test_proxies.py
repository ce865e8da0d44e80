"""Behind a proxy with TLS, as the files in `deploy/` set it up, everything is as without one."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import closing
from pathlib import Path

import pytest

from tests.deploy.proxies import (
    DEPLOY,
    NAME,
    SecureClient,
    caddy_file,
    in_front,
    installed,
    nginx_file,
    whole_nginx,
)
from tests.docs.pages import page
from tests.server.client import events_in, read_head, upto
from tests.server.test_serve import Server


@pytest.fixture
def server(tmp_path: Path) -> Generator[Server]:
    served = Server(tmp_path)
    served.options = ("--allow-host", NAME)
    served.start()
    try:
        yield served
    finally:
        served.kill()


@pytest.fixture(params=["nginx", "caddy"])
async def proxied(
    request: pytest.FixtureRequest, tmp_path: Path, server: Server
) -> AsyncGenerator[SecureClient]:
    folder = tmp_path / "proxy"
    folder.mkdir()
    async with in_front(request.param, folder, server.client) as client:
        yield client


@pytest.mark.scenario("O10")
async def test_events_arrive_as_they_happen_and_a_stop_is_answered(proxied: SecureClient) -> None:
    async with proxied.events("s") as events:
        assert (await proxied.send("s", "wait for it")).status == 202
        await upto(events, "text")  # the run goes on, and nothing is held back until it ends

        receipt = await proxied.stop("s")

        assert receipt["quiet"]
        await upto(events, "stopped")


@pytest.mark.scenario("O10")
async def test_who_hangs_up_is_seen_to_have_left(proxied: SecureClient, server: Server) -> None:
    """At once, and not when the proxy next has something for them."""
    reader, writer = await server.client.open()
    with closing(writer):
        writer.write(server.client.request("GET", "/v1/sessions/s/events"))
        await read_head(reader)
        leaves, leaving = await proxied.open()
        leaving.write(proxied.request("POST", "/v1/sessions/s/events?on_disconnect=stop"))
        await read_head(leaves)
        events = events_in(leaves)
        await upto(events, "snapshot")
        await proxied.send("s", "wait for it")
        await upto(events, "text")

        leaving.transport.abort()  # without a word, as a browser does

        signs_of_life = 0  # of which the server sends one every 15 seconds, if there is no news
        while b'"stopped"' not in (line := await reader.readline()):
            signs_of_life += line.strip() == b":"
            assert signs_of_life < 2
            assert line


@pytest.mark.scenario("O10")
async def test_a_page_is_answered_by_its_own_site_and_no_other(proxied: SecureClient) -> None:
    own, other = f"https://{NAME}:{proxied.port}", "https://example.net"

    page = await proxied.as_(None).get("/")
    asked = await proxied.get("/v1/me", origin=own)
    refused = await proxied.get("/v1/me", origin=other)

    assert page.status == 200
    assert page.headers["strict-transport-security"] == "max-age=31536000"
    assert asked.status == 200
    assert (refused.status, refused.problem) == (403, "wrong-origin")


@pytest.mark.scenario("O10")
async def test_what_is_larger_than_the_server_takes_is_refused(proxied: SecureClient) -> None:
    answer = await proxied.ask("POST", "/v1/sessions/s/messages", b'"' + b"x" * (9 << 20) + b'"')

    assert answer.status == 413


def test_nginx_finds_nothing_wrong_with_its_file(tmp_path: Path) -> None:
    installed("nginx")

    assert nginx_says(nginx_file(tmp_path, 8443, 8420)) == []


def test_nginx_finds_nothing_wrong_with_what_the_page_on_several_processes_shows(
    tmp_path: Path,
) -> None:
    [shown] = [
        block.text for block in page("how-to/production.md").blocks if block.language == "nginx"
    ]

    assert nginx_says(whole_nginx(tmp_path, shown)) == []
    assert nginx_says(whole_nginx(tmp_path, shown.replace("consistent;", "consitent;"))) != []


def nginx_says(file: Path) -> list[str]:
    """What it finds wrong with a file."""
    done = subprocess.run(
        [installed("nginx"), "-t", "-e", "stderr", "-c", file],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    wrong = [line for line in done.stderr.splitlines() if "[warn]" in line or "[emerg]" in line]
    assert (done.returncode == 0) or wrong, done.stderr
    return wrong


def test_caddy_finds_nothing_wrong_with_its_file_and_would_write_it_so(tmp_path: Path) -> None:
    program, file = installed("caddy"), caddy_file(tmp_path, 8443, 8420)
    told = [program, "validate", "--adapter", "caddyfile", "--config", file]

    done = subprocess.run(told, capture_output=True, text=True, check=False)
    form = [program, "fmt", DEPLOY / "Caddyfile"]
    formed = subprocess.run(form, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "Valid configuration" in done.stdout + done.stderr
    assert formed.stdout == (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
