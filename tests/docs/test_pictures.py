"""The README's pictures are made from the real page, by a script, and show it as it is today."""

from __future__ import annotations

from pathlib import Path

from tests.docs.pictures import FOLDER, READ, THEMES, main, without_chance
from tests.scenarios import ROOT

_PNG = b"\x89PNG\r\n\x1a\n"


def test_the_pictures_can_be_made_anew_and_show_what_the_page_shows_today(tmp_path: Path) -> None:
    """Its texts, buttons and order are compared; a colour alone makes no picture stale."""
    main(tmp_path)

    light, dark = ((tmp_path / f"stop-{theme}.png").read_bytes() for theme in THEMES)
    assert light.startswith(_PNG)
    assert dark.startswith(_PNG)
    assert light != dark
    today = (tmp_path / READ).read_text(encoding="utf-8")
    assert today == (FOLDER / READ).read_text(encoding="utf-8"), "stale: run scripts/pictures"


def test_what_differs_from_one_stop_to_the_next_makes_no_picture_stale() -> None:
    def read(level: str, took: str, times: str, button: str = "Copy") -> str:
        receipt = f'- listitem: "processes: killed: 12 pytest (level {level})" after {took}\n'
        line = f'- group "From mark to mark.": {times} stop gen 1 3 refused\n'
        return without_chance(f'{receipt}- button "{button}"\n{line}')

    one = read("sealed", "255 ms", "20:20:16 +500 ms +1 s")

    assert one == read("tree", "1.2 s", "09:00:01 +1 s")
    assert one != read("sealed", "255 ms", "20:20:16 +500 ms +1 s", button="Edit")


def test_the_readme_shows_both_pictures_and_they_are_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    for theme in THEMES:
        picture = FOLDER / f"stop-{theme}.png"
        assert picture.read_bytes().startswith(_PNG)
        assert str(picture.relative_to(ROOT)) in readme


def test_the_readme_can_be_read_in_a_few_minutes() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 130
