"""What a person is shown, word for word, and that no text of a model's does more than be read."""

import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastword.cli.chat.arguments import arguments_line
from lastword.cli.chat.blocks import Blocks
from lastword.cli.chat.commands import help_text
from lastword.cli.chat.paint import Paint
from lastword.cli.chat.words import (
    call_line,
    last_rows,
    plain,
    receipt_lines,
    rows_of,
    short,
    width,
    wrapped,
)
from lastword.core.model import (
    CallId,
    Generation,
    Message,
    MessageId,
    Reason,
    RunId,
    SessionId,
    Status,
)
from lastword.core.receipt import (
    MessageReport,
    ProcessReport,
    Receipt,
    ToolReport,
    Unconfirmed,
)
from lastword.surfaces.commands import COMMANDS

S = SessionId("s")
RUN = RunId("s#1")


def receipt(**what: object) -> Receipt:
    whole = {"runs": (RUN,), "took": 0.012, **what}
    return Receipt(S, Generation(2), Reason.STOPPED, 0.0, **whole)  # pyright: ignore[reportArgumentType] - by name


def call(name: str, status: Status) -> ToolReport:
    return ToolReport(CallId(f"c-{name}"), name, status)


def message(text: str) -> Message:
    return Message(MessageId(f"m-{text}"), text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words\n\tand a tab", "plain words\n\tand a tab"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x9b31m", "\ufffd31m"),
        ("a\bb\x7f", "a␈b␡"),
        ("one\r\ntwo\rthree\r", "one\ntwo␍three"),
        ("\u202eevil\u2066", "\ufffdevil\ufffd"),
        ("\u2028next", "\nnext"),
        ("lone \udc80", "lone \ufffd"),
        ("👩‍👧 日本 naïve נא", "👩‍👧 日本 naïve נא"),
    ],
)
def test_what_could_control_a_terminal_is_shown_instead(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text(st.characters(), max_size=60), st.integers(0, 60))
def test_no_text_controls_a_terminal_however_it_is_cut(text: str, cut: int) -> None:
    shown = plain(text[:cut]) + plain(text[cut:])

    assert {unicodedata.category(c) for c in shown if c not in "\n\t"}.isdisjoint({"Cc", "Cs"})
    shown.encode()


@given(st.text(st.sampled_from("ab \x1b\x9b\r\n\t[]()*_#`>-1.&;|<~\u202e"), max_size=80))
def test_no_markdown_controls_a_terminal(text: str) -> None:
    blocks, paint = Blocks(), Paint(lambda: 40)
    shown = "".join(paint.block(block) for block in [*blocks.feed(text), *blocks.rest()])

    assert "\x1b" not in shown.replace("\x1b[", "")  # colours, and nothing else, are ours
    assert {c for c in shown if c < " "} <= {"\n", "\x1b"}
    assert "\u202e" not in shown


def test_a_character_that_is_spelled_out_is_as_harmless() -> None:
    [block] = Blocks().feed("a&#27;[2J &#13;b &#8238;c [safe](http://evil.example)\n\n")

    shown = Paint(lambda: 80).block(block)
    assert "\x1b[2J" not in shown
    assert "\u202e" not in shown
    assert "\r" not in shown
    assert "http://evil.example" in shown  # a link says where it leads
    assert "\x1b]8" not in shown


def test_a_long_text_is_one_line_where_it_is_only_mentioned() -> None:
    assert short("one\n  two\tthree") == "one two three"
    assert short("x" * 100, 10) == "xxxxxxxxx…"


# receipts


def test_a_plain_stop_is_one_line() -> None:
    assert receipt_lines(receipt()) == ["Stopped: 1 answer cut off, quiet after 12 ms."]


def test_a_receipt_says_what_ended_and_what_is_in_doubt_in_two_lines() -> None:
    lines = receipt_lines(
        receipt(
            calls=(
                call("deploy", Status.MAY_HAVE_EXECUTED),
                call("mail\x1b[1m", Status.NOT_STARTED),
                call("look", Status.COMPLETED),
            ),
            processes=(
                ProcessReport(7, "make", "ended"),
                ProcessReport(8, "server", "killed"),
                ProcessReport(9, "db", "kept"),
            ),
            messages=(
                MessageReport(message("and\nthen"), "dropped"),
                MessageReport(message("later"), "paused"),
            ),
            unconfirmed=(Unconfirmed("process", "10 dd (cannot be interrupted)"),),
        )
    )

    assert lines == [
        "Stopped: 1 answer cut off, not all quiet yet. Tools not started: mail␛[1m. "
        "Processes: 1 ended; killed: 8 server; kept: 9 db. "
        "Messages dropped: “and then”. Messages waiting: “later”.",
        "Still ending: process 10 dd (cannot be interrupted). Tools may have executed: deploy. "
        "/receipt shows all.",
    ]


