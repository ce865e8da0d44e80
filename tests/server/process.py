"""`lastword serve` as a process of its own, for tests that start it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.server.client import Client

SOON = 30  # seconds: by then it has happened, or it never will
ENGINE = "tests.server.engine_to_serve:engine"


class Server:
    """One server, which can be ended and started again where it was."""

    def __init__(self, home: Path, store: str = "", engine: str = ENGINE) -> None:
        self.environment = {"HOME": str(home), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}
        self.options: tuple[str, ...] = ()  # more of them, whenever it is started
        self.token = ""
        self.port = 0
        self.link = ""
        self.key = ""  # what the page was given for the first link
        self._store = store or f"sqlite:{home / 'served.db'}"
        self._engine = engine
        self._heard = home / "heard"
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def client(self) -> Client:
        return Client(self.port, self.token)

    @property
    def process(self) -> subprocess.Popen[str]:
        assert self._process
        return self._process

    def start(self, *options: str) -> None:
        """Start it; it prints the link when it can be asked."""
        command = [sys.executable, "-m", "lastword", "serve", "--engine", self._engine]
        with self._heard.open("a") as errors:
            self._process = subprocess.Popen(
                [
                    *command,
                    "--print-link",
                    "--port",
                    str(self.port),
                    "--store",
                    self._store,
                    *self.options,
                    *options,
                ],
                env=os.environ | self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout
        told = self.process.stdout.readline()
        found = re.fullmatch(r"Open (http://127\.0\.0\.1:(\d+)/#key=(\S+))\n", told)
        assert found, f"no link is in what it said first: {told!r}"
        self.port, self.link = int(found[2]), found[3]
        told = subprocess.run(
            [sys.executable, "-m", "lastword", "token", "--url", self.url],
            env=os.environ | self.environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        self.token = told.stdout.strip()

    def end(self, *signals: signal.Signals) -> str:
        """End it, as it is wanted; what it said at last."""
        for number in signals:
            self.process.send_signal(number)
        told, _ = self.process.communicate(timeout=SOON)
        assert self.process.returncode == 0
        self._process = None
        return told

    def kill(self) -> None:
        """As nobody should."""
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None

    @property
    def heard(self) -> str:
        """What it wrote for whoever looks after it."""
        return self._heard.read_text()
