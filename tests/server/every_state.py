"""Every state that a person can see the page in, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.server.browser import Visitor

EDIT = "ask edit_file: calc.py | return a - b | return a + b"
_NOTES = """\
# Sums

*Some* words with `code` and a [link](https://example.org).

| name | size |
|:--|--:|
| a.py | 1,234 |

```python
def add(a, b):
    return a + b  # the sum of "both"
```

> quoted

- one
  - two
"""


def furnish(folder: Path) -> None:
    """The files that are spoken of."""
    (folder / "NOTES.md").write_text(_NOTES, encoding="utf-8")
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n", encoding="utf-8")


def every_state(visitor: Visitor) -> Iterator[str]:
    """Their names, each while the page is in it."""
    yield "empty"
    yield from _read(visitor)
    yield from _edited(visitor)
    yield from _going(visitor)
    yield from _stopped(visitor)
    yield from _in_front(visitor)
    yield from _wrong(visitor)


def _press(where: Page | Locator, name: str) -> Locator:
    return where.get_by_role("button", name=name, exact=True)


def allow(visitor: Visitor) -> None:
    """What is asked for, when it can be."""
    card = visitor.page.locator("lw-question")
    expect(card).to_be_visible()
    expect(card).not_to_have_attribute("data-early", "")
    _press(card, "Allow").click()
    expect(card).to_have_count(0)


def _read(visitor: Visitor) -> Iterator[str]:
    visitor.say("read NOTES.md")
    visitor.says("two")
    visitor.quiet()
    yield "an answer with all that markdown has"


def _edited(visitor: Visitor) -> Iterator[str]:
    page = visitor.page
    visitor.say(EDIT)
    expect(page.locator("lw-question")).not_to_have_attribute("data-early", "")
    yield "a question"
    allow(visitor)
    visitor.quiet()
    page.locator(".call summary").last.click()
    yield "an edit, and all of its call"
    _press(page, "Changes in files").click()
    expect(page.get_by_role("dialog")).to_contain_text("calc.py: changed")
    yield "what was changed"
    page.keyboard.press("Escape")
    _press(page, "Edit the message").click()
    yield "a message that is edited"
    page.keyboard.press("Escape")


def _going(visitor: Visitor) -> Iterator[str]:
    page = visitor.page
    visitor.say("run sleep 300")
    allow(visitor)
    expect(page.locator("lw-head .processes")).to_be_visible()
    page.locator("lw-head .processes").click()
    yield "a call that is going, and its process"
    page.keyboard.press("Escape")
    for words in ("later", "and later"):
        visitor.say(words, "Alt+Enter")
    expect(visitor.chips).to_have_count(2)
    page.locator("lw-composer .modes").click()
    yield "a queue, and what a new message can do"
    page.keyboard.press("Escape")


def _stopped(visitor: Visitor) -> Iterator[str]:
    page = visitor.page
    page.keyboard.press("Escape")
    expect(visitor.receipts).to_contain_text("Stopped")
    visitor.quiet()
    visitor.receipts.locator("summary").click()
    page.locator("lw-timeline svg[tabindex]").focus()
    yield "a receipt, and the timeline"
    page.locator("lw-head .details").click()
    yield "the details"
    page.keyboard.press("Escape")


def _in_front(visitor: Visitor) -> Iterator[str]:
    page = visitor.page
    page.keyboard.press("Control+/")
    yield "the keys"
    page.keyboard.press("Escape")
    page.locator("lw-sessions .acts-on").first.focus()
    page.keyboard.press("Enter")
    yield "what can be done with a session"
    page.get_by_role("menuitem", name=re.compile("^Rename")).click()
    yield "a session that is renamed"
    page.keyboard.press("Escape")


def _wrong(visitor: Visitor) -> Iterator[str]:
    page = visitor.page
    page.route("**/messages", lambda route: route.abort())
    visitor.say("not to be had")
    expect(page.locator("#notice")).to_be_visible()
    page.unroute_all()
    yield "something went wrong"
    visitor.box.fill("")
