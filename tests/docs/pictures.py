"""Make the README's pictures, from the real page: `scripts/pictures`.

A person asks an agent to tidy a project, presses Esc in the middle of it, and asks for less. What
is shown is what a browser draws, in both themes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, expect

from tests.scenarios import ROOT
from tests.server.browser import chromium, started, visiting

FOLDER = ROOT / "docs" / "images"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_ENGINE = "tests.docs.pictured_engine:engine"


def main(folder: Path) -> None:
    """Write `stop-light.png` and `stop-dark.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        chromium() as browser,
        started(Path(home), engine=_ENGINE) as server,
        visiting(browser, server) as visitor,
    ):
        visitor.session = "tidy the project"
        visitor.join(visitor.session)
        visitor.say("Tidy this project, and publish the release notes.")
        visitor.says("not in this release")
        visitor.page.keyboard.press("Escape")
        expect(visitor.receipts).to_have_count(1)
        visitor.quiet()
        visitor.say("No, only the docs.")
        visitor.says("that is gone")
        visitor.quiet()
        _take(visitor.page, folder)


def _take(page: Page, folder: Path) -> None:
    page.set_viewport_size({"width": 1120, "height": 900})
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.wait_for_function("() => !document.querySelector('[data-early]')")
        page.screenshot(path=folder / f"stop-{theme}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
