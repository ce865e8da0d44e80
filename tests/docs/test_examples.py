"""What the pages show runs, and prints what they say it prints."""

import contextlib
import io
import re
from collections.abc import Iterator

import pytest

from tests.scenarios import ROOT

PAGES = ("README.md", "docs/how-to.md")
BLOCK = re.compile(
    r"^```python\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)


def examples() -> Iterator[object]:
    """Each block by itself, with the output that the page gives right behind it, if it does."""
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            source = "\n" * line + found[1]  # so that a traceback names the page's own line
            yield pytest.param(page, source, found[2], id=f"{page}:{line}")


@pytest.mark.parametrize(("page", "source", "output"), list(examples()))
def test_an_example_runs_as_it_stands(page: str, source: str, output: str | None) -> None:
    printed = io.StringIO()

    with contextlib.redirect_stdout(printed):
        exec(compile(source, ROOT / page, "exec"), {"__name__": "__main__"})  # noqa: S102 - our own

    if output is not None:
        assert without_times(printed.getvalue()) == without_times(output)


def without_times(text: str) -> str:
    return re.sub(r"\d+ ms", "… ms", "\n".join(line.rstrip() for line in text.splitlines()))
