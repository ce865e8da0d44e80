"""A repository that was downloaded, whose settings name a program."""

import os
import subprocess
from pathlib import Path

from lastword import Run, Runtime
from lastword.agent.tools.environment import for_commands

ATTRIBUTES = "*.c diff=evil filter=evil merge=evil\n"


class Repository:
    """One that was downloaded, with a program that leaves a mark where it was run."""

    def __init__(self, home: Path) -> None:
        self.home, self.mark = home / "repository", home / "mark"
        self.programs = home / "bin"
        self.home.mkdir()
        (self.home / "hooks").mkdir()
        self.programs.mkdir()
        for path in (self.programs / "evil", self.home / "hooks" / "pre-commit"):
            path.write_text(f"#!/bin/sh\ntouch {self.mark}\ncat\n")
            path.chmod(0o755)
        self.does("git init -q . && git config user.name n && git config user.email e@x")
        for number in range(2):
            (self.home / "f.c").write_text(f"{number}\n")
            (self.home / ".gitattributes").write_text(ATTRIBUTES)
            self.does("git add -A && git commit -qm one")
        (self.home / "f.c").write_text("changed\n")
        self.does(f"git remote add origin {self.home}")

    @property
    def plain(self) -> dict[str, str]:
        path = f"{self.programs}:{os.environ['PATH']}"
        mine = {"HOME": str(self.home.parent), "GIT_CONFIG_NOSYSTEM": "1"}
        theirs = {n: v for n, v in os.environ.items() if not n.startswith(("GIT_", "SSH_"))}
        return theirs | mine | {"PATH": path}

    async def ours(self, **more: str) -> dict[str, str]:
        """What commands of an agent's are given to run in."""
        made = list[dict[str, str]]()

        async def engine(run: Run) -> None:
            made.append(await for_commands(run, self.plain | more, self.home))

        async with Runtime(engine, level="tree") as runtime:
            await (await runtime.session("s").send("go")).outcome()
        return made[0]

    def sets(self, setting: str) -> None:
        key, has, value = setting.partition("=")
        self.does(f"git config {key} '{value if has else 'evil'}'")

    def does(self, command: str, env: dict[str, str] | None = None) -> bool:
        """Whether what the repository names was run."""
        subprocess.run(
            ["/bin/sh", "-c", command], cwd=self.home, env=env or self.plain, capture_output=True,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        return self.mark.exists()

    def gives(self, env: dict[str, str], *argv: str) -> str:
        """What a program writes that is run there, and ends well."""
        done = subprocess.run(
            ["/usr/bin/env", *argv], cwd=self.home, env=env, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        return done.stdout

    def says(self, text: str, file: str = ".git/config") -> None:
        """More in a file of its settings."""
        with (self.home / file).open("ab") as settings:
            settings.write(text.encode())
