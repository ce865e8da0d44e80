"""What is typed behind a slash on the page leads to what does the same there."""

from __future__ import annotations

import pytest

from lastword import Run, Runtime
from lastword.agent.undo.undo import Changed, ChangedFile
from lastword.cli.chat.piped_command import PipedCommand
from lastword.core.changes import Change
from lastword.engines.function import function
from lastword.surfaces import changes, commands
from tests.server.page_node import Modules

pytestmark = pytest.mark.scenario("W52", part="page")

KNOWN = """async () => Object.keys((await import("./assets/commands.js")).COMMANDS)"""
TYPED = """async ({ texts, there }) => {
  const { command } = await import("./assets/commands.js");
  return texts.map((text) => {
    const done = [];
    let mode = "takeover";
    const show = (what) => () => (done.push(what), there);
    const was = command(text, {
      stop: () => done.push("stopped"),
      mode: () => mode,
      setMode: (to) => (mode = to),
      showReceipt: show("receipt"),
      showProcesses: show("processes"),
      showQueue: show("queue"),
      showProgram: show("program"),
      again: (text) => done.push(`again ${text}`),
      rename: (title) => done.push(`rename ${title}`),
      diff: (words) => done.push(`diff ${words}`),
      undo: (words) => done.push(`undo ${words}`),
      redo: () => done.push("redo"),
      showUsage: show("usage"),
      keep: () => done.push("export"),
      say: (words) => done.push(words),
    });
    return [was, ...done];
  });
}"""


CHANGES = """async ({ text, status, answer, press = "" }) => {
  const { command } = await import("./assets/commands.js");
  const { Changes } = await import("./assets/changes.js");
  const asked = [];
  const said = [];
  let over;
  let left = press ? 2 : 1; // times that something is said
  const done = new Promise((resolve) => (over = () => --left || resolve()));
  globalThis.fetch = async (path, { method, body }) => {
    asked.push([path, method, body === undefined ? null : JSON.parse(body)]);
    return new Response(JSON.stringify(answer), { status });
  };
  HTMLElement.prototype.showModal = function () {
    const parts = [...this.querySelectorAll("h2, h3, pre, p")];
    over(said.push(...parts.flatMap((one) => one.textContent.split("\\n"))));
    this.returnValue = press;
    setTimeout(() => this.dispatchEvent(new document.defaultView.Event("close")));
  };
  const changes = new Changes({ state: { session: "s" } }, {
    clear: () => {},
    say: (words) => over(said.push(words)),
    problem: ({ title, detail }) => over(said.push(title, detail)),
  });
  command(text, {
    diff: (words) => changes.diff(words),
    undo: (words) => changes.undo(words),
    redo: () => changes.redo(),
  });
  await done;
  return { asked, said };
}"""
DONE = {"done": ["a.py"], "left": [], "words": "Taken back: a.py."}
WHY = "Left as it is: a.py: somebody else has changed it since."
LEFT = {"done": [], "left": [{"path": "a.py", "why": "…"}], "words": WHY}
ANYWAY = "/undo anyway PATH takes it back all the same."


def typed(modules: Modules, *texts: str, there: bool = True) -> list[list[object]]:
    found: list[list[object]] = modules.evaluate(TYPED, {"texts": texts, "there": there})
    return found


def test_the_page_has_the_commands_that_every_surface_has(modules: Modules) -> None:
    known = modules.evaluate(KNOWN)
    assert known == list(commands.COMMANDS)


def test_a_command_leads_to_its_control_or_says_that_there_is_nothing(modules: Modules) -> None:
    texts = [f"/{name}" for name in commands.COMMANDS]

    assert typed(modules, *texts) == [
        [True, "stopped"],
        [True, "While an answer is being made, a new message: takeover."],
        [True, "receipt"],
        [True, "again "],
        [True, "diff "],
        [True, "undo "],
        [True, "redo"],
        [True, "rename "],
        [True, "usage"],
        [True, "export"],
        [True, "processes"],
        [True, "queue"],
        [True, "program"],
    ]
    nothing = typed(modules, "/receipt", "/cost", "/processes", "/queue", "/programs", there=False)
    assert [words for _, _, words in nothing] == [
        "Nothing was stopped here.",
        "No model was asked here yet, or it did not count.",
        "Nothing goes on under an id.",
        "Nothing waits.",
        "No program waits.",
    ]


async def test_where_there_is_nothing_the_page_says_what_a_terminal_says(modules: Modules) -> None:
    names = ["receipt", "cost", "processes", "queue", "programs"]
    told = typed(modules, *(f"/{name}" for name in names), there=False)

    async with Runtime(function(silent)) as runtime:
        here = PipedCommand(runtime.session("s"), "takeover", "", None)
        assert [words for _, _, words in told] == [(await here.do(n, "")).words for n in names]


