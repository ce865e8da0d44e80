"""A store that may have come with the directory is not believed, and its ids steer no terminal."""

import argparse
import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lastword import Run, Runtime
from lastword.agent.config import Config
from lastword.cli import records, settings
from lastword.errors import LastwordError

HERE = "sqlite:lastword.db"
ODD = "main\x1b[2J\n\u202eevil\u200b"


def store(typed: str | None = None) -> str:
    return settings.store_of(Config(), argparse.Namespace(store=typed), HERE)


def dangling(file: Path) -> None:
    file.symlink_to("/nowhere/else.db")


def linked(file: Path) -> None:
    (file.parent / "real.db").touch(mode=0o600)
    file.symlink_to("real.db")


def hard_linked(file: Path) -> None:
    (file.parent / "real.db").touch(mode=0o600)
    os.link(file.parent / "real.db", file)


def too_open(file: Path) -> None:
    file.touch()
    file.chmod(0o644)


def somebody_else_s(file: Path) -> None:
    file.touch(mode=0o600)
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(file, 12345, 12345)


def a_folder(file: Path) -> None:
    file.mkdir()


@pytest.mark.scenario("W14", part="agent")
@pytest.mark.parametrize("name", ["lastword.db", "lastword.db-wal", "lastword.db-journal"])
@pytest.mark.parametrize(
    "make", [dangling, linked, hard_linked, too_open, somebody_else_s, a_folder]
)
def test_a_store_that_came_with_the_directory_is_refused_unless_it_is_named(
    make: Callable[[Path], None], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LASTWORD_STORE", raising=False)
    assert store() == HERE
    make(tmp_path / name)

    with pytest.raises(LastwordError, match=rf"{name} here .* may have come with the directory"):
        store()
    assert store(HERE) == HERE


@pytest.mark.scenario("W14", part="agent")
async def test_a_store_of_one_s_own_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LASTWORD_STORE", raising=False)

    async def engine(run: Run) -> None:
        await run.emit("hello")

    async with Runtime(engine, store=store()) as runtime:
        assert store() == HERE  # while another has it, too
        await (await runtime.session("s").send("hi")).outcome()
    assert store() == HERE


@pytest.mark.scenario("W14", part="agent")
def test_ids_are_printed_with_what_cannot_be_seen_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    async def engine(run: Run) -> None:
        await asyncio.Event().wait()

    async def stopped() -> None:
        async with Runtime(engine, store=HERE) as runtime:
            await runtime.session(ODD).send("hi")
            await runtime.session(ODD).stop()

    asyncio.run(stopped())
    for what, session in (("sessions", None), ("receipts", ODD), ("delete", ODD)):
        assert records.main(what, HERE, session) == 0
    assert records.main("receipts", HERE, ODD) == 1

    told = capsys.readouterr()
    for text in (told.out, told.err):
        assert not {"\x1b", "\u202e", "\u200b"} & set(text)
        assert "main⟨U+001B⟩[2J" in text
    assert told.out.startswith("main⟨U+001B⟩[2J⟨U+000A⟩⟨U+202E⟩evil⟨U+200B⟩\n")
