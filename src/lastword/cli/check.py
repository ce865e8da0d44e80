"""`lastword check`, as somebody types it who wants to know whether their agent stops."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lastword.check import baseline
from lastword.check.asked import Subject, subjects
from lastword.check.catalogue import BY_ID, STORIES
from lastword.check.contract import CannotStart
from lastword.check.judge import Commission, Judge
from lastword.check.machine import adopt, alone
from lastword.check.recipes import known
from lastword.check.reports import as_json, html, junit, markdown, table
from lastword.check.results import CheckReport
from lastword.check.setup import setup
from lastword.check.story import EDITION, KINDS, Story
from lastword.check.times import Times

ABOUT = """\
Does it stop? Judge an agent by what can be seen of it after a stop.

The language model, the tools and the processes are the check's own, so it needs
no key, and what happens after a stop is seen and not asked. It takes about a
minute. An agent gets a home of its own, and nothing is left behind.

  lastword check acp -- COMMAND …        an agent for editors (ACP)
  lastword check python MODULE:FACTORY   an agent in Python, of any framework
  lastword check agui URL                a server that speaks AG-UI
  lastword check responses URL           a server of OpenAI's responses
  lastword check v1 URL                  a lastword server
  lastword check all FILE.toml           several of them

Exit code: 0 every MUST is kept, or is broken and in the baseline; 1 a MUST is
broken, or is in the baseline and kept; 2 the target could not be started, or
does not ask our model; 3 a MUST could not be told."""
USAGE = "KIND [TARGET] [--recipe NAME] … [-- COMMAND …]"

_BROKEN, _NOT_STARTED, _NOT_TOLD = 1, 2, 3


def options(parser: argparse.ArgumentParser) -> None:
    """What can be said behind `lastword check`."""
    add = parser.add_argument
    add("target", nargs="*", metavar="TARGET", help="what kind of target it is, and where")
    add(
        "--recipe",
        default="",
        metavar="NAME",
        help=f"how it is set up: {', '.join(known())}, or a file",
    )
    add(
        "--env", action="append", default=[], metavar="NAME=TEXT", help="a variable for its command"
    )
    add(
        "--stop",
        default="",
        metavar="URL",
        help="where AG-UI is told to stop; {threadId} is filled in",
    )
    add(
        "--header", action="append", default=[], metavar="NAME:TEXT", help="a header for its server"
    )
    add("--token", default="", metavar="TOKEN", help="the token for its server")
    add("--port", type=int, default=0, metavar="PORT", help="where our model listens")
    add("--journal", type=Path, metavar="FILE", help="where our tools write, if you start them")
    add("--only", default="", metavar="ID,…", help="these stories")
    add("--level", choices=("must", "should"), default="must", help="which of them fail a check")
    add(
        "--repeat",
        type=int,
        default=0,
        metavar="N",
        help="run each so often (1; 5 what is kept by chance)",
    )
    add("--overlap", type=int, default=4, metavar="N", help="tell so many stories side by side (4)")
    add("--limit", type=float, default=10.0, metavar="S", help="a stop is answered by then (10 s)")
    add("--baseline", type=Path, metavar="FILE", help="what is known to be broken, by id")
    add("--again", type=Path, metavar="REPORT", help="only what was not kept in this JSON report")
    add("--allow-unknown", action="store_true", help="what cannot be told is no failure")
    add("--evidence", type=Path, metavar="FOLDER", help="keep what was seen of what was not kept")
    for name in ("json", "junit", "markdown", "html"):
        add(f"--{name}", type=Path, metavar="FILE", help=f"write a report as {name}")
    add("--list", action="store_true", help="list the stories, and leave")
    add("--explain", metavar="ID", help="say what a story is about, and leave")
    add("--print-setup", action="store_true", help="say how a target is set up by hand, and leave")


def main(asked: argparse.Namespace) -> int:
    """Judge; the exit code."""
    if asked.list:
        return _list()
    try:
        if asked.explain:
            return _explain(asked.explain)
        if asked.print_setup:
            print(setup(asked.port, asked.journal))
            return 0
        return _judged(asked)
    except (ValueError, OSError) as error:
        print(f"lastword check: {error}", file=sys.stderr)
        return _NOT_STARTED


def _judged(asked: argparse.Namespace) -> int:
    stories, listed = _stories(asked), baseline.read(asked.baseline) if asked.baseline else []
    if unknown := [one for one in listed if one.partition("/")[0] not in BY_ID]:
        raise ValueError(f"{asked.baseline} names stories that there are not: {', '.join(unknown)}")
    chosen = _subjects(asked)
    network = "shared: the target is not the check's own"
    if all(one.command or one.kind in ("acp", "python") for one in chosen):
        network = alone()
    wanted = Commission(
        stories,
        repeat=asked.repeat,
        overlap=max(1, asked.overlap),
        times=Times(limit=asked.limit),
        evidence=asked.evidence,
        network=network,
        owns=adopt(),
        port=asked.port,
        journal=asked.journal,
        told=lambda result: print(table.row(result), flush=True),
    )
    reports: list[CheckReport] = []
    failed = 0
    for subject in chosen:
        try:
            reports.append(_one(subject, wanted))
        except CannotStart as error:
            print(f"lastword check: {error}", file=sys.stderr)
            failed = _NOT_STARTED
    _write(asked, reports)
    return failed or _code(asked, reports, listed)


def _one(subject: Subject, wanted: Commission) -> CheckReport:
    report = asyncio.run(Judge(subject.maker(), wanted).report())
    known = subject.prepared
    old = known.old(report.date)
    told = {"command": " ".join(subject.command), "recipe": subject.recipe, "old": old}
    told |= {"tried_with": known.version, "env": ", ".join(sorted(known.env))}
    report.target |= {name: text for name, text in told.items() if text}
    print(table.summary(report), flush=True)
    return report


def _subjects(asked: argparse.Namespace) -> list[Subject]:
    kind, *where = asked.target or [""]
    if kind == "all":
        found = [one for file in where for one in subjects(Path(file))]
        if not found:
            raise ValueError("say which file: lastword check all FILE.toml")
    else:
        if kind not in KINDS.values():
            raise ValueError(f"say what kind of target it is: {', '.join(KINDS.values())}, all")
        headers = _pairs(asked.header, ":")
        if asked.token:
            headers["authorization"] = f"Bearer {asked.token}"
        found = [
            Subject(
                kind,
                where[0] if where else "",
                asked.command,
                asked.recipe,
                _pairs(asked.env, "="),
                headers,
                asked.stop,
            )
        ]
    for one in found:
        one.maker()
    return found


def _pairs(told: Sequence[str], sign: str) -> dict[str, str]:
    parts = [one.partition(sign) for one in told]
    if wrong := [one for one, (_, found, _) in zip(told, parts, strict=True) if not found]:
        raise ValueError(f"{wrong[0]!r} has no {sign!r}")
    return {name.strip(): text.strip() for name, _, text in parts}


def _stories(asked: argparse.Namespace) -> list[Story]:
    wanted = [one for one in asked.only.split(",") if one]
    if asked.again:
        told: dict[str, Any] = json.loads(asked.again.read_text("utf-8"))
        wanted += [
            story["id"]
            for target in told["targets"]
            for story in target["stories"]
            if story["verdict"] in ("broken", "cannot tell")
        ]
    if unknown := [one for one in wanted if one not in BY_ID]:
        raise ValueError(f"there is no story {unknown[0]!r}; `lastword check --list` has them all")
    return [story for story in STORIES if not wanted or story.id in wanted]


def _write(asked: argparse.Namespace, reports: list[CheckReport]) -> None:
    written = {
        asked.json: lambda: as_json.text(reports),
        asked.junit: lambda: junit.text(reports, level=asked.level),
        asked.markdown: lambda: markdown.text(reports),
        asked.html: lambda: html.text(reports),
    }
    for file, text in written.items():
        if file is not None:
            file.write_text(text(), encoding="utf-8")


def _code(asked: argparse.Namespace, reports: list[CheckReport], listed: list[str]) -> int:
    found = baseline.differences(reports, listed)
    for one in found.healed:
        print(f"{one} is in the baseline, and is kept: take it out", flush=True)
    results = [result for report in reports for result in report.results]
    should = [
        r for r in results if r.verdict == "broken" and not r.must and asked.level == "should"
    ]
    should = [r for r in should if r.story.id not in listed]
    if found.new or found.healed or should:
        return _BROKEN
    unknown = any(result.verdict == "cannot tell" and result.must for result in results)
    return _NOT_TOLD if unknown and not asked.allow_unknown else 0


def _list() -> int:
    print(f"lastword check {EDITION}: {len(STORIES)} stories")
    for story in STORIES:
        chance = " ~" if story.by_chance else ""
        print(f"{story.id:<20} {story.level + chance:<9} {story.words}")
    print("~ may be kept by chance, and is run five times")
    return 0


def _explain(id: str) -> int:
    if id not in BY_ID:
        raise ValueError(f"there is no story {id!r}; `lastword check --list` has them all")
    story = BY_ID[id]
    needs = ", ".join(sorted(story.needs))
    kinds = ", ".join(KINDS[letter] for letter in story.kinds)
    print(f"{story.id}  {story.level}\n\n{story.words}.\nBroken if {story.rule}.")
    print(f"\nNeeds: {needs}. Asked of: {kinds}.")
    return 0
