"""The pages, as their tests read them: blocks of code, prose, tables, and what links lead to."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from tests.scenarios import ROOT

DOCS = ROOT / "docs"
Nav: TypeAlias = str | list["Nav"] | dict[str, "Nav"]
_FENCE = re.compile(r"^( *)(`{3,})([^\n`]*)\n(.*?)^\1\2$\n?", re.MULTILINE | re.DOTALL)
_NOTE = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"^(#{1,6}) +(.+?)(?: +\{ *([^}]*)\})?$", re.MULTILINE)
_ID = re.compile(r"""\bid=["']([^"']+)["']""")
_DIRECTIVE = re.compile(r"^::: ([\w.]+)\n((?:    .*\n)*)", re.MULTILINE)
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)(?: +\"[^\"]*\")?\)")  # an image, too
_DEFINED = re.compile(r"^ {0,3}\[([^\]^][^\]]*)\]: *<?([^>\s]+)", re.MULTILINE)
_REFERRED = re.compile(r"\[([^\[\]]+)\]\[([^\[\]]*)\]")
_TAG = re.compile(r"<(?:a|img|source|link|script)\b[^>]*>", re.DOTALL)
_BARE = re.compile(r"<(https?://[^>\s]+)>")
_LEADING = re.compile(r"""\b(?:href|src|srcset)=["']([^"']+)["']""")
_INLINE = re.compile(r"(`+)(.+?)\1")
_ROW = re.compile(r"^\| *(.*?) *\|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code, and the line of its page on which it begins."""

    language: str
    about: str  # what else is said of it: a title
    text: str
    line: int

    @property
    def title(self) -> str:
        found = re.search(r'title="([^"]+)"', self.about)
        return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class Directive:
    """A name whose docstring is put in here, with the members of it that are shown."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Page:
    """A page, or what somebody would write on one."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> Page:
        return cls(path, path.read_text(encoding="utf-8"))

    def __str__(self) -> str:
        return str(self.path.relative_to(ROOT))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(self._blocks())

    def _blocks(self) -> Iterator[Block]:
        for found in _FENCE.finditer(self.text):
            language, _, about = found[3].strip().partition(" ")
            lines = (line.removeprefix(found[1]) for line in found[4].splitlines(keepends=True))
            yield Block(
                language, about, "".join(lines), self.text.count("\n", 0, found.start()) + 1
            )

    @cached_property
    def prose(self) -> str:
        """What is no block and no note."""
        return _NOTE.sub("", _FENCE.sub("\n", self.text))

    @cached_property
    def inline(self) -> tuple[str, ...]:
        """What stands in backticks."""
        return tuple(found[1] for found in _INLINE.findall(self.prose))

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Where it leads, and what it shows: in line, by reference, and in HTML."""
        tags = " ".join(_TAG.findall(self.prose))
        shown = [one.split()[0] for found in _LEADING.findall(tags) for one in found.split(",")]
        return (
            *_LINK.findall(self._without_code),
            *self.references.values(),
            *shown,
            *_BARE.findall(self._without_code),
        )

    @cached_property
    def references(self) -> dict[str, str]:
        """The links that stand by themselves, by the names under which they are used."""
        return {name.lower(): to for name, to in _DEFINED.findall(self._without_code)}

    @cached_property
    def referred(self) -> frozenset[str]:
        """The names under which such links are used."""
        used = _REFERRED.findall(self._without_code)
        return frozenset((name or text).lower() for text, name in used)

    @cached_property
    def _without_code(self) -> str:
        return _INLINE.sub(_but_links, self.prose)

    @cached_property
    def directives(self) -> tuple[Directive, ...]:
        return tuple(
            Directive(name, tuple(re.findall(r"\w+", _members_in(options))))
            for name, options in _DIRECTIVE.findall(self.text)
        )

    @cached_property
    def anchors(self) -> frozenset[str]:
        """What a link to a place in it may name."""
        named = [_anchor(text, about) for _, text, about in _HEADING.findall(self.prose)]
        return frozenset((*named, *_ID.findall(self.prose), *(one.name for one in self.directives)))

    def section(self, title: str) -> str:
        """The text below a heading, to the next one of its rank or a higher one."""
        ranks = [
            (len(one[1]), one[2], one.start(), one.end()) for one in _HEADING.finditer(self.text)
        ]
        for at, (rank, text, _, end) in enumerate(ranks):
            if text == title:
                stops = (start for other, _, start, _ in ranks[at + 1 :] if other <= rank)
                return self.text[end : next(stops, len(self.text))]
        raise AssertionError(f"{self} has no section {title!r}")


def _members_in(options: str) -> str:
    found = re.search(r"members: \[(.*?)\]", options, re.DOTALL)
    return found[1] if found else ""


def _but_links(code: re.Match[str]) -> str:
    return "`code`" if "](" in code[2] or "][" in code[2] else code[0]


def _anchor(text: str, about: str) -> str:
    if named := re.search(r"#([\w.-]+)", about):
        return named[1]
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def site_pages() -> list[Page]:
    """The pages of the site."""
    return [Page.read(path) for path in sorted(DOCS.rglob("*.md"))]


def all_pages() -> list[Page]:
    """Those, and what stands beside them in the repository."""
    return [*(Page.read(path) for path in sorted(ROOT.glob("*.md"))), *site_pages()]


def page(name: str) -> Page:
    """One of the site's."""
    return Page.read(DOCS / name)


def rows(text: str) -> list[list[str]]:
    """The cells of the tables in a text, without their heads."""
    lines = [re.split(r"(?<!\\)\|", line) for line in _ROW.findall(text)]
    cells = [[cell.strip() for cell in line] for line in lines]
    heads = [at for at, line in enumerate(cells) if set("".join(line)) <= set("-: ")]
    return [line for at, line in enumerate(cells) if at not in heads and at + 1 not in heads]


def names(text: str) -> list[str]:
    """What stands in backticks."""
    return [found[1] for found in _INLINE.findall(text)]


def named_in_first_cells(text: str) -> list[str]:
    """The names that the rows of a text's tables are about."""
    return [name for row in rows(text) for name in names(row[0])]


def nav() -> list[str]:
    """The pages of the site in their order, as its configuration has them."""
    told = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    return list(_paths_in(told["project"]["nav"]))


def _paths_in(part: Nav) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    else:
        for one in part.values() if isinstance(part, dict) else part:
            yield from _paths_in(one)
