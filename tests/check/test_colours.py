"""The page of a report is read by everybody, in either theme."""

from __future__ import annotations

import re

import pytest

from lastword.check.reports import html
from tests.check.judging import judged, planted_python
from tests.contrast import ENOUGH, contrast

WORDS = ("ink", "soft", "kept", "broken", "unknown")
_SCHEME = re.compile(r":root \{(.*?)\}", re.DOTALL)
_COLOUR = re.compile(r"--(\w+): #([0-9a-f]{3,6});")


def colours(page: str) -> dict[str, dict[str, str]]:
    """By theme; the dark one says only what it has otherwise."""
    light, dark = (dict(_COLOUR.findall(scheme)) for scheme in _SCHEME.findall(page))
    return {"light": light, "dark": {**light, **dark}}


def test_contrast_is_as_wcag_has_it() -> None:
    assert contrast("000", "ffffff") == pytest.approx(21)
    assert contrast("767676", "fff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.scenario("K20")
async def test_every_word_of_the_page_can_be_read_in_both_themes() -> None:
    report = await judged(planted_python("forgets-results"), "text.quiet", "next.history")
    page = html.text([report])

    too_weak = {
        (theme, word, ground)
        for theme, has in colours(page).items()
        for ground in ("paper", "late")
        for word in WORDS
        if contrast(has[word], has[ground]) < ENOUGH
    }

    assert too_weak == set()
    assert not re.search(r"(?<![-\w])color: (?!var|light)", page)  # no colour but these
