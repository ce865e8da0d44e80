"""`lastword check`, as somebody types it: what it prints, writes, and leaves behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from lastword.check.keeper import marked
from lastword.check.reports import as_json
from tests.check.judging import PLANTED
from tests.scenarios import ROOT

OF = [sys.executable, PLANTED]


async def check(
    *words: str, env: Mapping[str, str] | None = None
) -> tuple[asyncio.subprocess.Process, asyncio.Task[tuple[bytes, bytes]]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "lastword", "check", *words,
        stdout=-1, stderr=-1, cwd=ROOT, env={**os.environ, **(env or {})},
    )  # fmt: skip
    return process, asyncio.ensure_future(process.communicate())


async def checked(*words: str, env: Mapping[str, str] | None = None) -> tuple[int | None, str]:
    process, over = await check(*words, env=env)
    out, errors = await over
    return process.returncode, (out + errors).decode()


def left_in(folder: Path, below: str = "") -> list[Path]:
    return list(folder.glob(f"lastword-check-*{below}"))


def temporary_in(folder: Path) -> list[Path]:
    return list(folder.rglob("left-*"))


@pytest.mark.scenario("K9")
async def test_every_report_is_as_its_readers_want_it(tmp_path: Path) -> None:
    names = ("json", "junit", "markdown", "html")
    files = {name: tmp_path / f"report.{name}" for name in names}
    said = [word for name in names for word in (f"--{name}", str(files[name]))]
    evidence = tmp_path / "evidence"

    code, _ = await checked(
        "acp", "--only", "text.quiet,next.history,tool.thread", *said,
        "--evidence", str(evidence), "--", *OF, "forgets-results",
    )  # fmt: skip

    assert code == 1
    told = json.loads(files["json"].read_text("utf-8"))
    jsonschema.validate(told, as_json.schema())
    [target] = told["targets"]
    verdicts = {story["id"]: story["verdict"] for story in target["stories"]}
    assert verdicts == {
        "text.quiet": "kept",
        "tool.thread": "not asked",
        "next.history": "broken",
    }
    suite = ElementTree.fromstring(files["junit"].read_bytes())[0]  # noqa: S314 - ours
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "1")
    assert "| `next.history` | MUST | **broken** |" in files["markdown"].read_text("utf-8")
    page = files["html"].read_text("utf-8")
    assert "<script" not in page
    assert "src=" not in page
    assert page.index(">STOP<") < page.index(">ANSWER<")
    [kept] = evidence.iterdir()
    assert {file.name for file in kept.iterdir()} >= {"wire.log", "requests.json", "journal.json"}


@pytest.mark.scenario("K10")
async def test_each_end_of_a_check_has_its_own_exit_code(tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text("next.history  # since today\n", encoding="utf-8")
    healed = ("--only", "text.silent-model,next.history", "--baseline", str(known), "--")
    only = ("--only", "next.history")

    ends = await asyncio.gather(
        checked("acp", *healed, *OF, "forgets-results"),
        checked("acp", *healed, *OF),
        checked("acp", *only, "--", *OF, "forgets-results"),
        checked("acp", "--", "/no/such/agent"),
        checked("acp", *only, "--", sys.executable, "-c", "print('I am no agent')"),
        checked("tea", "--", *OF),
    )

    assert [code for code, _ in ends] == [0, 1, 1, 2, 2, 2]
    assert "next.history is in the baseline, and is kept: take it out" in ends[1][1]
    assert "could not be started" in ends[3][1]
    assert "I am no agent" not in ends[4][1]


@pytest.mark.scenario("K8")
async def test_none_of_the_persons_keys_is_handed_on_and_nothing_is_left(tmp_path: Path) -> None:
    spy = tmp_path / "spy.py"
    seen = tmp_path / "seen"
    spy.write_text(
        f"import json, os, runpy, sys, tempfile\n"
        f"own = {{'temporary': tempfile.mkstemp(prefix='left-')[1]}}\n"
        f"open({str(seen)!r}, 'w').write(json.dumps({{**os.environ, **own}}))\n"
        f"sys.argv = [{PLANTED!r}]\n"
        f"runpy.run_path({PLANTED!r}, run_name='__main__')",
        encoding="utf-8",
    )
    own = {"OPENAI_API_KEY": "the person's", "SECRET_OF_MINE": "1", "TMPDIR": str(tmp_path)}

    code, _ = await checked("acp", "--only", "text.quiet", "--", sys.executable, str(spy), env=own)

    assert code == 0
    given = json.loads(seen.read_text("utf-8"))
    assert given["OPENAI_API_KEY"] == "no-key-at-all"
    assert "SECRET_OF_MINE" not in given
    assert given["HOME"].startswith(str(tmp_path))
    assert given["temporary"].startswith(str(tmp_path))
    assert temporary_in(tmp_path) == []
    assert left_in(tmp_path) == []
    assert marked(given["LASTWORD_CHECK"]) == []


@pytest.mark.scenario("K8")
@pytest.mark.scenario("K23", part="killed")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
async def test_a_check_that_is_interrupted_leaves_nothing(
    tmp_path: Path, number: signal.Signals
) -> None:
    process, over = await check(
        "acp", "--only", "cycles.flat", "--", *OF, "leaves-daemons", env={"TMPDIR": str(tmp_path)}
    )
    while not (found := left_in(tmp_path, "/lane0/home")):
        await asyncio.sleep(0.05)  # the tool's own: it has a home once it has begun
    mark = f"{found[0].parents[1].name}-lane0"

    process.send_signal(number)
    await over
    while number is signal.SIGKILL and (left_in(tmp_path) or marked(mark)):
        await asyncio.sleep(0.05)  # the tool's own: who sees it all off comes behind the judge

    assert left_in(tmp_path) == []
    assert marked(mark) == []


@pytest.mark.scenario("K7")
async def test_a_check_that_is_frozen_in_the_middle_comes_to_the_same_end() -> None:
    stories = "text.quiet,tool.no-effect,next.history,idle.harmless"
    process, over = await check("acp", "--only", stories, "--", *OF, "forgets-results")
    for _ in range(4):
        await asyncio.sleep(1.1)  # the tool's own: somewhere in the middle
        if process.returncode is None:
            process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(1)  # the tool's own: that is how long it is frozen
            process.send_signal(signal.SIGCONT)
    out = (await over)[0].decode()

    verdicts = dict(line.split(maxsplit=1) for line in out.splitlines()[:4])
    assert verdicts["next.history"].startswith(("BROKEN MUST", "cannot tell"))
    others = set(verdicts) - {"next.history"}
    assert all(verdicts[one].startswith(("kept", "cannot tell")) for one in others)


async def test_the_stories_are_listed_and_each_is_explained() -> None:
    (code, listed), (_, told) = await asyncio.gather(
        checked("--list"), checked("--explain", "tool.deaf")
    )

    assert code == 0
    assert listed.startswith("lastword check 1: 32 stories")
    assert "Broken if the answer waits for the tool" in told


@pytest.mark.scenario("K21")
async def test_a_report_says_that_its_recipe_is_old(tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text('name = "mine"\nversion = "0.9"\ndate = "2020-02-29"\n', "utf-8")
    names = ("json", "markdown", "html")
    files = {name: tmp_path / f"report.{name}" for name in names}
    said = [word for name in names for word in (f"--{name}", str(files[name]))]

    code, told = await checked(
        "acp", "--only", "text.quiet", "--recipe", str(recipe), *said, "--", *OF
    )

    old = "the recipe was last tried on 2020-02-29, with 0.9: more than 90 days ago"
    texts = [told, *(file.read_text("utf-8") for file in files.values())]
    assert code == 0
    assert [old in text for text in texts] == [True] * 4
    jsonschema.validate(json.loads(texts[1]), as_json.schema())
