"""Who hears each word that several processes let out, and when it left, by the kernel."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress

_TIMESTAMPS = 35  # SO_TIMESTAMPNS, which Python's socket does not name


class Judge:
    """Hears of each word that leaves, and when, by the kernel."""

    def __init__(self) -> None:
        self._heard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._heard.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self._heard.setsockopt(socket.SOL_SOCKET, _TIMESTAMPS, 1)
        self._heard.bind(("127.0.0.1", 0))
        self._heard.setblocking(False)
        self.port: int = self._heard.getsockname()[1]
        self.deeds: list[tuple[int, str, str]] = []

    def hear(self) -> None:
        """All that has come."""
        with suppress(BlockingIOError):
            while True:
                said, more, _, _ = self._heard.recvmsg(1024, 256)
                [stamp] = [data for _, kind, data in more if kind == _TIMESTAMPS]
                seconds, rest = struct.unpack("qq", stamp[:16])
                session, run = said.decode().split()
                self.deeds.append((seconds * 10**9 + rest, session, run))

    def begin(self) -> None:
        asyncio.get_running_loop().add_reader(self._heard, self.hear)

    def end(self) -> None:
        self.hear()
        asyncio.get_running_loop().remove_reader(self._heard)
        self._heard.close()


def out_of_turn(deeds: list[tuple[int, str, str]]) -> Iterator[str]:
    """Who spoke when a later run of the session had, wherever that was."""
    newest: dict[str, tuple[int, int]] = {}
    for at, session, run in sorted(deeds):
        number = int(run.rpartition("#")[2])
        then, latest = newest.get(session, (at, number))
        if number < latest:
            yield f"{session}: {run} spoke {(at - then) / 1e6:.1f} ms after run {latest} had"
        else:
            newest[session] = at, number
