"""With a network of its own, a target can ask nothing but our model."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.check.judging import PLANTED
from tests.check.test_command import checked

NOBODY = 65534
TRIES = """
import ctypes, fcntl, os, socket, sys
from lastword.check.machine import alone
user, port = int(sys.argv[1]), int(sys.argv[2])
if user:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as whoever was not root before
print(alone().split(":")[0])
with socket.socket() as own:
    own.bind(("127.0.0.1", 0))
    own.listen()
    socket.socket().connect(own.getsockname())
    print("reaches its own")
try:
    socket.socket().connect(("127.0.0.1", port))
    print("reaches another's")
except OSError:
    print("reaches no other's")
"""
SPY = """
import json, os, runpy, socket, sys
def reaches(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
model = int(os.environ["OPENAI_BASE_URL"].rpartition(":")[2].partition("/")[0])
open(SEEN, "w").write(json.dumps([reaches(model), reaches(PORT)]))
sys.argv = [PLANTED]
runpy.run_path(PLANTED, run_name="__main__")
"""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="takes root, who can become anybody")


@needs_root
@pytest.mark.scenario("K18")
@pytest.mark.parametrize("user", [0, NOBODY], ids=["root", "an ordinary user"])
def test_whoever_has_a_network_of_their_own_reaches_no_other(user: int) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        words = [sys.executable, "-c", TRIES, str(user), str(other.getsockname()[1])]
        done = subprocess.run(words, capture_output=True, text=True, check=True)

    network, own, others = done.stdout.splitlines()
    if network == "shared":
        pytest.skip("the kernel gives an ordinary user no namespace here")
    assert (network, own, others) == (
        "a namespace of its own",
        "reaches its own",
        "reaches no other's",
    )


@needs_root
@pytest.mark.scenario("K18")
async def test_a_target_reaches_our_model_and_nothing_else(tmp_path: Path) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    spy, seen, written = tmp_path / "spy.py", tmp_path / "seen", tmp_path / "report.json"
    told = {"SEEN": str(seen), "PORT": port, "PLANTED": PLANTED}
    names = "\n".join(f"{name} = {value!r}" for name, value in told.items())
    spy.write_text(names + SPY, encoding="utf-8")

    async with server:
        only = ("--only", "text.silent-model", "--json", str(written))
        code, _ = await checked("acp", *only, "--", sys.executable, str(spy))

    assert code == 0
    assert json.loads(seen.read_text("utf-8")) == [True, False]
    [target] = json.loads(written.read_text("utf-8"))["targets"]
    assert target["machine"]["network"].startswith("a namespace of its own")
