"""What a person cannot see is marked, and what they can is left as it is."""

import pytest

from lastword.surfaces.marking import in_line, marked

UNSEEN = {
    "zero width": "\u200b\u200c\u200d\u2060\ufeff",
    "direction": "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",
    "tags": "\U000e0001\U000e0041\U000e007f",
    "selectors": "\ufe0f\U000e0100\u180b",
    "fillers": "\u115f\u3164\uffa0\u2800\u034f",
    "spaces": "\u00a0\u2003\u3000\u2028\u2029",
    "controls": "\x00\x07\x08\x1b\x7f\x85\x9b\r",
    "halves": "\ud800",
    "nobody's": "\ue000\u0378",
    "soft": "\u00ad",
}


@pytest.mark.scenario("W22", part="chat")
@pytest.mark.parametrize("kind", UNSEEN)
def test_what_cannot_be_seen_is_shown_by_its_number(kind: str) -> None:
    for character in UNSEEN[kind]:
        mark = f"⟨U+{ord(character):04X}⟩"
        assert marked(f"rm{character} x") == in_line(f"rm{character} x") == f"rm{mark} x"


@pytest.mark.scenario("W22", part="chat")
def test_what_can_be_seen_stays_as_it_is() -> None:
    text = "naïve 日本 é e\u0301 🙂 ⟨x⟩ — “quoted”\n\tnext line"

    assert marked(text) == text
    assert in_line("a\nb\tc") == "a⟨U+000A⟩b⟨U+0009⟩c"
