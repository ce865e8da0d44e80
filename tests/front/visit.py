"""A visit to a server, as a newcomer makes it: the link, every file of the page, words, a stop."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

LINK = re.compile(r"Open http://127\.0\.0\.1:(\d+)/#key=(\S+)")
_FILES = re.compile(r'(?:src|href)="(assets/[\w.-]+)"|(?:from|import) ?\(?"\./([\w-]+\.js)"')


class Visit:
    """One person, who has the link."""

    def __init__(self, port: int, code: str) -> None:
        self._port = port
        self._code = code
        self.link = f"http://127.0.0.1:{port}/#key={code}"  # good for one sign-in
        self._key = ""

    def see_the_page(self) -> dict[str, int]:
        """Load the page with everything that it asks for, and sign in: files, by their size."""
        seen, wanted = dict[str, int](), [""]
        while wanted:
            name = wanted.pop()
            text = self._asked("GET", f"/{name}").read().decode()
            seen[name] = len(text)
            found = {one or f"assets/{other}" for one, other in _FILES.findall(text)}
            wanted += [more for more in found if more not in seen and more not in wanted]
        self._key = json.load(self._asked("POST", "/v1/keys", {"code": self._code}))["key"]
        return seen

    def say(self, session: str, text: str) -> None:
        """It is accepted when this returns."""
        self._asked("POST", f"/v1/sessions/{session}/messages", {"text": text}).read()

    def hear(self, session: str, words: str) -> None:
        """Wait until these are told of a session."""
        with self._asked("GET", f"/v1/sessions/{session}/events") as events:
            heard = ""
            while words not in heard:
                line = events.readline().decode()
                assert line, f"the stream has ended, and {words!r} was not in it: {heard}"
                heard = heard[-len(words) :] + _said_in(line)

    def stop(self, session: str) -> Mapping[str, Any]:
        """The receipt."""
        return json.load(self._asked("POST", f"/v1/sessions/{session}/stop"))["receipt"]

    def _asked(self, method: str, path: str, told: object = None) -> HTTPResponse:
        connection = HTTPConnection("127.0.0.1", self._port)
        headers = {"Content-Type": "application/json", "Connection": "close"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        connection.request(method, path, None if told is None else json.dumps(told), headers)
        answer = connection.getresponse()
        assert answer.status < 300, f"{method} {path}: {answer.status} {answer.read()!r}"
        return answer


def _said_in(line: str) -> str:
    """What an event adds to what is said; the rest of it is nothing to a person."""
    if not line.startswith("data: "):
        return ""
    event = json.loads(line.removeprefix("data: "))
    told = event.get("changes", []) + [
        part for item in event.get("items", []) for part in item.get("parts", [])
    ]
    return "".join(str(one.get("text") or one.get("part", {}).get("text", "")) for one in told)


@contextmanager
def served(
    command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str], heard: Path
) -> Generator[Visit]:
    """Start a server, and end it in order; what it says to whoever started it goes to a file."""
    with heard.open("a") as errors:
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=errors, text=True,
        )  # fmt: skip
    with process:
        assert process.stdout
        try:
            line = process.stdout.readline()
            link = LINK.match(line)
            assert link, f"no link is in what it said first: {line!r}, {heard.read_text()}"
            yield Visit(int(link[1]), link[2])
            process.send_signal(signal.SIGINT)
            assert "Goodbye" in process.stdout.read()
            assert process.wait() == 0
        finally:
            process.kill()
