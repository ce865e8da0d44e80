"""lastword as the first process of a container, with nobody above it who would bury the dead."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.deploy.proxies import free_port, installed
from tests.server.client import Client, upto

TOKEN = "a token for the first one"  # noqa: S105 - of a server that lives for one test
ENGINE = "tests.server.processes_to_serve:engine"


def children(of: int) -> dict[int, str]:
    """Its children, each with its state: Z is dead and not buried."""
    found: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent, *_ = path.read_text(errors="replace").rpartition(")")[2].split()
            if int(parent) == of:
                found[int(path.parent.name)] = state
    return found


@pytest.mark.scenario("O14")
async def test_a_stop_leaves_nobody_and_it_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can begin a process namespace here")
    tokens, port = tmp_path / "tokens.toml", free_port()
    tokens.touch(0o600)
    tokens.write_text(f"[ann]\ntoken = {TOKEN!r}\n")
    process = await asyncio.create_subprocess_exec(
        *(installed("unshare"), "--pid", "--fork", "--mount-proc", "--kill-child"),
        *(sys.executable, "-m", "lastword", "serve", "--engine", ENGINE, "--port", str(port)),
        *("--tokens", str(tokens), "--store", f"sqlite:{tmp_path / 'it.db'}"),
        env=os.environ | {"HOME": str(tmp_path), "XDG_STATE_HOME": ""},
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout
        assert re.match(rb"Listening at http://127", await process.stdout.readline())
        [(first, _)] = children(process.pid).items()
        client = Client(port, TOKEN)
        async with client.events("s") as events:
            await client.send("s", "silent reader deaf")
            await upto(events, "text")
            assert children(first)

            receipt = await client.stop("s")

        assert receipt["quiet"]
        assert "Z" not in children(first).values()

        os.kill(first, signal.SIGTERM)
        rest, _ = await process.communicate()
        assert b"Everything is stopped. Goodbye." in rest
        assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