def test_a_receipt_names_no_more_than_a_person_takes_in() -> None:
    calls = tuple(call(f"tool{n}", Status.MAY_HAVE_EXECUTED) for n in range(9))

    [_, doubt] = receipt_lines(receipt(calls=calls))

    assert doubt == "Tools may have executed: tool0, tool1, tool2 and 6 more. /receipt shows all."


def test_a_receipt_that_could_not_be_stored_says_so() -> None:
    [_, doubt] = receipt_lines(receipt(durable=False))

    assert doubt.startswith("Not stored yet: no new message is taken until it is.")


def test_a_stop_that_found_nothing_or_reached_nobody_says_that() -> None:
    elsewhere = (Unconfirmed("session", "it belongs to process 7"),)

    assert receipt_lines(receipt(runs=())) == ["Nothing was running."]
    assert receipt_lines(receipt(runs=(), unconfirmed=elsewhere)) == [
        "It could not be stopped from here: it belongs to process 7."
    ]


@pytest.mark.parametrize(
    ("status", "seconds", "line"),
    [
        (Status.BEGUN, None, "· grep …"),
        (Status.COMPLETED, 1.26, "· grep (1.3 s)"),
        (Status.NOT_STARTED, None, "· grep (not started)"),
        (Status.MAY_HAVE_EXECUTED, 0.1, "· grep (may have executed)"),
    ],
)
def test_a_call_is_one_line(status: Status, seconds: float | None, line: str) -> None:
    assert call_line("grep", status, seconds) == line
    assert call_line("grep", status, seconds, "the sea") == line.replace("grep", "grep: the sea")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ('{"command": "git status"}', "git status"),
        ('{"path": "a.py", "old": "x\\ny", "all": true}', "a.py, old=x y, all=true"),
        ('{"n": [1, 2]}', "[1, 2]"),
        ("{}", ""),
        ('{"cut off', '{"cut off'),
        ('{"text": "\\u001b[2J"}', "␛[2J"),
        (f'{{"text": "{"x" * 500}"}}', "x" * 99 + "…"),
    ],
)
def test_what_a_tool_is_called_with_is_one_line(arguments: str, line: str) -> None:
    assert arguments_line(arguments) == line


# pieces of an answer


@given(st.text(st.sampled_from("ab \n`~-#"), max_size=120), st.integers(1, 9))
def test_text_is_cut_the_same_however_it_comes(text: str, size: int) -> None:
    whole, pieces = Blocks(), Blocks()
    at_once = [*whole.feed(text), *whole.rest()]

    parts = [text[n : n + size] for n in range(0, len(text), size)]
    bit_by_bit = [block for part in parts for block in pieces.feed(part)] + pieces.rest()

    assert bit_by_bit == at_once


@given(st.text(st.sampled_from("abcdefgh \n"), max_size=200))
def test_no_word_is_lost_or_said_twice(text: str) -> None:
    blocks = Blocks()
    said = [*blocks.feed(text), *blocks.rest()]

    assert " ".join(block.text for block in said).split() == text.split()
    assert blocks.tail == ""


ODD = (
    *("vector<int> v; if a<b and c>d", "<details>", "rm -rf / was run", "</details>", "<br/>"),
    *("<!-- all gone -->", "<script>alert(1)</script>", "<kbd>x</kbd>", "<?php echo 1 ?>"),
    *("[x]: http://a.example", '[y]: <b> "titled"', "[x]", "[^1]: note", "see [x][y]"),
    *("```x``` is how you write it.", "``` `a` b", "```", "~~~", "~~~ `c` d", "```py run this"),
    *("![alt](http://i.example/a.png)", '[t](http://l.example "tip")', "<http://auto.example>"),
    *("| a | b |", "|---|---|", "| 1 | 2 | 3 |", f"| {'long' * 30} | cell |", "||||"),
    *("&lt;tag&gt; &#27; &nbsp;x", "a\\*b\\*", "1. one", "1. two", "9) nine", "- [ ] todo", "+ x"),
    *(
        "# head {#id}",
        "set",
        "===",
        "---",
        "> said",
        ">> twice",
        "    indented",
        "\tx = 1",
        "~~old~~",
    ),
    *("", "", "**b** _i_ `c`", "a_b_c", "日本語 テキスト", "naïve café", "$x_1$", "a  ", "b\\"),
)


