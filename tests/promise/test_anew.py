"""Y. The last turn, asked anew: the model is shown the new one alone, and the log has both."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from lastword import Attachment, NotAllowed, Outcome, Run, Shown
from lastword.core.entries import Finished, Said
from lastword.core.scene import TurnItem
from lastword.errors import StaleTurn, StoreError, Undurable
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from lastword.surfaces.following import whole
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, answer, check_log, runtime


class Shows:
    """An engine that answers, calls a tool once, and keeps what it was shown."""

    def __init__(self, *, calls: bool = False) -> None:
        self.shown: list[list[tuple[str, str]]] = []
        self.calls = calls

    async def __call__(self, run: Run) -> None:
        self.shown.append([(one.role, one.text) for one in run.history])
        if self.calls:
            await run.call(self.tidy)
        await run.emit(f"re: {run.message.text}")

    async def tidy(self) -> str:
        return "tidied"


@pytest.mark.scenario("Y1", part="library")
@pytest.mark.parametrize(("said", "expected"), [(None, "two"), ("three", "three")])
async def test_the_last_turn_is_asked_anew_and_the_model_is_shown_the_new_one_alone(
    said: str | None, expected: str
) -> None:
    engine = Shows()

    async with runtime(engine) as r:
        session = r.session("s")
        for text in ("one", "two"):
            await (await session.send(text)).outcome()
        old = (await session.log())[-1]
        assert isinstance(old, Finished)
        again = await session.again(said, run=old.run)

        assert await again.outcome() is Outcome.COMPLETED
        assert engine.shown[-1] == [
            ("user", "one"),
            ("assistant", "re: one"),
            ("user", expected),
        ]
        log = await session.log()
        texts = [(e.message.text, e.instead) for e in log if isinstance(e, Said)]
        assert texts == [("one", None), ("two", None), (expected, old.run)]
        picture = await whole(session)
        heads = [item.head for item in picture.items if isinstance(item, TurnItem)]
        assert [head.rollback for head in heads] == [False, True, False]
        await check_log(session)


@pytest.mark.scenario("Y2")
async def test_what_the_old_turn_had_called_is_noted_for_the_model() -> None:
    engine = Shows(calls=True)

    async with runtime(engine) as r:
        session = r.session("s")
        await (await session.send("go")).outcome()
        await (await session.again()).outcome()

    note = "An answer was taken back, but it had called: tidy (completed)."
    assert engine.shown[-1] == [("note", note), ("user", "go")]


@pytest.mark.scenario("Y3")
def test_a_turn_that_is_going_is_stopped_first_whatever_the_instant(schedules: int) -> None:
    async def story() -> None:
        latch = Latch()

        async def engine(run: Run) -> None:
            await run.emit("so ")
            if run.message.text == "one":
                await latch.wait()

        async with runtime(engine) as r:
            session = r.session("s")
            first = await session.send("one")
            await first.started()
            going = asyncio.create_task(session.again("two", run=first.run))
            ending = asyncio.create_task(session.stop())
            receipt = await ending
            try:
                again = await going
            except StaleTurn:
                raise AssertionError("it was the last, whether it went or not") from None
            outcome = await again.outcome()

            assert outcome in (Outcome.COMPLETED, Outcome.STOPPED)
            assert await first.outcome() in (Outcome.STOPPED, Outcome.SUPERSEDED)
            assert receipt
            shown = [(one.role, one.text) for one in await session.history()]
            assert ("user", "one") not in shown
            assert ("user", "two") in shown
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("Y4", part="library")
async def test_a_turn_that_is_not_the_last_is_refused_with_words() -> None:
    async with runtime(answer) as r:
        session = r.session("s")
        first = await session.send("one")
        await first.outcome()
        await (await session.send("two")).outcome()
        before = await session.log()

        with pytest.raises(StaleTurn, match=r"s#1 is not the last any more; the last is that"):
            await session.again(run=first.run)
        with pytest.raises(StaleTurn, match="no turn that could be asked anew"):
            await r.session("nobody").again()
        assert await session.log() == before


@pytest.mark.scenario("Y4", part="library")
def test_of_two_who_ask_the_same_turn_anew_one_is_refused(schedules: int) -> None:
    async def story() -> None:
        async with runtime(answer) as r:
            session = r.session("s")
            first = await session.send("one")
            await first.outcome()
            told = await asyncio.gather(
                session.again("two", run=first.run),
                session.again("three", run=first.run),
                return_exceptions=True,
            )

            assert sorted(type(one).__name__ for one in told) == ["StaleTurn", "Ticket"]
            log = await session.log()
            assert [e.instead for e in log if isinstance(e, Said)] == [None, first.run]

    explore(story, schedules)


@pytest.mark.scenario("Y5", part="library")
async def test_who_may_not_stop_a_turn_does_not_take_it_back() -> None:
    async with runtime(answer, stoppers={"boss"}) as r:
        session = r.session("s")
        ann = await session.send("mine", by="ann")
        await ann.outcome()

        with pytest.raises(NotAllowed, match="'bob' has no right to take back the turn of run s#1"):
            await session.again(by="bob")
        await (await session.again(by="ann")).outcome()
        await (await session.again(by="boss")).outcome()


@pytest.mark.scenario("Y6")
async def test_what_came_with_a_message_comes_with_it_again_unless_it_is_changed() -> None:
    picture, other = Attachment("image/png", "aGk="), Attachment("image/png", "aG8=")
    came: list[tuple[Attachment, ...]] = []

    async def engine(run: Run) -> None:
        came.append(run.message.attachments)

    async with runtime(engine) as r:
        session = r.session("s")
        await (await session.send("look", attachments=[picture])).outcome()
        await (await session.again()).outcome()
        await (await session.again("look here", attachments=[other])).outcome()
        await (await session.again("no", attachments=[])).outcome()

    assert came == [(picture,), (picture,), (other,), ()]


@pytest.mark.scenario("Y6")
async def test_the_same_request_twice_is_one_message() -> None:
    async with runtime(answer) as r:
        session = r.session("s")
        first = await session.send("one")
        await first.outcome()
        one = await session.again("two", run=first.run, id="mine")
        await one.outcome()
        other = await session.again("two", run=first.run, id="mine")

        assert (other.message.id, other.known_outcome) == ("mine", Outcome.COMPLETED)
        assert len([e for e in await session.log() if isinstance(e, Said)]) == 2


@pytest.mark.scenario("Y7")
async def test_what_could_not_be_stored_has_taken_no_turn_back() -> None:
    class Full(MemoryStore):
        full = False

        async def commit(self, write: Write) -> None:
            if self.full:
                raise StoreError("it is full")
            await super().commit(write)

    store = Full()
    async with runtime(answer, store=store) as r:
        session = r.session("s")
        await (await session.send("one")).outcome()
        store.full = True
        with pytest.raises(Undurable, match="it is full"):
            await session.again("two")
        store.full = False

        shown = [(one.role, one.text) for one in await session.history()]
        assert shown == [("user", "one"), ("assistant", "re: one")]


@pytest.fixture(params=["sqlite:", "postgresql:"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite:":
        return f"sqlite:{tmp_path / 'it.db'}"
    return str(request.getfixturevalue("postgres"))


@pytest.mark.scenario("Y8", part="sqlite")
@pytest.mark.scenario("Y8", part="postgres")
async def test_it_stays_so_after_a_restart_and_a_turn_of_before_can_be_asked_anew(
    address: str,
) -> None:
    async with runtime(answer, store=address) as r:
        session = r.session("s")
        await (await session.send("one")).outcome()
        await (await session.again("two")).outcome()

    async with runtime(answer, store=address) as r:
        session = r.session("s")
        assert _texts(await session.history()) == ["two", "re: two"]
        await (await session.again("three")).outcome()
        assert _texts(await session.history()) == ["three", "re: three"]


@pytest.mark.scenario("Y9", part="sqlite")
@pytest.mark.scenario("Y9", part="postgres")
async def test_a_session_is_renamed_and_pinned_for_good_by_whoever_has_it(address: str) -> None:
    async with runtime(answer, store=address) as r:
        for name in ("a", "b"):
            await (await r.session(name).send(f"hello {name}")).outcome()
        await r.session("a").rename("  The\nparser  ")
        async with runtime(answer, store=address) as other:  # it does not have the session
            await other.session("a").pin()

    async with runtime(answer, store=address) as r:
        found = {one.session: (one.title, one.pinned) for one in await r.recent()}
        assert found == {"a": ("The parser", True), "b": ("hello b", False)}
        await r.session("a").rename("")
        await r.session("a").pin(on=False)
        again = await r.session("a").overview()
        assert again
        assert (again.title, again.pinned) == ("hello a", False)


def _texts(shown: Sequence[Shown]) -> list[str]:
    return [one.text for one in shown]
