"""What leaves is checked right before it does, however long it had to wait for the reader."""

import asyncio
import json
import os
import socket
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from lastword.acp.outbox import Outbox
from lastword.stores.lease import Tenure, boottime
from tests.acp.client import Client, environment
from tests.acp.test_prompts import begun
from tests.promise.workshop import until

LONG = "x" * 50_000  # of which a pipe takes one, and a piece of the next


async def test_what_waits_when_a_run_loses_its_session_never_leaves_and_no_line_is_broken() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    outbox = Outbox(writing)
    current = True
    for number in range(10):
        outbox.send({"number": number, "text": LONG}, lambda: current)
    current = False  # nobody has read anything yet
    outbox.send({"answer": "cancelled"})
    heard = bytearray()

    def read() -> bool:
        try:
            heard.extend(os.read(reading, 1 << 20))
        except BlockingIOError:
            return False
        return heard.endswith(b'"cancelled"}\n')

    await until(read)
    outbox.close()
    os.close(reading)
    os.close(writing)

    *begun, answer = [json.loads(line) for line in heard.splitlines()]
    assert [message["number"] for message in begun] == [0, 1]
    assert answer == {"jsonrpc": "2.0", "answer": "cancelled"}
    assert outbox.dropped == 8


async def test_a_reader_that_has_gone_is_noticed_though_nothing_is_written() -> None:
    reading, writing = os.pipe()
    outbox = Outbox(writing)
    gone: list[bool] = []
    outbox.on_gone = lambda: gone.append(True)
    os.close(reading)

    await until(lambda: gone)
    os.close(writing)
    assert outbox.gone


async def test_a_reader_that_has_gone_is_noticed_as_something_is_written() -> None:
    ours, theirs = socket.socketpair()
    outbox = Outbox(ours.fileno())
    gone: list[bool] = []
    outbox.on_gone = lambda: gone.append(True)
    outbox.send({"number": 1})
    theirs.close()

    outbox.send({"number": 2})

    assert gone
    assert outbox.gone
    outbox.close()
    ours.close()


async def test_an_editor_that_only_stops_reading_leaves_nothing_going(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()  # as some editors have them for what a program writes
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lastword", "acp"),
        stdin=PIPE,
        stdout=theirs.fileno(),
        env=environment(tmp_path),
        cwd=tmp_path,
    )
    theirs.close()
    reader, writer = await asyncio.open_connection(sock=ours)
    streams = SimpleNamespace(stdin=process.stdin, stdout=reader)
    client = Client(cast("Process", streams), tmp_path)
    listening = asyncio.create_task(client.listen())
    await begun(client, await client.new())

    ours.shutdown(socket.SHUT_RD)  # it could still be written to

    assert await process.wait() == 0
    await listening
    writer.close()


async def test_nothing_leaves_while_the_lease_is_not_good() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    outbox, tenure = Outbox(writing), Tenure(10.0)
    outbox.tenure = tenure
    outbox.send({"number": 1})
    for _ in range(10):
        await asyncio.sleep(0)
    with pytest.raises(BlockingIOError):
        os.read(reading, 1)
    tenure.answered(boottime())
    heard = bytearray()

    def read() -> bool:
        with suppress(BlockingIOError):
            heard.extend(os.read(reading, 1 << 20))
        return heard.endswith(b"\n")

    await until(read)
    assert json.loads(heard)["number"] == 1
    outbox.close()
    os.close(reading)
    os.close(writing)
