"""Git: what it is told over the settings of every file, and what it is asked. That runs nothing.

It is asked by a process of the run that wants to know, like any other: a stop ends it and names it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import monotonic

from lastword.agent.tools.aside import aside
from lastword.errors import LastwordError, ProcessError
from lastword.runtime.run import Run

ALWAYS = {"core.fsmonitor": "false", "core.hooksPath": os.devnull, "interactive.diffFilter": "cat"}
_PATIENCE = 5.0  # seconds, for all that is asked
_LONGEST = 64 << 20  # bytes of an answer
_MARKS = (".git", "HEAD")  # of a repository, or of what is one without files
_OF_ONE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX")


class CannotTell(LastwordError):
    """What git would run somewhere cannot be told; the words say why."""


def told_git(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Settings that win over every file's: as the manual has it, after those that the person has
    there; and again as git hands them to itself, since in a submodule it forgets the others."""
    settings = {**ALWAYS, **settings}
    before = environment.get("GIT_CONFIG_COUNT", "0")
    first = int(before) if before.isascii() and before.isdigit() else 0
    told = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (key, value) in enumerate(settings.items(), first):
        told |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    quoted = (f"{_quoted(key)}={_quoted(value)}" for key, value in settings.items())
    own = environment.get("GIT_CONFIG_PARAMETERS", "")
    return told | {"GIT_CONFIG_PARAMETERS": " ".join(filter(None, (own, *quoted)))}


def _is_near(folder: Path) -> bool:
    ups = (folder, *folder.parents)
    return any(os.path.lexists(up / name) for up in ups for name in _MARKS)


def _repositories(root: Path, files: bytes) -> list[Path]:
    """Of git's list of files, those that are repositories themselves, and are there."""
    names = (one.partition(b"\t")[2] for one in files.split(b"\0") if one[:6] == b"160000")
    paths = dict.fromkeys(root / os.fsdecode(name) for name in names)
    return [path for path in paths if os.path.lexists(path / ".git")]


def _quoted(text: str) -> str:
    return "'" + re.sub(r"(['!])", r"'\\\1'", text) + "'"  # as git unquotes


class Git:
    """The person's own, asked about one repository, and then about those inside it."""

    def __init__(self, run: Run, environment: Mapping[str, str]) -> None:
        self._run = run
        self._env = dict(environment) | {"GIT_ALLOW_PROTOCOL": "none", "GIT_PAGER": "cat"}
        self._until = monotonic() + _PATIENCE
        # what is not absolute would be looked for in the repository
        places = [one for one in environment.get("PATH", "").split(":") if one.startswith("/")]
        self._program = shutil.which("git", path=":".join(places))

    async def is_there(self, folder: Path) -> bool:
        """Whether there is a git, and maybe a repository around a folder: more than there are."""
        if self._program is None:
            return False
        return "GIT_DIR" in self._env or await aside(partial(_is_near, folder))

    def inside(self) -> None:
        """From now on it is asked about others than the one that the environment names."""
        for name in _OF_ONE:
            self._env.pop(name, None)

    async def settings(self, folder: Path, told: Mapping[str, str]) -> list[str]:
        """The names of what files of the repository set, and files that those include."""
        words = ("config", "--list", "--show-scope", "--includes", "-z")
        said = await self._asked(folder, told, *words)
        parts = (said or b"").decode(errors="surrogateescape").split("\0")
        names = [part.partition("\n")[0] for part in parts[1::2]]
        each = list(zip(parts[::2], names, strict=False))
        if ("command", "core.fsmonitor") not in each:
            raise CannotTell("git does not list its settings, or is too old to be told any")
        return [name for scope, name in each if scope not in ("system", "global", "command")]

    async def repositories(self, folder: Path, told: Mapping[str, str]) -> list[Path]:
        """Those that git would look into, too: the ones on its list of files."""
        top = await self._asked(folder, told, "rev-parse", "--show-toplevel")
        if top is None:
            inside = await self._asked(folder, told, "rev-parse", "--is-inside-work-tree")
            if inside != b"false\n":
                raise CannotTell("git does not say where its files are")
            return []
        root = Path(os.fsdecode(top.removesuffix(b"\n")))
        files = await self._asked(root, told, "ls-files", "--stage", "-z")
        if files is None:
            raise CannotTell("git does not list its files")
        return await aside(partial(_repositories, root, files))

    async def _asked(self, folder: Path, told: Mapping[str, str], *words: str) -> bytes | None:
        """What it answers; None if it fails. It may be kept waiting, as by a pipe."""
        try:
            asked = await self._run.spawn(
                str(self._program),
                "--no-pager",
                *words,
                name=f"git {words[0]}, to know what the repository would have it run",
                cwd=folder,
                env=self._env | told_git(told, self._env),
                grace=0,
                output_limit=_LONGEST,
                told=False,
            )
        except (ProcessError, ValueError) as error:
            raise CannotTell(f"git was not started: {error}") from error
        if await asked.within(self._until - monotonic(), 0) is None:
            await asked.end(0)
            return None
        return asked.stdout.head if asked.code == 0 and not asked.stdout.cut else None
