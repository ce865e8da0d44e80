"""Texts that a page may choke on, and an engine that says them until it is stopped."""

from __future__ import annotations

import asyncio

from lastword import Run

_AT_ONCE = 4096  # characters
_SIZE = 24_000  # characters of most of them: more than the page looks at together
_PARAGRAPH = 5900  # characters: as long as one is that the page still looks into
_LARGE = 1_500_000
NODES = 9000  # that a page makes of one at most, with what a last window may add

_REPEATED = {
    "ticks": "`",
    "ticks apart": "` ",
    "ticks in pairs": "`` ",
    "ticks before letters": "`a",
    "code on code": "`a``b```",
    "fences": "```\n",
    "fences of tildes": "~~~x\n",
    "fences that never close": "```a b `\n",
    "stars": "*",
    "stars before letters": "*a",
    "stars apart": "* ",
    "bold that never closes": "**a ",
    "bold on bold": "**a**",
    "lines": "_",
    "lines before letters": "_a ",
    "stars and lines": "_*_*",
    "bold and italic": "***a",
    "tildes": "~",
    "struck": "~~a ",
    "brackets": "[",
    "brackets shut": "]",
    "brackets within brackets": "[[a]",
    "links that never close": "[a](",
    "links with titles": '[a](b "',
    "links of brackets": "[a](((",
    "links": "[a](https://example.org/b) ",
    "pictures": "![",
    "pictures of pictures": "![![a](b)](",
    "addresses": "https://",
    "addresses with dots": "http://a.",
    "addresses with brackets": "https://a(",
    "addresses that end": "https://example.org/a. ",
    "bars": "|",
    "rows": "|a|b|c|\n",
    "rows without letters": "||||\n",
    "tables": "a|b\n-|-\n",
    "columns": "-|",
    "columns with colons": ":-:|",
    "items": "-\n",
    "items with letters": "- a\n",
    "items in one line": "- ",
    "numbers": "1. ",
    "numbers in lines": "1. a\n",
    "items that go in": "   - a\n",
    "tables in items": "- a|b\n-|-\n",
    "quotes": "> ",
    "quotes in lines": "> a\n",
    "quotes of items": "> - ",
    "headings": "# a\n",
    "headings of marks": "# ####  ",
    "marks of headings": "#",
    "rules": "- - - ",
    "rules in lines": "***\n",
    "spaces": " ",
    "tabs": "\t",
    "breaks": "\n",
    "lines of one letter": "a\n",
    "backslashes": "\\",
    "backslashes before marks": "\\*",
    "tags": "<b>",
    "tags that never close": "<a href=",
    "scripts": "<script>alert(1)</script>",
    "entities": "&lt;&#x202e;",
    "right to left": "\u202e",
    "directions": "\u202ea\u2066b",
    "isolates": "\u2067",
    "arabic": "\u0645\u0631\u062d\u0628\u0627 a ",
    "marks on a letter": "a" + "\u0301" * 60,
    "zero width": "\u200b",
    "joined": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "tag characters": "\U000e0041",
    "flags": "\U0001f1e6",
    "no spaces": "W",
    "controls": "\x1b[31m\x07",
}
_TRAIN = "".join("`" * length + "a" for length in range(1, 220))
_NESTED = "".join("  " * depth + "- a\n" for depth in range(300))
_WIDE = "|".join("a" * 2000) + "\n" + "|".join("-" * 2000) + "\n" + "|".join("b" * 2000)

FLOODS: dict[str, str] = {name: text * (_SIZE // len(text)) for name, text in _REPEATED.items()} | {
    "ticks after a letter": "x" + "`" * _SIZE,
    "ticks before a letter": "x " + "`" * _SIZE + "y",
    "stars after a letter": "x" + "*" * _SIZE,
    "lines after a letter": "x " + "_" * _SIZE + "y",
    "ticks of every length": _TRAIN,
    "a list as deep as it gets": _NESTED,
    "quotes as deep as they get": ">" * 4000 + " a\n" + "> " * 4000,
    "a table that is too wide": _WIDE,
    "a fence after spaces": "```" + " " * 12_000 + "a" * 12_000 + "`",
    "a megabyte of letters": "a" * _LARGE,
    "a megabyte of words": "all of it " * (_LARGE // 10),
    "a megabyte of ticks": "`" * _LARGE,
    "a megabyte of lines": "a\n\n" * (_LARGE // 3),
    "a megabyte of code": "```\n" + "let a = 1;\n" * (_LARGE // 11),
    "a megabyte of rows": "a|b\n-|-\n" + "1|2\n" * (_LARGE // 4),
}


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


async def engine(run: Run) -> None:
    """Say what is asked for, and go on until somebody says stop. Aloud, or `think` it.

    What is said ten times over is said in large pieces, all of which a page that comes is shown.
    """
    how, _, name = run.message.text.partition(": ")
    text, say = FLOODS[name], run.think if how == "think" else run.emit
    paragraph = _pieces(text[:_PARAGRAPH] + "\n\n", _PARAGRAPH // 9)
    whole = _pieces(text * 10, 16 * _AT_ONCE) if how == "ten" else _pieces(text, _AT_ONCE)
    for piece in (*paragraph, *whole):
        await say(piece)
    await run.progress("that was all of it")
    while True:
        for piece in paragraph:
            await say(piece)
            await asyncio.sleep(0.02)  # its pace
