"""The site builds without a warning, and who looks at it asks no other site for anything."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

import pytest

from tests.docs.pages import DOCS, nav
from tests.scenarios import ROOT
from tests.server.browser import chromium

BUILDER = ROOT / ".venv-docs" / "bin" / "zensical"
MISSING = "what builds the documentation is not here: run scripts/docs once"
PHONE = 390  # pixels
_LOADS = {"script", "img", "iframe", "source", "video", "audio", "embed", "object", "image", "use"}
_ELSEWHERE = re.compile(r"^(?:https?:)?//")
_IN_STYLES = re.compile(r"""@import|url\(\s*["']?(?:https?:)?//""")


def built(folder: Path) -> subprocess.CompletedProcess[str]:
    """The site of the pages in a folder, built there as `scripts/docs` does."""
    return subprocess.run(
        [BUILDER, "build", "--clean", "--strict"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={"NO_COLOR": "1", "PATH": "/usr/bin:/bin"},
        check=False,
    )


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not BUILDER.exists():
        pytest.skip(MISSING)
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    (folder / "src").symlink_to(ROOT / "src")
    return folder


@pytest.fixture(scope="module")
def site(copied: Path) -> Path:
    done = built(copied)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stdout + done.stderr
    return copied / ".site"


class _Loaded(HTMLParser):
    """What a browser fetches to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "link" and told.get("rel") not in {"canonical", "prev", "next", "alternate"}:
            self.found.append(told.get("href") or "")
        if tag in _LOADS:
            self.found += [told.get(name) or "" for name in ("src", "srcset", "data", "href")]
        if style := told.get("style"):
            self.found += ["//in a style"] if _IN_STYLES.search(style) else []


def elsewhere(html: str) -> list[str]:
    """What a page has a browser fetch from other sites."""
    read = _Loaded()
    read.feed(html)
    return [where for where in read.found if _ELSEWHERE.match(where)]


def files(site: Path, ending: str) -> Iterator[tuple[str, str]]:
    for path in sorted(site.rglob(f"*{ending}")):
        yield str(path.relative_to(site)), path.read_text(encoding="utf-8")


def test_every_page_is_built(site: Path) -> None:
    pages = [Path(name).with_suffix("") for name in nav()]
    wanted = {page.parent if page.name == "index" else page for page in pages}

    assert {page for page in wanted if not (site / page / "index.html").is_file()} == set()


def test_no_page_loads_anything_from_another_site(site: Path) -> None:
    loaded = {name: found for name, html in files(site, ".html") if (found := elsewhere(html))}

    assert loaded == {}


def test_no_style_loads_anything_from_another_site(site: Path) -> None:
    assert [name for name, text in files(site, ".css") if _IN_STYLES.search(text)] == []


def test_docstrings_are_on_the_pages(site: Path) -> None:
    shown = (site / "reference" / "python" / "session" / "index.html").read_text(encoding="utf-8")

    assert 'id="lastword.Session.stop"' in shown
    assert "StaleRun" in shown


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://unpkg.com/mermaid"></script>',
        '<link rel="stylesheet" href="//fonts.googleapis.com/css">',
        '<img src="https://img.shields.io/badge">',
        '<p style="background: url(https://a.example/x.png)">',
    ],
)
def test_what_is_loaded_from_elsewhere_would_be_found(html: str) -> None:
    assert len(elsewhere(html)) == 1
    assert elsewhere('<a href="https://a.example">a link</a><img src="x.png">') == []


@pytest.mark.parametrize(
    "text",
    ["[a](nowhere.md)", "[a](promise.md#nothing)"],
    ids=["page", "anchor"],
)
def test_a_page_that_is_wrong_is_not_built(copied: Path, tmp_path: Path, text: str) -> None:
    folder = tmp_path / "wrong"
    (folder / "docs").mkdir(parents=True)
    shutil.copy(copied / "docs" / "promise.md", folder / "docs")
    (folder / "docs" / "index.md").write_text(f"# Home\n\n{text}\n", encoding="utf-8")
    (folder / "zensical.toml").write_text('[project]\nsite_name = "x"\n', encoding="utf-8")

    assert built(folder).returncode != 0


def test_a_browser_that_shows_the_site_asks_nobody_else(site: Path) -> None:
    """Scripts are not read but run: whatever they would fetch, they do here."""
    asked: list[str] = []

    with chromium() as browser, _served(site) as url:
        tab = browser.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        for path in ("", "understand/stop/", "reference/python/session/", "reference/http/"):
            tab.goto(f"{url}{path}", wait_until="networkidle")
        tab.keyboard.press("Control+k")
        tab.keyboard.type("receipt")
        tab.wait_for_load_state("networkidle")

    assert len(asked) > 10
    assert {one for one in asked if not one.startswith((url, "data:", "blob:"))} == set()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_fits_a_phone(site: Path, theme: Literal["light", "dark"]) -> None:
    pages = [path.parent.relative_to(site) for path in sorted(site.rglob("index.html"))]
    wide: list[str] = []

    with chromium() as browser, _served(site) as url:
        tab = browser.new_page(viewport={"width": PHONE, "height": 844}, color_scheme=theme)
        for page in pages:
            tab.goto(f"{url}{page}/")
            if tab.evaluate("document.documentElement.scrollWidth") > PHONE:
                wide.append(str(page))

    assert len(pages) > 50
    assert wide == []


class _Quietly(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def _served(site: Path) -> Generator[str]:
    """The site on loopback; its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quietly, directory=str(site)))
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