@pytest.mark.parametrize(
    ("typed", "answer", "asked", "said"),
    [
        ("/undo", DONE, {"paths": [], "anyway": False}, ["Taken back: a.py."]),
        ("/undo 'my notes' b\\ c", DONE, {"paths": ["my notes", "b c"], "anyway": False}, None),
        ("/undo anyway a.py", DONE, {"paths": ["a.py"], "anyway": True}, None),
        ("/undo", LEFT, {"paths": [], "anyway": False}, [WHY, ANYWAY]),
        ("/redo", DONE, None, ["Taken back: a.py."]),
        ("/redo", LEFT, None, [WHY, ""]),
    ],
)
def test_what_was_changed_is_taken_back_and_what_was_left_is_said(
    modules: Modules, typed: str, answer: object, asked: object, said: list[str] | None
) -> None:
    became = modules.evaluate(CHANGES, {"text": typed, "status": 200, "answer": answer})
    assert became["asked"] == [[f"v1/sessions/s{typed.split(maxsplit=1)[0]}", "POST", asked]]
    assert said is None or became["said"] == said


def test_what_cannot_be_taken_back_is_said_with_why_and_nothing_is_asked_of_half_a_path(
    modules: Modules,
) -> None:
    why = {"type": "x:nothing-to-undo", "title": "There is nothing to take back", "detail": "Why."}
    became = modules.evaluate(CHANGES, {"text": "/undo", "status": 409, "answer": why})
    assert became["said"] == ["There is nothing to take back", "Why."]
    for text in ("/undo anyway", "/undo 'half", "/diff 'half"):
        became = modules.evaluate(CHANGES, {"text": text, "status": 200, "answer": DONE})
        assert became["asked"] == []
        assert became["said"][0] == "Not done:"


def test_a_diff_is_shown_in_the_words_of_a_terminal_or_only_at_some_paths(modules: Modules) -> None:
    change = Change(new=False, gone=1, come=2, lines=((" ", "one"), ("-", "two"), ("+", "three")))
    files = (
        ChangedFile("a.py", "changed", change, ""),
        ChangedFile("my notes", "deleted", None, "nobody can tell"),
    )
    told = Changed("r", files, ("Commands are not covered.",), taken_back=True)

    def shown(words: str) -> list[str]:
        answer = {"run": "r", "taken_back": True, "notes": told.notes}
        answer |= {"files": [_out(one) for one in files]}
        about = {"text": f"/diff {words}", "status": 200, "answer": answer}
        became = modules.evaluate(CHANGES, about)
        assert became["asked"] == [["v1/sessions/s/files", "GET", None]]
        title, *text = became["said"]
        assert title == f"{changes.heading(told)} (taken back)"
        return text

    a = ["a.py: changed", "  one", "- two", "+ three"]
    notes = [told.notes[0], "/redo brings back what was taken back last."]
    assert shown("") == [*a, "my notes: deleted (nobody can tell)", *notes]
    assert shown("'my notes'") == ["my notes: deleted (nobody can tell)", *notes]
    assert shown("a.py") == [*a, *notes]


@pytest.mark.scenario("Y24", part="page")
def test_what_was_looked_at_is_taken_back_by_a_button_and_nothing_else(modules: Modules) -> None:
    answer = {"run": "s#2", "taken_back": False, "notes": [], "files": [], **LEFT}
    about = {"text": "/diff a.py", "status": 200, "answer": answer, "press": "back"}
    became = modules.evaluate(CHANGES, about)
    asked = {"run": "s#2", "paths": ["a.py"], "anyway": False}
    assert became["asked"] == [
        ["v1/sessions/s/files", "GET", None],
        ["v1/sessions/s/undo", "POST", asked],
    ]
    assert became["said"][-2:] == [WHY, ANYWAY]


@pytest.mark.scenario("Y24", part="page")
def test_of_very_many_paths_some_are_named_and_the_others_counted(modules: Modules) -> None:
    files = [_out(ChangedFile(f"{n}.py", "new", None, "")) for n in range(1_300)]
    answer = {"run": "s#2", "taken_back": False, "notes": [], "files": files}
    became = modules.evaluate(CHANGES, {"text": "/diff", "status": 200, "answer": answer})
    assert became["said"][1:] == [*(f"{n}.py: new" for n in range(100)), "1,200 more paths"]


def _out(one: ChangedFile) -> dict[str, object]:
    lines = [{"mark": mark, "text": text} for mark, text in one.change.lines] if one.change else []
    come, gone = (one.change.come, one.change.gone) if one.change else (0, 0)
    told = {"path": one.path, "became": one.became, "doubt": one.doubt}
    return {**told, "come": come, "gone": gone, "lines": lines, "left_out": 0}


async def silent(_: Run) -> str:
    return ""


def test_a_mode_is_set_by_its_name_and_what_is_no_command_is_said(modules: Modules) -> None:
    assert typed(modules, "/mode queue", "/mode shout", "/etc/hosts", "/stopping", "queue") == [
        [True, "While an answer is being made, a new message: queue."],
        [
            True,
            "shout is not one of takeover, queue, steer, collect, rollback, refuse",
        ],
        [False],
        [False],
        [False],
    ]
