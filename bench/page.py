"""The page while it draws what is hostile: how soon it hears Esc, how long it works at once.

Each text comes as a model would say it, Esc is pressed at its end, and the session is opened again.
`Esc` is the time from the key to the page's own handler; `script` the longest that a script ran in
one task, of those that took longer than a browser tells of (50 ms); `task` the same with layout.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import expect

from bench.turns import heading, quantile
from tests.server.browser import Visitor, chromium, started, visiting
from tests.server.floods import FLOODS

LONG = 50  # ms
ENGINE = "tests.server.floods:engine"
LARGE = ("a megabyte of words", "a megabyte of ticks", "a megabyte of code")
WATCH = """() => {
  const seen = (window.seen = { esc: [], script: 0, task: 0 });
  const heard = ({ key, timeStamp }) => {
    if (key === "Escape") seen.esc.push(performance.now() - timeStamp);
  };
  window.addEventListener("keydown", heard, { capture: true });
  const watch = (type, found) => {
    const told = (list) => list.getEntries().forEach(found);
    new PerformanceObserver(told).observe({ type, buffered: true });
  };
  watch("longtask", ({ duration }) => (seen.task = Math.max(seen.task, duration)));
  watch("long-animation-frame", ({ scripts }) => {
    for (const { duration } of scripts) seen.script = Math.max(seen.script, duration);
  });
}"""


async def main() -> None:
    await asyncio.to_thread(measured)  # the browser is driven by calls that wait


def measured() -> None:
    folder = tempfile.TemporaryDirectory(prefix="bench-page-")
    with folder as name, chromium() as browser, started(Path(name), engine=ENGINE) as server:
        with visiting(browser, server) as visitor:
            visitor.page.add_init_script(f"({WATCH})()")
            told = {name: both(visitor, "say", name) for name in FLOODS}
            large = {f"{name}, ten times": both(visitor, "ten", name) for name in LARGE}
        version = browser.version
    shown({**told, **large}, version)


def both(visitor: Visitor, how: str, name: str) -> list[dict[str, Any]]:
    """While it comes, and when it is opened in the middle of it."""
    page = visitor.page
    visitor.arrive()
    page.reload()  # so that it is watched
    visitor.join(visitor.session)
    visitor.say(f"{how}: {name}")
    expect(visitor.answers).to_contain_text("that was all of it")
    page.keyboard.press("Escape")
    expect(visitor.receipts).to_contain_text("Stopped")
    coming = page.evaluate("window.seen")
    visitor.say(f"{how}: {name}")
    expect(visitor.answers.last).to_contain_text("that was all of it")
    page.reload()
    expect(page.locator("lw-composer").get_by_role("button", name="Stop")).to_be_visible()
    page.keyboard.press("Escape")
    expect(visitor.receipts.last).to_contain_text("Stopped")
    visitor.wrong.clear()
    return [coming, page.evaluate("window.seen")]


def shown(told: dict[str, list[dict[str, Any]]], version: str) -> None:
    load = os.getloadavg()[0]
    heading(f"Chromium {version}, {len(told)} texts, load {load:.1f} on {os.cpu_count()} CPUs")
    for number, what in enumerate(("while it comes", "opened again")):
        esc = [ms for one in told.values() for ms in one[number]["esc"]]
        p50, p99 = median(esc), quantile(esc, 0.99)
        print(f"  {what}: Esc p50 {p50:.1f} ms, p99 {p99:.1f} ms, most {max(esc):.1f} ms")
        for kind in ("script", "task"):
            most = {name: float(one[number][kind]) for name, one in told.items()}
            worst = max(most, key=lambda name: most[name])
            over = sum(ms > LONG for ms in most.values())
            print(f"    longest {kind}: {most[worst]:.0f} ms ({worst}); {over} over {LONG} ms")
