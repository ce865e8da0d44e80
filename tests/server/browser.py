"""A browser to look with, and a server to look at: one of each for a module of tests.

The server is a process of its own, so that it can be ended and started again in the middle of a
sentence. The browser is Chromium; where there is none, tests are skipped and say so.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    expect,
    sync_playwright,
)

ARTEFACTS = Path(__file__).parents[2] / ".artefacts" / "page"
SOON = 20_000  # ms: by then it has happened, or it never will
_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-dev-shm-usage "
    "--disable-background-networking --disable-component-update --disable-sync"
)
_AWAY = re.compile(r"net::ERR_|status of 503")  # what a browser says of a server that goes away
_TO_THE_MIDDLE = """async (one) => {
  for (let times = 0; times < 9; times++) { // what comes near the screen gets its height
    one.scrollIntoView({ block: "center" });
    await new Promise(requestAnimationFrame);
  }
}"""
_TABLE = "<!doctype html><title>a table for cards</title>"
_numbers = count(1)
_THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@contextmanager
def chromium() -> Generator[Browser]:
    """The browser, for as long as a module's tests run."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("there is no Chromium; on Debian: apt-get install chromium")
    expect.set_options(timeout=SOON)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=_FLAGS.split())
        try:
            yield browser
        finally:
            browser.close()


