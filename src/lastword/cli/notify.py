"""What a supervisor such as systemd is told of a server that it started: that it can be asked.

It is told nothing by what the server starts: the address is taken out of the environment.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import NamedTuple, Self


class Supervisor(NamedTuple):
    """Where it listens, if there is one."""

    address: str

    @classmethod
    def found(cls) -> Self:
        """As the environment says, which does not say it any more."""
        return cls(os.environ.pop("NOTIFY_SOCKET", ""))

    def tell(self, state: str) -> None:
        """One word, as sd_notify(3) has it; who does not listen misses it."""
        if not self.address:
            return
        named = self.address
        where = f"\0{named[1:]}" if named.startswith("@") else named
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            told.setblocking(False)
            told.sendto(state.encode(), where)
