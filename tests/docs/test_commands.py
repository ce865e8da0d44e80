"""What the pages say to type is taken: by the parsers of `lastword`, and by the repository."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator

import pytest

from tests.docs.pages import DOCS, Page, all_pages
from tests.docs.parsers import commands, options_of, top, why_not
from tests.scenarios import ROOT

SHELLS = {"sh", "console"}
_QUOTED = re.compile(r"""(["'])lastword\b(.*?)\1""")  # as another program is told to start it
_COMMAND = re.compile(r"""(?:^|[;&|(])\s*lastword\b((?:"[^"]*"|'[^']*'|[^;&|)"'])*)""")
_SCRIPT = re.compile(r"(?<![\w/.-])(scripts/[\w-]+)(?![\w.-])")
_EXTRAS = re.compile(r"pip install '(?:lastword|\.)\[([\w,]+)\]'")
_PLACEHOLDER = re.compile(r"…|\.\.\.")


def lines(text: str) -> Iterator[str]:
    """The lines of a shell, each as it is read: continued ones whole, without prompts."""
    for line in text.replace("\\\n", " ").splitlines():
        yield re.sub(r"^\$ ", "", line).strip()


def typed(line: str) -> list[list[str]]:
    """The words behind each `lastword` in a line of a shell."""
    bare = re.sub(r"(^|\s)#.*", "", line)
    told = [words for _, words in _QUOTED.findall(bare)] + _COMMAND.findall(bare)
    return [shlex.split(words) for words in told]


def refused(page: Page) -> list[str]:
    """The commands in the blocks of a page that `lastword` would not take, and why."""
    return [
        f"{page}:{block.line}: lastword {' '.join(words)}: {why}"
        for block in page.blocks
        if block.language in SHELLS
        for line in lines(block.text)
        for words in typed(line)
        if (why := why_not(words))
    ]


def misnamed(page: Page) -> list[str]:
    """The commands in a page's prose that name something that there is not."""
    return [
        f"{page}: `{code}`: {why}"
        for code in page.inline
        if code.startswith("lastword ") and (why := _why_misnamed(code))
    ]


def _why_misnamed(code: str) -> str:
    words = re.findall(r"[^\s\"']+", _PLACEHOLDER.sub("", code))[1:]
    name = next((word for word in words if not word.startswith("-")), "")
    if name == "COMMAND":
        return ""
    if name and name not in commands():
        return f"there is no command {name!r}"
    known = options_of(commands()[name].parser) if name else options_of(top())
    unknown = {word.partition("=")[0] for word in words if word.startswith("-")} - known
    return f"it has no {', '.join(sorted(unknown))}" if unknown else ""


def test_every_command_that_is_shown_is_taken() -> None:
    assert [fault for page in all_pages() for fault in refused(page)] == []


def test_every_command_that_is_named_is_there() -> None:
    assert [fault for page in all_pages() for fault in misnamed(page)] == []


@pytest.mark.parametrize(
    "line",
    [
        "lastword serv",
        "lastword serve --prot 80",
        "x=$(lastword tokens)",
        "cd there && lastword stop",  # without a session
        'npx acpx --agent "lastword apc" exec "count"',
        "lastword chat \\\n    --modle a:b",
        "lastword doctor --level strict",
    ],
)
def test_a_command_that_is_not_taken_would_be_found(line: str) -> None:
    assert len(refused(Page(DOCS / "a.md", f"```sh\n{line}\n```\n"))) == 1


def test_a_command_that_is_taken_is_not_found() -> None:
    shown = '$ lastword chat -p "a; b" --yes  # lastword nonsense\nlastword stop s || true\n'

    assert [words for line in lines(shown) for words in typed(line)] == [
        ["chat", "-p", "a; b", "--yes"],
        ["stop", "s"],
    ]
    assert refused(Page(DOCS / "a.md", f"```console\n{shown}```\n")) == []


@pytest.mark.parametrize("code", ["lastword lsit", "lastword chat --stor x", "lastword --versoin"])
def test_a_command_that_is_named_wrongly_would_be_found(code: str) -> None:
    assert len(misnamed(Page(DOCS / "a.md", f"Type `{code}` there.\n"))) == 1


def missing_scripts(page: Page) -> list[str]:
    return [
        f"{page}: {name}"
        for name in sorted(set(_SCRIPT.findall(page.text)))
        if not (ROOT / name).is_file()
    ]


def test_every_script_that_is_named_is_there() -> None:
    assert [fault for page in all_pages() for fault in missing_scripts(page)] == []
    assert missing_scripts(Page(DOCS / "a.md", "`scripts/rnu`")) == ["docs/a.md: scripts/rnu"]


def missing_extras(page: Page) -> list[str]:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    known: set[str] = set(told["project"]["optional-dependencies"])
    asked = {one for found in _EXTRAS.findall(page.text) for one in found.split(",")}
    return [f"{page}: {extra}" for extra in sorted(asked - known)]


def test_every_extra_that_is_to_be_installed_is_there() -> None:
    assert [fault for page in all_pages() for fault in missing_extras(page)] == []
    assert missing_extras(Page(DOCS / "a.md", "pip install '.[sever]'")) == ["docs/a.md: sever"]