class Server:
    """`lastword serve` with the rehearsal agent, or an engine, and a store that outlives it."""

    def __init__(self, folder: Path, *more: str, engine: str = "") -> None:
        self._folder = folder
        self._who = ("--engine", engine) if engine else ("--model", "rehearsal")
        self._more = more  # that is said behind `lastword serve`
        self._port = _free_port()
        self._process: subprocess.Popen[str] | None = None
        self.url = f"http://127.0.0.1:{self._port}/"
        self.link = ""  # opens the page, once

    def start(self) -> None:
        """Start it; it prints the link when it can be visited."""
        where = "--port", str(self._port), "--store", f"sqlite:{self._folder / 'page.db'}"
        self._process = process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "lastword",
                "serve",
                "--print-link",
                *self._who,
                *where,
                *self._more,
            ],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        told = process.stdout.readline()
        if not (found := re.search(r"http://\S+", told)):
            self.end()
            pytest.fail(f"no link is in what it said first: {told!r}")
        self.link = found[0]

    @property
    def _environment(self) -> dict[str, str]:
        home = {"HOME": str(self._folder), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}
        home["PYTHONPATH"] = str(Path(__file__).parents[2])  # where an engine of the tests is found
        return os.environ | home

    def new_link(self) -> str:
        """Another one, as `lastword link` prints it."""
        told = subprocess.run(
            [sys.executable, "-m", "lastword", "link", "--url", self.url],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return told.stdout.strip()

    def end(self) -> None:
        """As a person does it, with Ctrl-C."""
        if self._process:
            self._process.send_signal(signal.SIGINT)
            self._process.communicate(timeout=SOON / 1000)
            self._process = None


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def numbers(page: Page) -> list[int]:
    """What was counted aloud in the first answer, as a person reads it."""
    return [int(word) for word in page.locator(".it .text").first.inner_text().split()]


def counts(page: Page, least: int) -> None:
    """Wait until it has counted so far."""
    expect(page.locator(".it .text").first).to_contain_text(re.compile(rf"\b{least} {least + 1}\b"))


class Visitor:
    """A person at the page, who goes from session to session."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.session = ""
        self.wrong: list[str] = []  # what the browser complained of
        self._context = context
        self._url = url
        self.page = self._page()

    def arrive(self) -> None:
        """In a session of their own, where nothing was said yet."""
        self.session = f"visit-{next(_numbers)}"
        self.wrong.clear()
        self.page.unroute_all()
        self._open(self.page)

    def join(self, session: str) -> None:
        """In a session of somebody else's."""
        self.session = session
        self._open(self.page)

    def leave(self) -> None:
        """With nothing left open, and nothing to complain of."""
        for page in self._context.pages:
            if page is not self.page:
                page.close()
        if self.page.get_by_role("dialog").count():
            self.page.reload()
        assert not self.wrong, self.wrong

    def tab(self) -> Page:
        """The same session once more."""
        page = self._page()
        self._open(page)
        return page

    def _page(self) -> Page:
        page = self._context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        return page

    def _open(self, page: Page) -> None:
        page.goto(f"{self._url}#/s/{self.session}")
        expect(page.locator("body")).to_have_attribute("data-session", self.session)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _AWAY.search(message.text):
            self.wrong.append(message.text)

    @property
    def box(self) -> Locator:
        return self.page.locator("lw-composer textarea")

    @property
    def answers(self) -> Locator:
        return self.page.locator(".it")

    @property
    def receipts(self) -> Locator:
        return self.page.locator("lw-receipt")

    @property
    def chips(self) -> Locator:
        return self.page.locator("lw-queue .chip .words")

    def say(self, text: str, key: str = "Enter") -> None:
        self.box.fill(text)
        self.box.press(key)

    def says(self, text: str) -> None:
        """Wait until the last answer has this in it."""
        expect(self.answers.last).to_contain_text(text)

    def counting(self, to: int = 9999) -> None:
        """Have it count, and wait until it is well under way."""
        self.say(f"count to {to}")
        expect(self.answers.last).to_contain_text(re.compile(r"\b8 9\b"))

    def quiet(self) -> None:
        expect(self.page.locator("lw-head .state")).to_have_text(re.compile("idle|quiet"))

    def picture(self, name: str, at: Locator | None = None) -> None:
        """Keep what it looks like, where something is on the screen."""
        picture(self.page, name, at)


def picture(page: Page, name: str, at: Locator | None = None) -> None:
    """Keep what a page looks like, in both themes, on a large screen and a small one."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    whole = page.viewport_size
    for look in _THEMES:
        page.emulate_media(color_scheme=look, reduced_motion="reduce")
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 860})
            page.wait_for_function("() => !document.querySelector('[data-early]')")  # it has moved
            if at:
                at.evaluate(_TO_THE_MIDDLE)
            page.screenshot(path=ARTEFACTS / f"{name}-{look}-{width}.png")
    page.emulate_media(color_scheme="light")
    if whole:
        page.set_viewport_size(whole)


@contextmanager
def started(folder: Path, *more: str, engine: str = "") -> Generator[Server]:
    """A server that runs."""
    server = Server(folder, *more, engine=engine)
    server.start()
    try:
        yield server
    finally:
        server.end()


@contextmanager
def visiting(browser: Browser, server: Server) -> Generator[Visitor]:
    """A person who has opened the link."""
    with _person(browser, server) as visitor:
        visitor.page.goto(server.link)
        expect(visitor.page.locator(".welcome")).to_be_visible()
        yield visitor


@contextmanager
def signed_in(browser: Browser, server: Server, token: str) -> Generator[Visitor]:
    """A person who has typed a token."""
    with _person(browser, server) as visitor:
        visitor.page.goto(server.url)
        visitor.page.get_by_label("Token").fill(token)
        visitor.page.get_by_role("button", name="Sign in").click()
        expect(visitor.page.locator(".banner.out")).to_have_count(0)
        yield visitor


@contextmanager
def standing_still(browser: Browser, server: Server) -> Generator[Page]:
    """A table for cards, on which time stands still unless it is told to go on."""
    context = browser.new_context()
    page = context.new_page()
    page.clock.install()
    page.route("**/table", lambda route: route.fulfill(body=_TABLE, content_type="text/html"))
    page.goto(f"{server.url}table")
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    try:
        yield page
    finally:
        context.close()


@contextmanager
def _person(browser: Browser, server: Server) -> Generator[Visitor]:
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    context.set_default_timeout(SOON)
    try:
        yield Visitor(context, server.url)
    finally:
        context.close()
