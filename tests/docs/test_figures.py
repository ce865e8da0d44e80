"""A figure that stands in several places is the same in each."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import Page, page, rows
from tests.scenarios import ROOT

INSTALL = (ROOT / "scripts" / "install").read_text(encoding="utf-8")
FIRST_MINUTE = "The first minute (`scripts/bench newcomer`)"
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("where", ["CONTRIBUTING.md", "docs/dependencies.md"])
def test_what_an_install_of_everything_weighs_is_told_as_it_is_told_while_it_goes_on(
    where: str,
) -> None:
    [weight] = re.findall(r"every extra, .* ([\d,]+ MB) in the end", INSTALL)

    assert weight in (ROOT / where).read_text(encoding="utf-8")


def test_what_the_first_minute_fetches_and_leaves_is_the_same_wherever_it_is_told() -> None:
    """As `scripts/bench newcomer` measured it; `scripts/install` tells it while it goes on."""
    [told] = re.findall(
        r"what running needs: (\d+) packages, (\d+ MB) to fetch, (\d+ MB) in the end", INSTALL
    )
    of_run = "**what `scripts/run` installs: `chat`, `server`**"
    [extras] = [row for row in rows(page("dependencies.md").text) if row[0] == of_run]
    measured = dict(
        row[::2] for row in rows(page("performance.md").section(FIRST_MINUTE)) if len(row) == 3
    )

    assert tuple(cell.strip("*") for cell in extras[1:4]) == told
    assert measured["fetched"] == f"**{told[1]}**"
    assert measured["`.venv`, installed"] == f"**{told[2]}**"
    assert f"`scripts/run` leaves {told[2]}" in page("dependencies.md").text
    assert f"and {told[1]} to fetch" in page("performance.md").text
    for elsewhere in ("CONTRIBUTING.md", "CHANGELOG.md"):
        assert told[2] in (ROOT / elsewhere).read_text(encoding="utf-8")


def test_the_readme_says_what_its_two_commands_fetch_and_install() -> None:
    [fetched] = re.findall(r"what running needs: .* ([\d,]+ MB) to fetch", INSTALL)
    [weight] = re.findall(r"every extra, .* ([\d,]+ MB) in the end", INSTALL)
    about = dict(re.findall(r"^scripts/(\w+) +#(.*)$", README, re.MULTILINE))

    assert fetched in about["run"]
    assert weight in about["test"]


def test_the_readme_says_what_an_effect_costs_as_it_was_measured() -> None:
    [(text, call)] = re.findall(
        r"(\d+ µs) for a piece of text, (\d+ µs) for a call of an async tool", README
    )
    measured = page("performance.md").text

    assert f"`run.emit` to an async sink ({text})" in measured
    assert f"gated call of an async tool ({call})" in measured


def test_the_readmes_example_is_as_short_as_its_heading_says() -> None:
    [said] = re.findall(r"^## The idea in (\d+) lines$", README, re.MULTILINE)
    first = next(b for b in Page(ROOT / "README.md", README).blocks if b.language == "python")

    assert int(said) == sum(bool(line.strip()) for line in first.text.splitlines())
