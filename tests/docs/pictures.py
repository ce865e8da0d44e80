"""Make the README's pictures, from the real page: `python -m tests.docs.pictures`.

A person asks an agent to tidy a project, presses Esc in the middle of it, and asks for less. What
is shown is what a browser draws, in both themes. Beside the pictures stands what a person who sees
neither would be read of the same page: a test makes it anew, and so finds that they are stale.
The agent runs in the server's own process: what it tries after the stop is refused there, and seen.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, expect

from tests.scenarios import ROOT
from tests.server.browser import chromium, started, visiting

FOLDER = ROOT / "docs" / "images"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
READ = "stop.txt"
_ENGINE = "tests.docs.pictured_engine:engine"


def main(folder: Path) -> None:
    """Write `stop-light.png`, `stop-dark.png` and `stop.txt`."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        chromium() as browser,
        started(Path(home), "--in-process", engine=_ENGINE) as server,
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
        expect(visitor.page.get_by_text("Answer: Only the docs")).to_be_attached()  # read aloud
        _take(visitor.page, folder)


def _take(page: Page, folder: Path) -> None:
    page.set_viewport_size({"width": 1120, "height": 900})
    said = page.get_by_role("region", name="Conversation")
    hidden = int(said.evaluate("(one) => one.scrollHeight - one.clientHeight"))
    page.set_viewport_size({"width": 1120, "height": 900 + hidden})  # all that was said is seen
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.wait_for_function("() => !document.querySelector('[data-early]')")
        page.screenshot(path=folder / f"stop-{theme}.png")
    (folder / READ).write_text(without_chance(page.locator("body").aria_snapshot()), "utf-8")


def without_chance(read: str) -> str:
    """What is read of a page, without what differs from one stop and one machine to the next."""
    read = re.sub(r"\b(sealed|cgroup|tree|group)\b(?=[)\"])", "LEVEL", read)
    read = re.sub(r"(?<=mark\.\": ).*?(?= stop )", "TIMES", read)  # however many fit
    return re.sub(r"\d+([.:]\d+)*( m?s\b)?", "N", read) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
