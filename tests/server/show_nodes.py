"""Several servers behind one address, over a database of their own, for whoever wants to see it.

    scripts/run --nodes 3

Each connection goes to the next of them. End one by its number: what it had is another's.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from itertools import cycle

from lastword.server.serve import listen
from tests.database import empty, started

PORT = 8420


class Spreader:
    """One address for all of them."""

    def __init__(self, ports: list[int]) -> None:
        self._ports = ports
        self._next = cycle(ports)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in self._ports:
            with suppress(OSError):
                there, back = await asyncio.open_connection("127.0.0.1", next(self._next))
                await asyncio.gather(_pass(reader, back), _pass(there, writer))
                return
        writer.close()  # none of them is there


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    writer.close()


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


async def _start(port: int, store: str, more: list[str]) -> tuple[Process, str]:
    """One server, and the code of its link."""
    said = "serve", "--print-link", "--port", f"{port}", "--store", store
    place = "--place", f"http://127.0.0.1:{port}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lastword", *said, *place, *more), stdin=DEVNULL, stdout=PIPE
    )
    assert process.stdout
    first = (await process.stdout.readline()).decode()
    found = re.search(r"#key=(\S+)", first)
    if not found:
        raise SystemExit(first or "a server did not start")
    return process, found[1]


async def main(many: int, more: list[str]) -> None:
    """Until it is interrupted."""
    told, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    with started() as cluster, tempfile.TemporaryDirectory() as home:
        if isinstance(cluster, str):
            raise SystemExit(cluster)
        os.environ["XDG_STATE_HOME"] = home
        async with empty(cluster) as store:
            ports = [_free() for _ in range(many)]
            nodes = [await _start(port, store, more) for port in ports]
            listening = listen("127.0.0.1", PORT, otherwise=True)
            port = listening.getsockname()[1]
            front = await asyncio.start_server(Spreader(ports).serve, sock=listening)
            print(f"Open http://127.0.0.1:{port}/#key={nodes[0][1]}")  # noqa: T201 - what it is for
            for port, (process, _) in zip(ports, nodes, strict=True):
                print(f"  http://127.0.0.1:{port} is process {process.pid}")  # noqa: T201
            print(f"  lastword nodes --store '{store}' lists them.", flush=True)  # noqa: T201
            await told.wait()
            front.close()
            for process, _ in nodes:
                with suppress(ProcessLookupError):
                    process.terminate()
                    process.terminate()
            await asyncio.gather(*(process.wait() for process, _ in nodes))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2:]))
