"""`lastword cells`, `cell` and `resume`: programs that wait, and answers for what they wait on."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, cast
from urllib.parse import quote

from lastword.cli.remote import RemoteFailed, ask

ABOUT = {
    "cells": "List the cells that wait for an answer, in all sessions of a server.",
    "cell": "Show what a cell waits on, and what it printed since last seen.",
    "resume": """\
Answer calls that a cell waits on, by the number of the frontier at which you
saw them.

A resume is accepted or refused whole, and at most once. It is a message of the
session: it waits for its turn, and takes over from nobody.""",
}


def options(what: str, parser: argparse.ArgumentParser) -> None:
    """What can be said behind each of them."""
    if what == "cells":
        return
    parser.add_argument("cell", metavar="CELL", help="the cell's id, as `lastword cells` lists it")
    parser.add_argument(
        "--session", metavar="SESSION", help="its session, for one that does not wait any more"
    )
    if what == "resume":
        parser.add_argument(
            "--generation", type=int, required=True, metavar="N", help="which frontier you saw"
        )
        for name, shown, about in (
            ("--result", "CALL=JSON", "what a call returned"),
            ("--error", "CALL=TEXT", "what a call raised"),
            ("--allow", "CALL", "let the agent whose cell it is make this call now"),
        ):
            parser.add_argument(name, action="append", default=[], metavar=shown, help=about)


def main(what: str, asked: argparse.Namespace) -> int:
    """Do one of them; the exit code."""
    try:
        return _DO[what](asked)
    except (RemoteFailed, ValueError) as error:
        print(f"lastword {what}: {error}", file=sys.stderr)
        return 1


def _cells(asked: argparse.Namespace) -> int:
    found = ask(asked, "GET", "/v1/cells")["cells"]
    for cell in found:
        waits = ", ".join(call["name"] for call in cell["pending"])
        print(f"{cell['id']}  {cell['session']}  frontier {cell['generation']}: {waits}")
    if not found:
        print("No cell waits.", file=sys.stderr)
    return 0


def _path(asked: argparse.Namespace) -> str:
    """Where the server has it: by its session, which its id does not tell."""
    if asked.session:
        session, cell = quote(asked.session, safe=""), quote(asked.cell, safe="")
        return f"/v1/sessions/{session}/cells/{cell}"
    found = [one for one in ask(asked, "GET", "/v1/cells")["cells"] if one["id"] == asked.cell]
    if not found:
        raise ValueError(
            f"no cell {asked.cell} waits there (`lastword cells` lists those that do); of one that "
            "goes on or has ended, say the --session"
        )
    session, cell = quote(found[0]["session"], safe=""), quote(asked.cell, safe="")
    return f"/v1/sessions/{session}/cells/{cell}"


def _cell(asked: argparse.Namespace) -> int:
    seen = ask(asked, "GET", f"{_path(asked)}/frontier")
    print(f"{asked.cell} is {seen['standing']}, frontier {seen['generation']}")
    for call in seen["pending"]:
        print(f"  {call['call']}  {call['name']} {call['arguments']}")
    if ending := seen["ending"]:
        print(f"  {ending['outcome']} {ending['result'] or ending['error']}")
    if seen["fresh"]:
        print(_plain(seen["fresh"]), end="" if seen["fresh"].endswith("\n") else "\n")
    return 0


def _plain(text: str) -> str:
    """What a program prints must not steer the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def _resume(asked: argparse.Namespace) -> int:
    results: dict[str, dict[str, Any]] = {}
    for kind, pairs in (("value", asked.result), ("error", asked.error)):
        for pair in cast("list[str]", pairs):
            call, answer = _pair(pair)
            if call in results:
                raise ValueError(f"call {call} is answered more than once")
            results[call] = {kind: _json(answer) if kind == "value" else answer}
    told = {"generation": asked.generation, "results": results, "allow": asked.allow}
    ticket = ask(asked, "POST", f"{_path(asked)}/resume", told)
    where = f"frontier {asked.generation} of {asked.cell}"
    print(f"Accepted: run {ticket['run']} brings the answers to {where}.")
    return 0


def _pair(told: str) -> tuple[str, str]:
    call, equals, answer = told.partition("=")
    if not call or not equals:
        raise ValueError(f"an answer is CALL=…, and {told!r} is not")
    return call, answer


def _json(told: str) -> object:
    try:
        return json.loads(told)
    except ValueError as error:
        raise ValueError(f"a result is JSON, and {told!r} is not: {error}") from error


_DO = {"cells": _cells, "cell": _cell, "resume": _resume}
