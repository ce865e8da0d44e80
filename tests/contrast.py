"""How well words can be read on their ground, as WCAG has it."""

from __future__ import annotations

ENOUGH = 4.5  # to one: what WCAG 2.2 asks of words, at level AA


def contrast(one: str, other: str) -> float:
    """Of two colours in hexadecimal digits."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    digits = colour if len(colour) == 6 else "".join(2 * one for one in colour)
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
