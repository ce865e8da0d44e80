"""What is typed behind a slash on the page leads to what does the same there."""

from __future__ import annotations

import pytest

from lastword import Run, Runtime
from lastword.cli.chat.piped_command import PipedCommand
from lastword.engines.function import function
from lastword.surfaces import commands
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
      say: (words) => done.push(words),
    });
    return [was, ...done];
  });
}"""


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
        [True, "processes"],
        [True, "queue"],
        [True, "program"],
    ]
    nothing = typed(modules, "/receipt", "/processes", "/queue", "/programs", there=False)
    assert [words for _, _, words in nothing] == [
        "Nothing was stopped here.",
        "Nothing goes on under an id.",
        "Nothing waits.",
        "No program waits.",
    ]


async def test_where_there_is_nothing_the_page_says_what_a_terminal_says(modules: Modules) -> None:
    names = ["receipt", "processes", "queue", "programs"]
    told = typed(modules, *(f"/{name}" for name in names), there=False)

    async with Runtime(function(silent)) as runtime:
        here = PipedCommand(runtime.session("s"), "takeover", "", None)
        assert [words for _, _, words in told] == [(await here.do(n, "")).words for n in names]


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