def seen(text: str) -> str:
    """What a person sees of it, without colours and layout."""
    blocks, paint = Blocks(), Paint(lambda: 40)
    shown = "".join(paint.block(block) for block in [*blocks.feed(text), *blocks.rest()])
    return re.sub(r"\x1b\[[0-9;]*m", "", shown)


def characters(text: str) -> Counter[str]:
    """Its letters and digits, without the numbers of lists, which are numbered anew."""
    said = re.sub(r"^[\s>*+-]*\d+[.)]", "", text, flags=re.MULTILINE)
    return Counter(character for character in said if character.isalnum())


@given(st.lists(st.sampled_from(ODD), max_size=8).map("\n".join))
def test_whatever_a_model_says_is_seen(text: str) -> None:
    assert characters(text) <= characters(seen(text))


@pytest.mark.parametrize(
    "text",
    [
        "In C++ you write vector<int> v; if a<b and c>d then it is <b>fine</b>.",
        "<details>I deleted three files.</details>",
        "<!-- gone -->",
        "[x]: rm",
        "| a | <b>1</b> |",
    ],
)
def test_what_only_a_browser_would_read_is_seen_as_it_is(text: str) -> None:
    assert " ".join(seen(text).split()) == text


def test_a_text_with_a_tag_in_it_is_laid_out_all_the_same() -> None:
    assert seen("A <b>tag</b>, a < b and *more*.") == "A <b>tag</b>, a < b and more.\n"
    assert seen("[x]: *this*") == "[x]: this\n"


def test_a_line_that_quotes_a_fence_is_a_sentence() -> None:
    assert seen("```x``` is how you write it.\n\nThe *end*.") == (
        "x is how you write it.\n\nThe end.\n"
    )


def test_a_paragraph_is_finished_by_an_empty_line_and_code_by_each() -> None:
    blocks = Blocks()

    assert blocks.feed("one\ntwo") == []
    assert blocks.tail == "one\ntwo"
    assert [b.text for b in blocks.feed("\n\n```py\nx = 1\n")] == ["one\ntwo", "x = 1"]
    assert [b.text for b in blocks.feed("\ny\n```\nend")] == ["", "y"]
    assert [(b.text, b.kind, b.apart) for b in blocks.rest()] == [("end", "prose", True)]


def test_a_text_without_an_end_is_shown_before_it_ends() -> None:
    blocks = Blocks()
    said = [block.text for _ in range(3000) for block in blocks.feed("words ")]

    assert len(said) > 3
    assert len(blocks.tail) < 5000
    assert " ".join([*said, blocks.tail]).split() == ["words"] * 3000


@given(st.text(max_size=400), st.integers(4, 40), st.integers(1, 8))
def test_the_end_of_a_text_fits_the_rows_there_are(text: str, columns: int, rows: int) -> None:
    shown = last_rows(text, columns, rows)

    assert text.endswith(shown)
    assert rows_of(shown, columns) <= rows


@pytest.mark.scenario("W16", part="chat")
@pytest.mark.parametrize("columns", [3, 4000])
def test_no_piece_is_long_however_much_comes_at_once(columns: int) -> None:
    row = "|" + "b|" * columns
    table = f"{row}\n|{'-|' * columns}\n" + f"{row}\n" * (16_000 // len(row) + 1)

    blocks = Blocks()
    pieces = [*blocks.feed(table), *blocks.rest()]

    assert max(len(piece.text) for piece in pieces) <= 8_001  # each is laid out in one go
    assert "".join(piece.text for piece in pieces).count("b") == table.count("b")


@pytest.mark.scenario("W52", part="chat")
def test_help_lists_every_command_with_what_can_follow_it() -> None:
    told = help_text()
    for name, command in COMMANDS.items():
        assert f"/{name}" in told
        assert command.about in told
        assert command.usage in " ".join(told.split())


@pytest.mark.scenario("H11")
@given(st.text(alphabet="ab \n本\t", max_size=80), st.integers(4, 20))
def test_rows_are_cut_between_words_and_nothing_is_lost(text: str, columns: int) -> None:
    rows = wrapped(text, columns).split("\n")
    assert "".join("".join(rows).split()) == "".join(text.split())
    assert all(width(row.rstrip()) <= columns or len(row.split()) <= 1 for row in rows)
