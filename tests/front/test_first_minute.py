"""What a newcomer has after the one command that the README names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.front.first_minute import first_minute
from tests.front.fresh import PYTHON, copied, has_index, megabytes, newcomer_env
from tests.front.visit import served
from tests.server.browser import chromium

MOST = 150  # megabytes


@pytest.mark.scenario("B3")
@pytest.mark.scenario("B4")
def test_one_command_in_a_fresh_copy_leads_to_a_page_an_answer_and_a_stop(tmp_path: Path) -> None:
    if not has_index():
        pytest.skip("there is no index of packages to install from")
    root, home, heard = copied(tmp_path / "a fresh copy"), tmp_path / "home", tmp_path / "heard"
    home.mkdir()
    cache = subprocess.check_output([PYTHON, "-m", "pip", "cache", "dir"], text=True).strip()
    env = newcomer_env(home, PIP_CACHE_DIR=cache)

    first_minute(root, env, heard)

    lines = heard.read_text().splitlines()
    assert len(lines) == 3
    assert all(line.startswith("lastword: ") for line in lines)
    assert megabytes(root / ".venv") <= MOST
    assert not list((root / ".venv").rglob("node_modules"))

    heard.write_text("")
    first_minute(root, env | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}, heard)

    assert heard.read_text() == ""
    with served([root / "scripts" / "run"], cwd=root, env=env, heard=heard) as visit:
        is_a_page_that_works(visit.link)
    assert heard.read_text() == ""


def is_a_page_that_works(link: str) -> None:
    """In a browser, where there is one: a newcomer says something, and presses Esc."""
    with chromium() as browser:
        page = browser.new_page()
        wrong = list[str]()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(link)
        page.get_by_role("button", name="New session").click()
        box = page.locator("lw-composer textarea")
        box.fill("count to 500")
        box.press("Enter")
        expect(page.locator(".it").last).to_contain_text("8 9")
        page.keyboard.press("Escape")
        expect(page.locator("lw-receipt")).to_have_count(1)
        expect(page.locator("lw-receipt")).to_contain_text("Stopped: 1 answer cut off")
        assert wrong == []
