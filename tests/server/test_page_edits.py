"""What an edit does, as the page shows it on the card of its call: what needs no screen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.server.page_node import Modules

pytestmark = pytest.mark.scenario("Y24", part="page")

EDIT = """async (given) => {
  const { editOf } = await import("./assets/edits.js");
  const edit = editOf(given);
  return edit && [...edit.lines.map(({ mark, text }) => `${mark}${text}`), edit.come, edit.gone];
}"""
CARD = """async (parts) => {
  const { Call } = await import("./assets/calls.js");
  const card = new Call();
  return parts.map(([part, cut, asked]) => {
    card.show(part, cut, {}, asked);
    const { hidden, textContent } = card.element.querySelector("pre.lines");
    return [card.element.querySelector(".tag").textContent, hidden ? null : textContent];
  });
}"""
CHANGED = """async (parts) => {
  const { hasChanged } = await import("./assets/changes.js");
  return hasChanged({ parts });
}"""


def edit(modules: Modules, **given: object) -> list[object] | None:
    found: list[object] | None = modules.evaluate(EDIT, json.dumps(given))
    return found


@pytest.mark.parametrize(
    ("old", "new"),
    [("old", "new"), ("old_string", "new_string"), ("old_str", "new_str"), ("oldText", "newText")],
)
def test_an_edit_is_known_by_its_arguments_whatever_agent_made_it(
    modules: Modules, old: str, new: str
) -> None:
    given = {"path": "a.py", old: "a\nb\nc\n", new: "a\nB\nc\nd\n"}
    assert edit(modules, **given) == [" a", "-b", "+B", " c", "+d", 2, 1]
    assert edit(modules, path="a.py", **{old: "b"}) is None
    assert edit(modules, path="a.py", text=f'{{"{old}": "b"}}') is None


def test_several_edits_of_one_call_are_told_apart(modules: Modules) -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "", "new_string": "c"}]
    assert edit(modules, edits=edits) == ["-a", "+b", "@", "+c", 2, 1]


def test_what_is_long_is_cut_and_said_and_its_lines_are_counted_whole(modules: Modules) -> None:
    found = edit(modules, old="x\n" * 900, new="y\n" * 901)
    assert found
    assert len(found) == 200 + 1 + 2
    assert found[-3:] == ["@1,601 more lines", 901, 900]


def test_nothing_is_hidden_in_what_an_edit_writes(modules: Modules) -> None:
    assert edit(modules, old="a", new="b\u202ec\x1b[31md") == ["-a", "+b\ufffdcd", 1, 1]


def test_the_card_of_an_edit_shows_it_but_while_the_question_does(modules: Modules) -> None:
    part: dict[str, Any] = {"kind": "call", "call": "c", "name": "edit_file", "output": ""}
    part |= {"arguments": json.dumps({"old": "a", "new": "b"}), "content": "", "error": False}
    part |= {"at": 0, "began": 0, "until": 0, "answer": None, "nature": "tool"}
    begun, done = part | {"status": "begun"}, part | {"status": "completed"}
    shown = "- a\n+ b"
    assert modules.evaluate(CARD, [[begun, False, "c"], [begun, False, ""], [done, False, ""]]) == [
        ["waits for permission", None],
        ["running", shown],
        ["completed · +1 \N{MINUS SIGN}1", shown],
    ]
    failed = done | {"error": True}
    assert modules.evaluate(CARD, [[failed, False, ""]]) == [["completed with an error", shown]]


def test_an_answer_that_says_at_its_end_what_it_changed_offers_to_show_it(modules: Modules) -> None:
    text = {"kind": "text", "text": "Changed 1 file: a.py"}
    said = {"kind": "progress", "text": "Changed 1 file, +1 \N{MINUS SIGN}1: a.py"}
    assert modules.evaluate(CHANGED, [text, said])
    assert not modules.evaluate(CHANGED, [said, text])
    assert not modules.evaluate(CHANGED, [])
