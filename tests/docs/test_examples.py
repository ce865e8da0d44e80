"""What the pages show runs, and prints what they say it prints."""

from __future__ import annotations

import contextlib
import io
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from lastword.agent.config import Config
from tests.docs.pages import DOCS, Block, Page, all_pages
from tests.scenarios import ROOT

PARSED: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": msgspec.yaml.decode,
}
# What nothing here reads, and what holds it instead. Python that cannot be run by itself is `py`.
NOT_RUN = {
    "": "what somebody may see",
    "ini": "systemd-analyze reads it in tests/deploy/test_unit.py, where there is one",
    "js": "tests/docs/test_front_end.py runs it",
    "lua": "nothing holds it: an editor's own settings, which only that editor reads",
    "nginx": "nginx reads it in tests/deploy/test_proxies.py, where there is one",
    "py": "a note before it says why",
    "sh": "its commands are read by the parsers; those with curl are run",
    "text": "what is printed, compared where it follows an example",
    "ts": "nothing holds it: another program's; tests/server/test_agui.py has its protocol",
    "tsx": "nothing holds it: another program's settings, as `ts`",
}
WHY_NOT = ("a piece of ", "yours ", "it needs ")  # as docs/how-to.md has it


def examples() -> Iterator[object]:
    """Each block by itself, with the output that the page gives right behind it, if it does."""
    for page in all_pages():
        for block, output in with_outputs(page):
            yield pytest.param(page.path, block, output, id=f"{page}:{block.line}")


def with_outputs(page: Page) -> Iterator[tuple[Block, str | None]]:
    for block, behind in pairwise((*page.blocks, None)):
        if block and block.language == "python":
            ends = block.line + block.text.count("\n") + 2
            follows = behind and behind.language == "text" and behind.line - ends <= 1
            yield block, behind.text if behind and follows else None


@pytest.mark.parametrize(("page", "block", "output"), list(examples()))
def test_an_example_runs_as_it_stands(
    page: Path, block: Block, output: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = io.StringIO()
    source = "\n" * block.line + block.text  # so that a traceback names the page's own line
    monkeypatch.chdir(tmp_path)

    with contextlib.redirect_stdout(printed):
        exec(compile(source, page, "exec"), {"__name__": "__main__"})  # noqa: S102 - our own

    if output is not None:
        assert without_times(printed.getvalue()) == without_times(output)


def without_times(text: str) -> str:
    return re.sub(r"\d+ ms", "… ms", "\n".join(line.rstrip() for line in text.splitlines()))


def test_a_wrong_output_would_be_found() -> None:
    page = Page(DOCS / "a.md", "```python\nprint(1)\n```\n\n```text\n2\n```\n")
    [(block, output)] = with_outputs(page)

    assert (block.text, output) == ("print(1)\n", "2\n")


def unread(page: Page) -> list[str]:
    """What is wrong with blocks that are no examples."""
    wrong: list[str] = []
    for block in page.blocks:
        where = f"{page}:{block.line}"
        if block.language in PARSED:
            try:
                PARSED[block.language](block.text)
            except ValueError as error:
                wrong.append(f"{where}: {error}")
        elif block.language not in {*NOT_RUN, "python"}:
            wrong.append(f"{where}: nothing says how a block of {block.language!r} is held")
        elif block.language == "py" and not said_before(page, block).startswith(WHY_NOT):
            wrong.append(f"{where}: no note before it says why it is not run")
    return wrong


def said_before(page: Page, block: Block) -> str:
    """Why it is not run, as the note before it says."""
    return "".join(page.text.splitlines()[: block.line - 1][-2:]).partition("<!-- not run: ")[2]


def test_what_is_said_to_hold_a_kind_of_block_is_said_of_a_kind_that_there_is() -> None:
    shown = {block.language for page in all_pages() for block in page.blocks}

    assert set(NOT_RUN) - shown == set()
    named = re.findall(r"tests/[\w/]+\.py", " ".join(NOT_RUN.values()))
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_other_block_is_read_or_it_is_said_why_not() -> None:
    assert [fault for page in all_pages() for fault in unread(page)] == []


@pytest.mark.parametrize(
    "text",
    [
        "```json\n{,}\n```\n",
        "```toml\na = \n```\n",
        "```yaml\n- a: [\n```\n",
        "```brainf\n+\n```\n",
        "```py\nrun()\n```\n",
        "<!-- not run: it would fail -->\n```py\nrun()\n```\n",
    ],
)
def test_a_block_that_cannot_be_read_would_be_found(text: str) -> None:
    assert len(unread(Page(DOCS / "a.md", text))) == 1


def test_settings_that_a_page_shows_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = [
        block.text
        for name in ("reference/configuration.md", "start/terminal.md")
        for block in Page.read(DOCS / name).blocks
        if block.language == "toml"
    ]

    for text in shown:
        file = tmp_path / "shown.toml"
        file.write_text(text, encoding="utf-8")
        assert Config.read(file).rules
    assert len(shown) == 2


def test_the_examples_are_many_and_most_say_what_they_print() -> None:
    found = [output for page in all_pages() for _, output in with_outputs(page)]

    assert len(found) >= 35
    assert len([output for output in found if output]) >= 25
