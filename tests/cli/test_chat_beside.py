"""A chat beside another in the same directory, and a prompt beside both."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from lastword.stores.sqlite import SqliteStore
from tests.cli.terminal import SOON, chatting, command

W20 = pytest.mark.scenario("W20", part="chat")
UNNAMED = ("--session", "")


@W20
def test_a_second_chat_in_a_directory_begins_a_session_of_its_own(tmp_path: Path) -> None:
    store = ("--store", f"sqlite:{tmp_path / 's.db'}", *UNNAMED)
    with chatting(*store) as first:
        with chatting(*store) as second:
            second.shows("main is open in another terminal. This is main 2")
            second.say("hello from the second").shows("You said: hello from the second")
        first.say("hello from the first").shows("You said: hello from the first")


@W20
def test_who_comes_back_goes_on_where_they_left(tmp_path: Path) -> None:
    store = ("--store", f"sqlite:{tmp_path / 's.db'}", *UNNAMED)
    with chatting(*store) as terminal:
        terminal.say("hello").shows("You said: hello").say("/quit")
        assert terminal.leaves() == 0
    with chatting(*store) as terminal:
        terminal.shows("hello").hides("main 2")


@W20
def test_a_prompt_begins_a_session_unless_it_is_told_which(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 's.db'}"
    for session in ("", "", "main", "main"):
        run = command("--store", store, "--session", session, "-p", "hello")
        done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=SOON)
        assert done.stdout.strip() == "You said: hello"

    names = asyncio.run(sessions_in(tmp_path / "s.db"))
    assert sorted(name.partition(" ")[0] for name in names) == ["main", "prompt", "prompt"]


async def sessions_in(file: Path) -> tuple[str, ...]:
    store = SqliteStore(str(file))
    await store.open()
    try:
        return await store.sessions()
    finally:
        await store.close()
