"""What the pages for operators name is there: metrics, commands, options, files."""

from __future__ import annotations

import re

import pytest

from lastword.cli import entry
from tests.deploy.container import FILE, instructions
from tests.deploy.test_unit import settings
from tests.scenarios import ROOT
from tests.server.client import serving_engine
from tests.server.engines import echo

PAGES = sorted((ROOT / "docs" / "operate").glob("*.md"))
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def options_of(command: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    with pytest.raises(SystemExit):
        entry.main([command, "--help"])
    return set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out))


async def test_the_metrics_that_alerts_are_about_are_those_of_the_server() -> None:
    page = (ROOT / "docs" / "operate" / "telemetry.md").read_text(encoding="utf-8")
    async with serving_engine(echo) as client:
        told = (await client.get("/metrics")).body.decode()
    there = set(re.findall(r"^# TYPE (\w+)", told, re.MULTILINE))

    named = {
        re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"lastword_\w+", page)
    }

    assert named
    assert named <= there


def test_alerts_and_how_metrics_are_fetched_stand_on_one_page() -> None:
    for words in ("- alert:", "scrape_configs:"):
        holding = [page.name for page in PAGES if words in page.read_text(encoding="utf-8")]
        assert holding == ["telemetry.md"]


def test_every_command_line_of_the_pages_is_one_that_lastword_knows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    typed = re.findall(r"(?:^|[ /])lastword ([a-z]+)([^`\n|]*)", _blocks(), re.MULTILINE)
    assert typed
    for command, rest in typed:
        known = options_of(command, capsys)
        assert set(re.findall(r"(?<!\S)--[a-z][a-z-]+", rest)) <= known, (command, rest)


def test_what_is_to_be_done_to_the_store_of_the_service_can_be_pasted_as_it_stands() -> None:
    done = r"^.*lastword (?:backup|restore|prune|delete|vacuum) .*$"
    lines = re.findall(done, _blocks(), re.MULTILINE)

    assert len(lines) > 6
    for line in lines:
        assert "/opt/lastword/bin/lastword" in line
        assert "--store sqlite:/" in line


def test_an_upgrade_needs_its_backup_and_a_start_what_was_restored() -> None:
    steps = [block for block in _blocks_of("upgrade.md", "backup.md") if "systemctl" in block]

    assert len(steps) == 2
    for step in steps:
        before, _, _ = step.rpartition("\n/opt" if "restart" in step else "\nsystemctl start")
        _, begun, acted = before.partition("/opt/lastword/bin/lastword")
        assert begun
        assert all(line.endswith("&&") for line in acted.splitlines())


def _blocks_of(*names: str) -> list[str]:
    pages = (ROOT / "docs" / "operate" / name for name in names)
    return re.findall(
        r"```sh\n(.*?)```", "\n".join(page.read_text(encoding="utf-8") for page in pages), re.DOTALL
    )


def _blocks() -> str:
    """What is to be typed."""
    return "\n".join(re.findall(r"```(?:sh|ini)\n(.*?)```", TEXT, re.DOTALL)).replace(
        "podman run --rm lastword", "/opt/lastword/bin/lastword"
    )


def test_what_the_unit_and_the_container_start_are_options_that_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    known = options_of("serve", capsys)
    command = dict(instructions(FILE.read_text(encoding="utf-8")))["CMD"]

    for words in (settings()["ExecStart"], command):
        assert set(re.findall(r"--[a-z][a-z-]+", words)) <= known


def test_every_option_of_the_unit_that_the_page_speaks_of_is_as_the_page_says() -> None:
    page = (ROOT / "docs" / "operate" / "systemd.md").read_text(encoding="utf-8")
    told = settings()
    rows = re.findall(r"^\| (`[A-Z][^|]+=`) \| ([^|]+) \|", page, re.MULTILINE)

    assert rows
    for names, values in rows:
        each = [name.strip("`=") for name in re.findall(r"`\w+=`", names)]
        wanted = re.findall(r"`([^`]+)`", values) or [None] * len(each)
        assert [told.get(name) for name in each] == wanted


def test_every_command_is_explained_to_who_runs_a_server_or_elsewhere() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)

    for command in ("backup", "restore", "prune", "vacuum"):
        assert f"lastword {command}" in text


def test_a_line_of_the_log_that_is_worth_an_alert_is_one_that_there_is() -> None:
    page = (ROOT / "docs" / "operate" / "logs.md").read_text(encoding="utf-8")
    begun = re.findall(r"^\| `([a-z][^`]*)` \|", page.partition("Worth an alert")[2], re.MULTILINE)
    sources = "\n".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "src" / "lastword").rglob("*.py")
    )

    assert len(begun) >= 7
    for words in begun:
        if words.startswith("lastword_"):
            continue
        first = re.split(r"=|…", words)[0]
        assert f'"{first}' in sources, words
