"""A store made of a backup goes on as if time had passed: it repeats no number and no act."""

from pathlib import Path
from typing import Any

import pytest

from lastword import Outcome, Run, Runtime
from lastword.core.entries import Finished
from lastword.errors import Undurable
from lastword.runtime.clock import time_of_day
from lastword.stores.sqlite.backup import back_up, restore
from tests.promise.stories import Latch, answer, check_log
from tests.stores.files import move, names_in


def silent(_: int, __: int) -> None: ...


def backed_up(store: Path) -> Path:
    target = store.with_suffix(".backup")
    back_up(store, target, silent)
    return target


def restored(backup: Path, name: str, now: float | None = None) -> Path:
    target = backup.with_name(name)
    restore(backup, target, silent, time_of_day() if now is None else now)
    return target


class Given:
    """Everything that a run, or who sent its message, was given to know it by."""

    def __init__(self) -> None:
        self.tokens: list[tuple[str, int]] = []
        self.ids: list[str] = []

    async def engine(self, run: Run) -> None:
        self.tokens.append((run.token.session, run.token.generation))
        self.ids.append(run.id)

    async def talk(self, store: Path, *sessions: str) -> None:
        async with Runtime(self.engine, store=f"sqlite:{store}") as runtime:
            for name in sessions:
                ticket = await runtime.session(name).send("hello")
                self.ids.append(f"{name} {ticket.message.id}")
                await ticket.outcome()


@pytest.mark.scenario("O3")
async def test_a_backup_of_a_store_in_use_opens_elsewhere_and_belongs_to_nobody(
    tmp_path: Path,
) -> None:
    async with Runtime(answer, store=f"sqlite:{tmp_path / 'it.db'}") as runtime:
        await (await runtime.session("s").send("hello")).outcome()
        before = await runtime.session("s").log()

        new = restored(backed_up(tmp_path / "it.db"), "new.db")

        async with Runtime(answer, store=f"sqlite:{new}") as other:
            assert await other.session("s").log() == before
            ticket = await other.session("s").send("and here?")
            assert await ticket.outcome() is Outcome.COMPLETED
            await check_log(other.session("s"))
        assert await runtime.session("s").log() == before


@pytest.mark.scenario("O4")
async def test_no_number_is_given_a_second_time_however_often_a_backup_is_restored(
    tmp_path: Path,
) -> None:
    given = Given()
    await given.talk(tmp_path / "it.db", "old", "deleted")
    async with Runtime(answer, store=f"sqlite:{tmp_path / 'it.db'}") as runtime:
        await runtime.delete("deleted")
    backup = backed_up(tmp_path / "it.db")

    await given.talk(tmp_path / "it.db", "old", "deleted", "new", "old")
    for name in ("second.db", "third.db"):
        await given.talk(restored(backup, name), "old", "deleted", "new", "old")

    assert len(set(given.tokens)) == len(given.tokens)
    assert len(set(given.ids)) == len(given.ids)
    for session in ("old", "deleted", "new"):
        tokens = [generation for name, generation in given.tokens if name == session]
        assert tokens == sorted(tokens)


@pytest.mark.scenario("O4")
async def test_numbers_go_on_from_the_backup_where_the_clock_is_wrong(tmp_path: Path) -> None:
    given = Given()
    await given.talk(tmp_path / "it.db", "old", "old")
    first = restored(backed_up(tmp_path / "it.db"), "first.db")
    await given.talk(first, "old", "old")

    second = restored(backed_up(first), "second.db", now=0.0)
    await given.talk(second, "old", "new")

    old = [generation for name, generation in given.tokens if name == "old"]
    assert old == sorted(set(old))
    assert given.tokens[-1][1] >= old[-1]  # also of a session that is not in the backup


@pytest.mark.scenario("O5")
async def test_what_waited_in_a_backup_waits_for_a_person_and_what_ran_is_lost(
    tmp_path: Path,
) -> None:
    """It may have been answered since, or stopped, or said again."""
    latch = Latch()
    began: list[str] = []

    async def engine(run: Run) -> None:
        began.append(run.message.text)
        await latch.wait()

    settings: dict[str, Any] = {"on_message": "queue", "on_restart": "run"}
    async with Runtime(engine, store=f"sqlite:{tmp_path / 'it.db'}", **settings) as runtime:
        for text in ("runs", "waits", "waits too"):
            await runtime.session("s").send(text, id=text)
        await latch.came.wait()
        backup = backed_up(tmp_path / "it.db")
        latch.open.set()

    began.clear()
    async with Runtime(engine, store=f"sqlite:{restored(backup, 'new.db')}", **settings) as r:
        session = r.session("s")
        lost = await session.send("runs", id="runs")
        assert await lost.outcome() is Outcome.LOST
        again = await session.send("waits too", id="waits too")  # it waits already
        assert [message.text for message in session.queue] == ["waits", "waits too"]
        assert not session.busy
        assert not began

        await session.resume()

        assert await again.outcome() is Outcome.COMPLETED
        assert began == ["waits", "waits too"]
        await check_log(session)


@pytest.mark.scenario("O6")
async def test_a_server_whose_store_was_replaced_by_a_restored_one_acts_no_more(
    tmp_path: Path,
) -> None:
    path, heard, latch = tmp_path / "it.db", list[str](), Latch()

    async def engine(run: Run) -> None:
        await latch.wait()
        await run.emit("of the old one")

    def sink(event: object) -> None:
        heard.append(str(event))

    settings: dict[str, Any] = {"sink": sink, "on_message": "queue", "lease": 1.0}
    async with Runtime(engine, store=f"sqlite:{path}", **settings) as runtime:
        session = runtime.session("s")
        await session.send("hello")
        await latch.came.wait()
        backup = backed_up(path)
        for name in names_in(tmp_path):
            if name.startswith("it.db"):
                move(tmp_path / name, tmp_path / f"old-{name}")
        restored(backup, "it.db")

        latch.open.set()
        with pytest.raises(Undurable, match="deleted or replaced while it was open"):
            await session.send("still there?")

        assert not [line for line in heard if "of the old one" in line]
        async with Runtime(answer, store=f"sqlite:{path}") as new:
            fresh = await new.session("s").send("and you?")
            assert await fresh.outcome() is Outcome.COMPLETED
            log = await new.session("s").log()
    assert [e.outcome for e in log if isinstance(e, Finished)] == [
        Outcome.LOST,
        Outcome.COMPLETED,
    ]
