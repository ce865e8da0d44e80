"""The README's pictures are made from the real page, by a script that still works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pictures import FOLDER, THEMES, main
from tests.scenarios import ROOT

_PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.deep("a browser and a server of its own")
def test_the_pictures_can_be_made_anew(tmp_path: Path) -> None:
    main(tmp_path)

    light, dark = ((tmp_path / f"stop-{theme}.png").read_bytes() for theme in THEMES)
    assert light.startswith(_PNG)
    assert dark.startswith(_PNG)
    assert light != dark


def test_the_readme_shows_both_pictures_and_they_are_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    for theme in THEMES:
        picture = FOLDER / f"stop-{theme}.png"
        assert picture.read_bytes().startswith(_PNG)
        assert str(picture.relative_to(ROOT)) in readme


def test_the_readme_can_be_read_in_a_few_minutes() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 130
