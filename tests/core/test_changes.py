"""What a change does is told line by line, and in time that grows with its length."""

import random

import pytest

from lastword.core.changes import Change, change


@pytest.mark.scenario("W22", part="chat")
@pytest.mark.parametrize("seed", range(300))
def test_what_goes_and_what_comes_is_the_change(seed: int) -> None:
    chance = random.Random(seed)
    old, new = ([chance.choice("abc") for _ in range(chance.randint(0, 12))] for _ in range(2))
    told = change("".join(f"{x}\n" for x in old), "".join(f"{x}\n" for x in new))
    if "@" not in [mark for mark, _ in told.lines]:
        changed = old != new
        assert [text for mark, text in told.lines if mark in " -"] == (old if changed else [])
        assert [text for mark, text in told.lines if mark in " +"] == (new if changed else [])
    assert told.come - told.gone == len(new) - len(old)


@pytest.mark.scenario("W22", part="chat")
def test_only_what_is_near_a_change_is_told_and_the_rest_is_counted() -> None:
    old = [str(n) for n in range(100)]
    told = change("\n".join(old), "\n".join([*old[:50], "new", *old[51:]]))

    assert told == Change(
        False,
        1,
        1,
        (
            ("@", "47 lines"),
            *((" ", str(n)) for n in (47, 48, 49)),
            ("-", "50"),
            ("+", "new"),
            *((" ", str(n)) for n in (51, 52, 53)),
            ("@", "46 lines"),
        ),
    )


@pytest.mark.scenario("W22", part="chat")
def test_texts_that_have_nothing_in_common_are_told_as_all_going_and_all_coming() -> None:
    told = change("\n".join("ab" * 10_000), "\n".join("cb" * 10_000))

    assert (told.gone, told.come) == (19_999, 19_999)
    assert len(told.lines) == 2_001
    assert told.lines[1_000] == ("@", "37,999 more changed lines are not shown")
    assert told.left_out == 37_999
    assert change(None, "a\n") == Change(True, 0, 1, (("+", "a"),))


@pytest.mark.scenario("W41", part="agent")
def test_line_ends_are_part_of_a_change() -> None:
    windows = change("a\nb\n", "a\r\nb\r\n")
    assert [line for line in windows.lines if line[0] == "+"] == [("+", "a\r"), ("+", "b\r")]
    assert change("a\nb\n", "a\nb").lines == (
        (" ", "a"),
        ("-", "b"),
        ("+", "b"),
        ("@", "no newline at the end"),
    )


@pytest.mark.scenario("W41", part="agent")
@pytest.mark.parametrize("end", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_a_newline_ends_a_line(end: str) -> None:
    told = change("x = 1\n", f"x = 1  # note{end}import os\n")
    assert told.lines[-1] == ("+", f"x = 1  # note{end}import os")
