"""Which programs the settings of a repository name, and what git is to take in their place.

Some settings have a name of their own choosing in them (`filter.NAME.clean`), so they can only be
switched off by who has read them. Only names are read here, and more than there are does no harm:
what looks like a setting is taken for one. Nothing is run to find out.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

_MOST_FILES = 200
_LONGEST = 1 << 20  # bytes of one
_HEADER = re.compile(
    r'^[ \t]*\[[ \t]*([A-Za-z0-9-]+)(?:\.([^\]"\n]*)|[ \t]+"((?:[^"\\\n]|\\.)*)")?[ \t]*\]',
    re.MULTILINE,
)
_KEY = re.compile(r"^[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?", re.MULTILINE)
_PLAIN_DIFF = 'sh -c \'diff -u "$2" "$5" || :\' diff'
_BY_NAME: Mapping[str, Mapping[str, str]] = {
    "browser": {"cmd": "false", "path": "false"},
    "diff": {"command": _PLAIN_DIFF, "textconv": "cat"},
    "difftool": {"cmd": "false", "path": "false"},
    "filter": {"clean": "", "smudge": "", "process": "", "required": "false"},
    "man": {"cmd": "false", "path": "false"},
    "merge": {"driver": "false"},
    "mergetool": {"cmd": "false", "path": "false"},
    "submodule": {"update": "checkout"},
    "tar": {"command": "cat"},
    "trailer": {"command": "", "cmd": ""},
}
_OF_REMOTES = {"receivepack", "uploadpack", "vcs"}  # the first holds: then it is no remote at all
_FIXED: Mapping[str, Mapping[str, str]] = {
    "core": {"alternateRefsCommand": "true"},
    "credential": {"helper": ""},
    "diff": {"external": _PLAIN_DIFF},
    "gpg": {
        "program": "gpg",
        "openpgp.program": "gpg",
        "ssh.program": "ssh-keygen",
        "ssh.defaultKeyCommand": "true",
        "x509.program": "gpgsm",
    },
    "sendemail": {"sendmailCmd": "false", "smtpServer": "localhost", "toCmd": "", "ccCmd": ""},
}


def in_repository(path: Path) -> bool:
    """Whether a file is one of git's own, or would be: what it says, git does."""
    return any(part.lower().endswith(".git") for part in path.parts) or any(
        (up / "HEAD").exists() and ((up / "objects").exists() or (up / "commondir").exists())
        for up in path.parents
    )


def programs_named_in(folder: Path) -> dict[str, str]:
    """Settings for git, over those of the repository that a directory is in."""
    told: dict[str, str] = {}
    for text in _settings(folder):
        ends = list(_HEADER.finditer(text))
        for at, header in enumerate(ends):
            section, name = header[1].lower(), _name(header)
            end = ends[at + 1].start() if at + 1 < len(ends) else len(text)
            if section == "alias":
                keys = _KEY.finditer(text, header.end(), end)
                told |= {f"alias.{key[1]}": "" for key in keys} | {f"alias.{name}": ""}
            told |= _instead(section, name, text[header.end() : end])
    return told


def _name(header: re.Match[str]) -> str:
    return header[2] or re.sub(r"\\(.)", r"\1", header[3] or "")


def _instead(section: str, name: str, body: str) -> dict[str, str]:
    """For one section; a setting that it does not have is left alone."""
    said = {key[1].lower() for key in _KEY.finditer(body)}
    if section == "remote" and said & _OF_REMOTES:
        return {f"remote.{name}.vcs": "none"}
    if name and section in _BY_NAME:
        known = _BY_NAME[section]
        return {f"{section}.{name}.{key}": known[key] for key in known if key in said}
    fixed = _FIXED.get(section, {})
    within = f"{name.lower()}." if section == "gpg" and name else ""
    return {
        f"{section}.{key}": value
        for key, value in fixed.items()
        if key.lower().removeprefix(within) in said
    }


def _settings(folder: Path) -> Iterator[str]:
    """What is set in the repository: in its files, its submodules', and what those include."""
    left, seen = deque(_files(folder)), set[Path]()
    while left:
        path = left.popleft()
        if path in seen:
            continue
        seen.add(path)
        if len(seen) > _MOST_FILES:
            raise ValueError(
                f"the repository here has more than {_MOST_FILES} files of settings, so nobody can "
                "tell which programs git would run; nothing was run"
            )
        text = _text(path)
        left.extend(_included(path, text))
        yield text


def _text(path: Path) -> str:
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:  # noqa: PTH123 - a descriptor
            data = file.read(_LONGEST + 1)
        if len(data) > _LONGEST:
            raise ValueError(f"{path} is too long for settings of git; nothing was run")
        return data.decode(errors="surrogateescape").replace("\r\n", "\n").removeprefix("\ufeff")
    return ""


def _files(folder: Path) -> Iterator[Path]:
    """The files of settings of the repository that a directory is in."""
    bare = folder if (folder / "HEAD").is_file() and (folder / "objects").is_dir() else None
    above = next((up for up in (folder, *folder.parents) if (up / ".git").exists()), None)
    for found in filter(None, (bare, above and above / ".git")):
        home = found
        if found.is_file():
            home = found.parent / _text(found).removeprefix("gitdir:").strip()
        shared = home / (_text(home / "commondir").strip() or ".")
        for one in dict.fromkeys((home, shared)):
            yield one / "config"
            yield one / "config.worktree"
        for inside, _, names in os.walk(shared / "modules"):
            yield from (Path(inside) / name for name in names if name.startswith("config"))


def _included(path: Path, text: str) -> Iterator[Path]:
    if "include" not in text.lower():
        return
    for key in _KEY.finditer(text):
        value = (key[2] or "").strip().strip('"').replace("\\\\", "\\")
        if key[1].lower() == "path" and value:
            with suppress(RuntimeError):  # nobody's home
                yield path.parent / Path(value).expanduser()
