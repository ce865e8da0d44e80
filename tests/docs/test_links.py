"""Every link leads somewhere, and every page can be found."""

from __future__ import annotations

import pytest

from tests.docs.pages import DOCS, Page, all_pages, nav, site_pages
from tests.scenarios import ROOT


def broken(page: Page) -> list[str]:
    """The links of a page that lead nowhere here."""
    return [f"{page}: {link}" for link in page.links if not _leads(page, link)]


def _leads(page: Page, link: str) -> bool:
    if link.startswith(("https://", "http://", "mailto:")):
        return True
    path, _, anchor = link.partition("#")
    target = (page.path.parent / path).resolve() if path else page.path
    if path and not target.exists():
        return False
    if not anchor:
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


def test_a_link_to_a_docstring_is_known() -> None:
    text = "# A\n\n[run](#lastword.Run) [not](#lastword.Nothing)\n\n::: lastword.Run\n"

    assert broken(Page(DOCS / "a.md", text)) == ["docs/a.md: #lastword.Nothing"]


def test_no_page_of_the_site_leads_out_of_it_by_a_path() -> None:
    """What is not in `docs` is not on the site."""
    out = [
        f"{page}: {link}"
        for page in site_pages()
        for link in page.links
        if "://" not in link and link.partition("#")[0]
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
