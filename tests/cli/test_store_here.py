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


@pytest.fixture(autouse=True)
def at_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.delenv("LASTWORD_STORE", raising=False)


def store(
    typed: str | None = None, *, trusted: bool = False, asked: list[str] | None = None
) -> str:
    def opens(path: str) -> bool:
        if asked is not None:
            asked.append(path)
        return asked is not None

    typed_here = argparse.Namespace(store=typed, trust=trusted)
    return settings.store_of(Config(), typed_here, HERE, opens)


async def made(folder: Path) -> None:
    """A store with something in it, as lastword would write it elsewhere."""

    async def engine(run: Run) -> None:
        await run.emit("hello")

    async with Runtime(engine, store=f"sqlite:{folder / 'lastword.db'}") as runtime:
        await (await runtime.session("s").send("hi")).outcome()


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
    make(tmp_path / name)

    with pytest.raises(LastwordError, match=rf"{name} here .* may have come with the directory"):
        store()
    assert store(HERE) == HERE


@pytest.mark.scenario("W14", part="agent")
async def test_a_store_of_one_s_own_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    async def engine(run: Run) -> None:
        await run.emit("hello")

    async with Runtime(engine, store=store()) as runtime:
        assert store() == HERE  # while another has it, too
        await (await runtime.session("s").send("hi")).outcome()
    assert store() == HERE


@pytest.mark.scenario("W14", part="agent")
async def test_a_store_that_was_unpacked_is_refused_asked_about_or_trusted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    await made(tmp_path)
    assert (tmp_path / "lastword.db").stat().st_mode & 0o777 == 0o600

    with pytest.raises(LastwordError, match="was not made by lastword here"):
        store()
    assert store(HERE) == HERE
    with pytest.raises(LastwordError, match="may have come with the directory"):
        store()  # to name it is for once
    asked: list[str] = []
    assert [store(asked=asked), store()] == [HERE, HERE]
    assert asked == ["lastword.db"]


@pytest.mark.scenario("W14", part="agent")
async def test_a_store_in_the_place_of_one_s_own_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert store() == HERE
    (tmp_path / "theirs").mkdir()
    await made(tmp_path / "theirs")
    (tmp_path / "theirs" / "lastword.db").replace(tmp_path / "lastword.db")

    with pytest.raises(LastwordError, match="may have come with the directory"):
        store()
    assert [store(trusted=True), store()] == [HERE, HERE]


@pytest.mark.scenario("W14", part="agent")
@pytest.mark.parametrize("more", ["journal", "wal"])
@pytest.mark.parametrize("with_a_store", [False, True])
def test_what_was_put_beside_a_store_is_refused(
    more: str, with_a_store: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if with_a_store:
        (tmp_path / "lastword.db").touch(mode=0o600)
    (tmp_path / f"lastword.db-{more}").touch(mode=0o600)

    with pytest.raises(LastwordError, match="may have come with the directory"):
        store()
    assert (tmp_path / "lastword.db").exists() is with_a_store


@pytest.mark.scenario("W14", part="agent")
async def test_a_journal_beside_one_s_own_store_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert store() == HERE
    await made(tmp_path)
    assert store() == HERE
    (tmp_path / "lastword.db-journal").touch(mode=0o600)

    with pytest.raises(LastwordError, match="is none that lastword leaves"):
        store()


@pytest.mark.scenario("W14", part="agent")
def test_of_two_that_begin_at_once_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lastword.db").touch(mode=0o600)  # by the other, which has not written yet
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
