"""`--engine`: a team's own engine, wherever people talk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acp.client import editor
from tests.promise.workshop import until
from tests.scenarios import ROOT

SOURCE = """
from lastword import Run


async def look(at: str) -> str:
    return f"a cat at {at}"


async def engine(run: Run) -> None:
    await run.emit(await run.call(look, run.message.text))


async def slow(run: Run) -> None:
    import asyncio

    await run.emit("I begin. ")
    await asyncio.Event().wait()


async def whose(run: Run) -> None:
    import os

    await run.emit(str(os.getpid()))


async def spins(run: Run) -> None:
    await run.emit("I begin. ")
    while run.message.text != "answer":
        pass


TEXT = "no engine"
"""
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**ENVIRONMENT, "HOME": str(cwd), "XDG_CONFIG_HOME": str(cwd)}
    command = [sys.executable, "-X", "utf8", "-m", "lastword", *words]
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def chat(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run("chat", *words, cwd=cwd)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def test_a_chat_talks_to_it_and_remembers_and_asks_nobody(folder: Path) -> None:
    first = chat("--engine", "mine:engine", "-p", "noon", "--session", "s", cwd=folder)
    again = chat("--engine", "mine:engine", "-p", "/receipt", "--session", "s", cwd=folder)

    assert (first.returncode, first.stderr) == (0, "")
    assert "a cat at noon" in first.stdout
    assert (folder / "lastword.db").exists()
    assert again.returncode in (0, 1)


@pytest.mark.parametrize(
    ("engine", "why"),
    [
        ("mine", "--engine is MODULE:FUNCTION"),
        ("lost:engine", "there is no module 'lost' here"),
        ("mine:nothing", "the module 'mine' has no 'nothing'"),
        ("mine:TEXT", "is no function"),
    ],
)
def test_what_is_no_engine_is_said_in_a_line(engine: str, why: str, folder: Path) -> None:
    done = chat("--engine", engine, "-p", "hello", cwd=folder)

    assert done.returncode == 1
    assert why in done.stderr
    assert done.stderr.startswith("lastword chat: ")
    assert done.stderr.count("\n") == 1


async def test_an_editor_talks_to_it_and_stops_it(folder: Path) -> None:
    async with editor(folder, "--engine", "mine:slow") as client:
        session = await client.new()
        prompt = client.prompt(session, "go")
        client.write(prompt)
        await until(lambda: "I begin." in client.text())
        client.write(client.cancel(session))
        answer = await client.answered(prompt)

    assert answer["result"]["stopReason"] == "cancelled"


@pytest.mark.scenario("Z23")
@pytest.mark.parametrize(("how", "apart"), [((), True), (("--in-process",), False)])
async def test_each_run_of_an_editors_own_engine_has_a_process(
    folder: Path, how: tuple[str, ...], *, apart: bool
) -> None:
    async with editor(folder, "--engine", "mine:whose", *how) as client:
        session = await client.new()
        await client.say(session, "who are you?")

    said = client.text()
    assert (said == f"{client.process.pid}") is not apart


@pytest.mark.scenario("Z23")
async def test_an_editor_stops_one_that_spins_and_talks_to_it_again(folder: Path) -> None:
    async with editor(folder, "--engine", "mine:spins") as client:
        session = await client.new()
        prompt = client.prompt(session, "go")
        client.write(prompt)
        await until(lambda: "I begin." in client.text())
        client.write(client.cancel(session))
        answer = await client.answered(prompt)
        again = await client.say(await client.new(), "answer")

    assert answer["result"]["stopReason"] == "cancelled"
    assert again["result"] == {"stopReason": "end_turn"}


def test_an_editor_is_told_what_is_no_engine(folder: Path) -> None:
    done = run("acp", "--engine", "mine:nothing", cwd=folder)

    assert (done.returncode, done.stdout) == (1, "")
    assert "lastword acp: the engine mine:nothing cannot be had" in done.stderr


async def test_an_editor_is_shown_its_calls_and_not_asked_about_them(folder: Path) -> None:
    async with editor(folder, "--engine", "mine:engine") as client:
        session = await client.new()
        answer = await client.say(session, "noon")

    assert answer["result"] == {"stopReason": "end_turn"}
    assert "a cat at noon" in client.text()
    assert client.updates("tool_call")
    assert client.asked() == []


@pytest.mark.parametrize("command", ["acp", "chat", "serve"])
def test_help_tells_of_it(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lastword", command, "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "--engine MODULE:FUNCTION" in done.stdout
