"""Every link leads somewhere, and every page can be found.

What is elsewhere is asked in the deep lane, where there is a network to ask through.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from tests.docs.elsewhere import Answer, ask, ask_all
from tests.docs.pages import DOCS, Page, all_pages, nav, site_pages
from tests.scenarios import ROOT

OF_A_THEME = ("only-light", "only-dark")  # a picture that the site shows in one of them
ELSEWHERE = ("https://", "http://", "mailto:")


def broken(page: Page) -> list[str]:
    """The links and pictures of a page that lead nowhere here."""
    dead = [link for link in page.links if not (link.startswith(ELSEWHERE) or _leads(page, link))]
    undefined = sorted(page.referred - page.references.keys())
    return [f"{page}: {link}" for link in (*dead, *(f"[{name}]" for name in undefined))]


def _leads(page: Page, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.path.parent / path).resolve() if path else page.path
    if path and not target.exists():
        return False
    if not anchor or (target.suffix == ".png" and anchor in OF_A_THEME):
        return True
    there = Page.read(target) if path else page
    return target.suffix == ".md" and anchor in there.anchors


def test_every_link_of_every_page_leads_somewhere() -> None:
    assert [fault for page in all_pages() for fault in broken(page)] == []


@pytest.mark.parametrize(
    "link",
    ["nowhere.md", "promise.md#no-such-clause", "#nothing", "../README.md#no-such", "assets/x.png"],
)
def test_a_link_that_leads_nowhere_would_be_found(link: str) -> None:
    page = Page(DOCS / "a.md", f"# A page\n\nSee [there]({link}) and [this](#a-page).\n")

    assert broken(page) == [f"docs/a.md: {link}"]


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("See [there][it].\n\n[it]: nowhere.md\n", "nowhere.md"),
        ("See [there][].\n", "[there]"),
        ("See [there][it], or `[not][code]`.\n", "[it]"),
        ("![A picture](images/none.png)\n", "images/none.png"),
        ('[![A picture](images/stop-dark.png)](none.md "why")\n', "none.md"),
        ('<img alt="" src="images/none.png">\n', "images/none.png"),
        ('<source\n  srcset="images/stop-dark.png, images/none.png 2x">\n', "images/none.png"),
        ("<a href='none.md'>there</a>\n", "none.md"),
    ],
)
def test_a_reference_or_a_picture_that_is_not_there_would_be_found(text: str, dead: str) -> None:
    assert broken(Page(DOCS / "a.md", f"# A page\n\n{text}")) == [f"docs/a.md: {dead}"]


def links_elsewhere() -> dict[str, str]:
    """Each, with a page that it is on; without those that are examples, or of this machine."""
    return {
        link.partition("#")[0]: str(page)
        for page in all_pages()
        for link in page.links
        if link.startswith(("https://", "http://")) and "//127.0.0.1" not in link
    }


def test_what_is_elsewhere_is_still_there() -> None:
    links = links_elsewhere()
    answers = ask_all(links)

    if Answer.THERE not in answers.values():
        pytest.skip(f"there is no network: none of {len(links)} links elsewhere was looked at")
    gone = [f"{links[url]}: {url}" for url, one in answers.items() if one is Answer.GONE]
    assert gone == []


@pytest.mark.parametrize(
    ("status", "answer"),
    [(200, "THERE"), (404, "GONE"), (410, "GONE"), (403, "REFUSED"), (429, "REFUSED"),
     (503, "REFUSED")],
)  # fmt: skip
def test_who_says_that_a_page_is_gone_is_believed_and_who_only_refuses_is_not(
    status: int, answer: str
) -> None:
    with answering(status) as url:
        assert ask(url).name == answer


def test_who_does_not_answer_has_not_said_that_it_is_gone() -> None:
    with answering(200) as url:
        pass

    assert ask(url) is Answer.SILENT


@contextmanager
def answering(status: int) -> Generator[str]:
    """A server that says one thing; where it is."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}/page"
        server.shutdown()
        serving.join()


def test_a_link_to_a_docstring_is_known() -> None:
    text = "# A\n\n[run](#lastword.Run) [not](#lastword.Nothing)\n\n::: lastword.Run\n"

    assert broken(Page(DOCS / "a.md", text)) == ["docs/a.md: #lastword.Nothing"]


def test_no_page_of_the_site_leads_out_of_it_by_a_path() -> None:
    """What is not in `docs` is not on the site."""
    out = [
        f"{page}: {link}"
        for page in site_pages()
        for link in page.links
        if not link.startswith(ELSEWHERE) and link.partition("#")[0]
        if not (page.path.parent / link.partition("#")[0]).resolve().is_relative_to(DOCS)
    ]

    assert out == []


def test_every_page_is_in_the_navigation_once_and_what_is_there_exists() -> None:
    there = sorted(str(page.path.relative_to(DOCS)) for page in site_pages())

    assert sorted(nav()) == there


def test_every_page_has_one_title() -> None:
    titles = {
        str(page): page.prose.count("\n# ") + page.prose.startswith("# ") for page in site_pages()
    }

    assert {name for name, count in titles.items() if count != 1} == set()


def test_the_read_me_is_among_the_pages() -> None:
    assert ROOT / "README.md" in {page.path for page in all_pages()}
