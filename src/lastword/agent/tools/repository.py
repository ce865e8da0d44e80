"""What the settings of a repository would have git run, and what git is to take in its place.

Git alone knows how it reads its settings, so git is asked: to list them runs nothing. A setting is
plain if it is known to run nothing, or if the environment of commands wins over it in any case. All
others are asked about, known or not: what this list has forgotten costs a question, and no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lastword.agent.tools.git import CannotTell, Git
from lastword.runtime.run import Run

_MOST_INSIDE = 100  # repositories in one
_MOST_TOLD = 32_000  # bytes: an environment has an end
_PLAIN = re.compile(
    r"core\.(abbrev|autocrlf|bare|checkstat|compression|eol|filemode|hidedotfiles|ignorecase"
    r"|logallrefupdates|longpaths|precomposeunicode|preloadindex|protecthfs|protectntfs|quotepath"
    r"|repositoryformatversion|safecrlf|symlinks|trustctime|untrackedcache|whitespace)"
    r"|core\.(askpass|editor|fsmonitor|gitproxy|hookspath|pager|sshcommand)|sequence\.editor"
    r"|interactive\.difffilter|pager\..*|alias\..*"  # over these, the environment wins
    r"|user\.(name|email|signingkey)|(advice|color|gui)\..*|init\.defaultbranch"
    r"|remote\..*\.(fetch|gh-resolved|prune|pushurl|tagopt|url)|fetch\.prune|lfs\.repositoryformat.*"
    r"|branch\..*\.(description|gh-merge-base|merge|pushremote|rebase|remote|vscode-merge-base)"
    r"|pull\.(ff|rebase)|push\.(autosetupremote|default|followtags)|rebase\.auto(squash|stash)"
    r"|submodule\..*\.(active|url)|extensions\.objectformat|merge\.(conflictstyle|ff)",
    re.DOTALL,
)
_PLAIN_DIFF = 'sh -c \'diff -u "$2" "$5" || :\' diff'
_INSTEAD: Mapping[str, str] = {
    "browser.*.cmd": "false",
    "browser.*.path": "false",
    "core.alternaterefscommand": "true",
    "diff.*.command": _PLAIN_DIFF,
    "diff.*.textconv": "cat",
    "diff.external": _PLAIN_DIFF,
    "difftool.*.cmd": "false",
    "difftool.*.path": "false",
    "filter.*.clean": "",
    "filter.*.process": "",
    "filter.*.required": "false",
    "filter.*.smudge": "",
    "gpg.*.defaultkeycommand": "true",
    "gpg.openpgp.program": "gpg",
    "gpg.program": "gpg",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.x509.program": "gpgsm",
    "guitool.*.cmd": "false",
    "hook.*.command": "true",
    "imap.tunnel": "false",
    "man.*.cmd": "false",
    "man.*.path": "false",
    "merge.*.driver": "false",
    "mergetool.*.cmd": "false",
    "mergetool.*.path": "false",
    "sendemail.cccmd": "",
    "sendemail.sendmailcmd": "false",
    "sendemail.smtpserver": "localhost",
    "sendemail.tocmd": "",
    "submodule.*.update": "checkout",
    "tar.*.command": "cat",
    "trailer.*.cmd": "",
    "trailer.*.command": "",
}  # as git lists their names
_OTHERS = re.compile(r"git\s+(-(?!-?(version|help|no-pager|paginate|[hPpv])(\s|$)))|submodule")


@dataclass(slots=True)
class FoundRepository:
    """What is known of a repository, and of those inside it."""

    instead: dict[str, str] = field(default_factory=dict[str, str])  # settings that win
    why: str = ""  # git is asked about here; nothing if all is plain
    known: bool = True  # whether git, told those, runs nothing that the repository names


def in_repository(path: Path) -> bool:
    """Whether a file is one of git's own, or would be: what it says, git does."""
    return any(part.lower().endswith(".git") for part in path.parts) or any(
        (up / "HEAD").exists() and ((up / "objects").exists() or (up / "commondir").exists())
        for up in path.parents
    )


async def why_asked(run: Run, command: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Why a command with git in it is asked about in a folder, whatever rule allows it."""
    if _OTHERS.search(command):
        return "it has git work elsewhere, or by other settings, than is known beforehand"
    return (await look(run, folder, environment)).why


async def look(run: Run, folder: Path, environment: Mapping[str, str]) -> FoundRepository:
    """What git would do in a folder. It asks git, in a process of the run's, which takes some
    milliseconds."""
    git = Git(run, environment)
    try:
        return await _all_from(folder, git) if await git.is_there(folder) else FoundRepository()
    except CannotTell as error:
        return FoundRepository(
            {}, f"what git would run in the repository cannot be told: {error}", False
        )


async def _all_from(folder: Path, git: Git) -> FoundRepository:
    """A repository, and those inside it."""
    found, left, seen = FoundRepository(), [folder], 0
    while left:
        if (seen := seen + 1) > _MOST_INSIDE:
            raise CannotTell(f"there are more than {_MOST_INSIDE} others in it")
        one = left.pop(0)
        _judge(await git.settings(one, found.instead), found)
        left += await git.repositories(one, found.instead)
        git.inside()
    return found


def _judge(keys: Iterable[str], found: FoundRepository) -> None:
    for key in keys:
        found.instead |= _instead(key)
        if not found.why and not _PLAIN.fullmatch(key):
            shown = "".join(c if c.isprintable() else "?" for c in key)
            found.why = f"the repository sets {shown:.100}, so git may do more than it says"
    if sum(len(key) + len(value) + 10 for key, value in found.instead.items()) > _MOST_TOLD:
        raise CannotTell("its settings name more programs than an environment has room for")


def _instead(key: str) -> dict[str, str]:
    """For a setting that names a program: what takes its place."""
    section, _, rest = key.partition(".")
    name, _, last = rest.rpartition(".")
    if section == "alias":
        return {key: ""}
    if section == "remote" and last in ("receivepack", "uploadpack", "vcs"):
        return {f"remote.{name}.vcs": "none"}  # the first holds: then it is no remote at all
    if section == "credential" and last == "helper":
        return {"credential.helper": ""}
    value = _INSTEAD.get(key, _INSTEAD.get(f"{section}.*.{last}") if name else None)
    return {} if value is None else {key: value}
