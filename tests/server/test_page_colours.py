"""The colours that code has on the page: which they are, and that they can be read."""

from __future__ import annotations

import re

import pytest

from tests.contrast import ENOUGH, contrast
from tests.server.page_check import MISSING, PACKAGES, PAGE
from tests.server.page_node import Modules

pytestmark = pytest.mark.scenario("Y25", part="page")

MARKS = """async ({ language, text }) => {
  globalThis.self = globalThis;
  const { marksOf } = await import("./assets/colour-reader.js");
  const { KINDS } = await import("./assets/colour-kinds.js");
  const marks = marksOf(language, text);
  return marks.flatMap((start, at) =>
    at % 3 ? [] : [[KINDS[marks[at + 2]].name, text.slice(start, marks[at + 1])]],
  );
}"""
NAMES = """async () => (await import("./assets/colour-kinds.js")).KINDS.map(({ name }) => name)"""
PYTHON = 'def f(x: int) -> str:\n    return f"<b>{x + 1}</b>"  # one more\n'


def test_code_is_read_in_its_language_and_what_is_in_it_is_no_markup(modules: Modules) -> None:
    found = modules.evaluate(MARKS, {"language": "python", "text": PYTHON})
    assert found == [
        ["word", "def"],
        ["name", "f"],
        ["name", "int"],
        ["name", "str"],
        ["word", "return"],
        ["text", 'f"<b>'],
        ["value", "1"],
        ["text", '</b>"'],
        ["aside", "# one more"],
    ]


def test_lines_that_come_and_go_are_told_apart(modules: Modules) -> None:
    found = modules.evaluate(MARKS, {"language": "diff", "text": "-a\n+b\n"})
    assert found == [["gone", "-a"], ["come", "+b"]]


def test_every_colour_of_code_can_be_read_in_both_themes(modules: Modules) -> None:
    style = (PAGE / "style.css").read_text(encoding="utf-8")
    talk = (PAGE / "talk.css").read_text(encoding="utf-8")
    found = re.findall(r"--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\)", style)
    colours = {name: both for name, *both in found}
    laid = dict(re.findall(r"::highlight\(code-(\w+)\) \{ color: var\(--([\w-]+)\); \}", talk))
    assert list(laid) == modules.evaluate(NAMES)
    for name in laid.values():
        for ink, paper in zip(colours[name], colours["wash"], strict=True):
            assert contrast(ink, paper) >= ENOUGH, name


def test_the_library_that_reads_code_is_as_its_makers_publish_it() -> None:
    published = PACKAGES / "@highlightjs" / "cdn-assets"
    if not published.exists():
        pytest.skip(MISSING)
    for here, there in (
        ("highlight.min.js", "es/highlight.min.js"),
        ("highlight.LICENSE.txt", "LICENSE"),
    ):
        assert (PAGE / here).read_bytes() == (published / there).read_bytes()
