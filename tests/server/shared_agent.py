"""A server whose agent two people share, each with a token: ada, who has secrets, and eve.

It is `lastword serve` as a person starts it, a process of its own with the agent that comes with
it. Its model is the rehearsal, which makes exactly the calls that it is told to.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from secrets import token_hex
from typing import Any

from tests.server.asking import entries
from tests.server.client import Client

EXAMPLE = Path(__file__).parents[2] / "docs" / "start" / "terminal.md"
_RIGHTS = {
    "ada": ["read", "send", "stop", "approve"],
    "eve": ["read", "send", "stop"],
    "approver": ["read", "send", "stop", "approve"],
}
_PRINCIPALS = {"ada": "ada", "eve": "eve", "approver": "eve"}
_LOOKS_LIKE_TEXT = {"FIRST": "x" * 10_000}  # an environment of which the beginning has no zero byte


def rules_of_the_example() -> list[str]:
    """What the page for beginners shows, to the letter."""
    blocks = re.findall(r"```toml\n(.*?)```", EXAMPLE.read_text(encoding="utf-8"), re.DOTALL)
    [rules] = [table["rules"] for table in map(tomllib.loads, blocks) if "rules" in table]
    return list(rules)


class SharedAgent:
    """The server, its folders, and what nobody but ada may see."""

    def __init__(self, home: Path, settings: str) -> None:
        self.home, self.project = home, home / "project"
        self.state, self.config = home / ".local/state/lastword", home / ".config/lastword"
        self.words, self.variable = token_hex(16), token_hex(16)
        self.trusted, self.key = token_hex(16), token_hex(16)
        self.tokens = {name: token_hex(16) for name in _RIGHTS}
        for folder in (self.project / "notes", self.state, self.config):
            folder.mkdir(parents=True)
        (self.config / "lastword.toml").write_text(
            f"# {self.trusted}\n{settings.format(home=home)}"
        )
        (self.state / "trusted.json").write_text(json.dumps({"/elsewhere": self.trusted}))
        self._write_tokens()
        subprocess.run(
            [shutil.which("git") or "git", "init", "--quiet", str(self.project)], check=True
        )
        (self.project / "notes" / "public.txt").write_text("the token of spring is a snowdrop\n")
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    def _write_tokens(self) -> None:
        tables = (
            f"[{name}]\ntoken = '{self.tokens[name]}'\n"
            f"principal = '{_PRINCIPALS[name]}'\nrights = {json.dumps(rights)}\n"
            for name, rights in _RIGHTS.items()
        )
        file = self.project / "tokens.toml"
        file.write_text("\n".join(tables))
        file.chmod(0o600)

    @property
    def secrets(self) -> dict[str, str]:
        """What must not come to eve, by what it is."""
        of_others = {f"the token of {name}": self.tokens[name] for name in ("ada", "approver")}
        files = {"what is trusted": self.trusted, "the environment": self.variable}
        return {"ada's words": self.words, "a provider's key": self.key, **of_others, **files}

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def start(self) -> None:
        """Start it; it prints its address when it can be asked."""
        home = {"HOME": str(self.home), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}
        theirs = {"OF_THE_SERVER": f"\n{self.variable}\n", "OPENAI_API_KEY": f"\n{self.key}\n"}
        where = ("--port", "0", "--tokens", "tokens.toml", "--model", "rehearsal")
        self._process = process = subprocess.Popen(
            [sys.executable, "-m", "lastword", "serve", *where],
            cwd=self.project,
            env=_LOOKS_LIKE_TEXT | os.environ | home | theirs,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        told = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", told)
        assert found, f"no address is in what it said first: {told!r}"
        self.port = int(found[1])
        self._leave_links()

    def _leave_links(self) -> None:
        """As a repository may have them, or somebody with a shell in the same folder."""
        links = {
            "link.txt": "tokens.toml",
            "link.db": "lastword.db",
            "state": self.state,
            "up": "..",
            "open": f"/proc/{self.pid}/fd",
            "root": "/proc/self/root",
            "here": f"/proc/{self.pid}/cwd",
            "round": "notes/back",
            "notes/back": "../link.txt",
        }
        for name, to in links.items():
            (self.project / name).symlink_to(to)
        for name, of in {"hard.txt": "tokens.toml", "hard.db": "lastword.db"}.items():
            (self.project / name).hardlink_to(self.project / of)
        (self.project / "hard.json").hardlink_to(self.state / "trusted.json")

    def end(self) -> None:
        if self._process:
            self._process.terminate()
            self._process.communicate()

    def client(self, name: str) -> Client:
        return Client(self.port, self.tokens[name])

    def filled(self, words: str) -> str:
        """With the places there are."""
        known = {"project": self.project, "state": self.state, "config": self.config}
        return words.format(**known, pid=self.pid, port=self.port, store=self._descriptor())

    def _descriptor(self) -> str:
        """Under which number the server has the store open."""
        for one in Path(f"/proc/{self.pid}/fd").iterdir():
            if one.readlink().name == "lastword.db":
                return one.name
        raise AssertionError("the server has no store open")

    async def state_of_ada(self) -> Any:
        """Hers, as it stands: her log, her token, and what is kept for the person."""
        files = [*self.config.rglob("*"), *self.state.rglob("*"), self.project / "tokens.toml"]
        kept = {str(one): one.read_bytes() for one in files if one.is_file()}
        store = (self.project / "lastword.db").stat()
        return kept, (store.st_dev, store.st_ino), await entries(self.client("ada"))
