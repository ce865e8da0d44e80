"""R1. Whoever asks is known: a run that has lost its session gets nothing done, anywhere."""

import asyncio
import inspect
import signal
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeAlias, cast

import pytest

import lastword
from lastword import Receipt, Run, Runtime, Session, Superseded
from lastword.core.asks import Answer
from lastword.core.entries import LeftOut, Native
from lastword.core.model import Generation, RunId, SessionId
from lastword.core.question import Question
from lastword.core.undo import FilesReport
from lastword.processes import Process, Warden
from lastword.processes.served import Served
from lastword.runtime.adopting import Page
from lastword.runtime.owned import Kept
from tests.promise.workshop import until
from tests.runtime.zombie import Stage, staged

Try: TypeAlias = Callable[[Stage, Session], Awaitable[Any]]


QUESTION = Question("q", SessionId("s"), Generation(1), RunId("s#1"), "shell", "{}")
YES = Answer(allowed=True)
CHANGED = FilesReport(("late.py",))


async def _in(opened: Any) -> None:
    async with opened:
        pass


async def _within(opened: AbstractContextManager[object]) -> None:
    with opened:
        pass


async def _now(done: object) -> object:
    return done


def _run(stage: Stage, session: Session) -> Run:
    return stage.handles[session.id]


def _a_process() -> Process:
    """As far as it is looked at before it is refused."""
    return cast("Process", SimpleNamespace(command="late"))


def _a_process_of_before() -> tuple[Warden, Served, Page]:
    """The same: nothing of it is looked at."""
    return cast("tuple[Warden, Served, Page]", (None, None, None))


async def _executor(stage: Stage, session: Session) -> object:
    return await asyncio.wrap_future(_run(stage, session).executor.submit(stage.tool))


# every act there is, as it is tried; what it comes to is `Superseded`, unless it says otherwise
ACTS: dict[str, Try] = {
    "Session.send": lambda _, session: session.send("after the end"),
    "Session.again": lambda _, session: session.again("after the end"),
    "Session.rename": lambda _, session: session.rename("after the end"),
    "Session.pin": lambda _, session: session.pin(),
    "Session.edit": lambda _, session: session.edit("waits", "something else"),
    "Session.remove": lambda _, session: session.remove("waits"),
    "Session.move": lambda _, session: session.move("waits", 0),
    "Session.resume": lambda _, session: session.resume(),
    "Session.answer": lambda _, session: session.answer("q", True, 1),
    "Runtime.delete": lambda stage, session: stage.runtime.delete(session.id),
    "Runtime.close": lambda stage, _: stage.runtime.close(),
    "Runtime.hand_over": lambda stage, _: stage.runtime.hand_over(),
    "Ticket.close": lambda stage, session: _now(stage.tickets[session.id].close()),
    "Run.call": lambda stage, session: _run(stage, session).call(stage.tool),
    "Run.intend": lambda stage, session: _run(stage, session).intend(stage.tool)(),
    "Run.asked": lambda stage, session: _run(stage, session).asked("t", "{}", stage.work)(),
    "Run.ask": lambda stage, session: _run(stage, session).ask(QUESTION),
    "Run.answered_before": lambda stage, session: _run(stage, session).answered_before(
        QUESTION, YES
    ),
    "Run.asks": lambda stage, session: _now(_run(stage, session).asks.answer("q", 1, YES)),
    "Run.gate": lambda stage, session: _run(stage, session).gate(stage.tool)(),
    "Run.outbox": lambda stage, session: _run(stage, session).outbox(stage.tool)(),
    "Run.spawn": lambda stage, session: _run(stage, session).spawn("true"),
    "Run.shell": lambda stage, session: _run(stage, session).shell("true"),
    "Run.steering": lambda stage, session: _run(stage, session).steering(),
    "Run.child": lambda stage, session: _run(stage, session).child("go"),
    "Run.task": lambda stage, session: _now(_run(stage, session).task(stage.work())),
    "Run.typing": lambda stage, session: _in(_run(stage, session).typing()),
    "Run.summarise": lambda stage, session: _run(stage, session).summarise("", upto=RunId("x")),
    "Run.isolate": lambda stage, session: _run(stage, session).isolate(print, "late"),
    "Run.executor": _executor,
    "Run.must_hold": lambda stage, session: _now(_run(stage, session).must_hold()),
    "Run.acting": lambda stage, session: _in(_run(stage, session).acting("late")),
    "Call.under_way": lambda stage, session: _within(
        _run(stage, session).intend(stage.tool).under_way()
    ),
    "Run.model_request": lambda stage, session: _within(
        _run(stage, session).model_request("m", provider="p")
    ),
    "Run.asks_model": lambda stage, session: _now(_run(stage, session).asks_model("m", "p")),
    "Run.job": lambda stage, session: _now(_run(stage, session).job(_a_process())),
    "Run.adopt": lambda stage, session: _now(_run(stage, session).adopt(*_a_process_of_before())),
    "Run.request": lambda stage, session: _run(stage, session).request("a service"),
    "Run.may": lambda stage, session: _run(stage, session).may("late"),
    "Call.ready": lambda stage, session: _run(stage, session).intend(stage.tool).ready(),
    "Call.begin": lambda stage, session: _run(stage, session).intend(stage.tool).begin(),
    "Call.first_line": lambda stage, session: _now(
        _run(stage, session).intend(stage.tool).first_line()
    ),
}
# what is dropped without a word: to a sink, beside the answer
DROPPED: dict[str, Try] = {
    "Run.emit": lambda stage, session: _run(stage, session).emit("late"),
    "Run.think": lambda stage, session: _run(stage, session).think("late"),
    "Run.progress": lambda stage, session: _run(stage, session).progress("late"),
    "Run.fence": lambda stage, session: _run(stage, session).fence(stage.tool)(),
    "Run.used": lambda stage, session: _now(_run(stage, session).used("m", 1, 1)),
    "Run.costs": lambda stage, session: _now(_run(stage, session).costs("m", 1, 1)),
    "Run.costs_soon": lambda stage, session: _now(_run(stage, session).costs_soon("m", 1, 1)),
    "Run.seal": lambda stage, session: _now(_run(stage, session).seal(Native("e", "{}"))),
    "Run.notes": lambda stage, session: _now(_run(stage, session).notes()),
    "Run.declined": lambda stage, session: _now(_run(stage, session).declined(400)),
    "Run.leave_out": lambda stage, session: _now(
        _run(stage, session).leave_out(LeftOut(RunId("x"), RunId("y"), "turn", "all of it"))
    ),
    "Call.skip": lambda stage, session: _now(_run(stage, session).intend(stage.tool).skip("")),
    "Call.end": lambda stage, session: _now(_run(stage, session).intend(stage.tool).end("late")),
    "Call.lose_sight": lambda stage, session: _now(
        _run(stage, session).intend(stage.tool).lose_sight()
    ),
    "Call.put_off": lambda stage, session: _now(_run(stage, session).intend(stage.tool).put_off()),
}
# what may be said late: for the receipt of the run itself, and nowhere else
FOR_ITS_RECEIPT: dict[str, Try] = {
    "Run.has_changed": lambda stage, session: _now(_run(stage, session).has_changed(CHANGED)),
}
# what says that it stopped nothing
STOPS: dict[str, Try] = {
    "Session.stop": lambda _, session: session.stop(),
    "Session.stop_soon": lambda _, session: asyncio.wrap_future(session.stop_soon()),
    "Runtime.stop_all": lambda stage, _: stage.runtime.stop_all(),
}
READS = {
    *("Session.asks", "Session.begun", "Session.questions", "Run.lives", "Run.sessions"),
    *("Session.above", "Session.active", "Session.busy", "Session.cells", "Session.ending"),
    *("Session.events", "Session.feed", "Session.fenced", "Session.generation"),
    *("Session.history", "Session.id", "Session.last_event", "Session.loaded", "Session.log"),
    *("Session.over", "Session.overview", "Session.process", "Session.processes", "Session.queue"),
    "Session.programs",
    "Session.shelf",
    *("Session.held", "Session.known", "Session.queued", "Session.record"),
    *("Session.spans", "Session.view"),
    "Session.waiting",
    *("Runtime.at_hand", "Runtime.cells", "Runtime.overview", "Runtime.recent"),
    *("Runtime.session", "Runtime.sessions", "Runtime.store_size", "Runtime.store_trouble"),
    *("Ticket.again", "Ticket.begun", "Ticket.done", "Ticket.error", "Ticket.known_outcome"),
    *("Ticket.outcome", "Ticket.receipt", "Ticket.started"),
    *("Child.done", "Child.kept", "Child.outcome", "Child.run", "Child.session", "Child.text"),
    *("Run.by", "Run.current", "Run.generation", "Run.id", "Run.messages", "Run.session"),
    *("Run.shelf", "Run.beginning", "Run.processes_gone", "Run.top"),
    *("Run.above", "Run.epoch", "Run.jobs", "Run.less", "Run.loop", "Run.said", "Run.token"),
    *("Run.may_have", "Run.traced"),
    *("Call.arguments", "Call.report"),
}
# what a session tells its own tickets and calls; not for programs
ITS_OWN = {
    *("Ticket.tell_outcome", "Ticket.tell_started", "Ticket.tell_takeover", "Ticket.tell_unknown"),
    *("Call.prepare", "Call.take_key", "Call.be_known_by"),
}
HANDLES = ("Call", "Child", "Run", "Runtime", "Session", "Ticket")
NO_HANDLES = {  # values, errors, words, and what a team makes itself
    *("Attachment", "Busy", "Engine", "FeedEvent", "Generation", "LastwordError", "Message"),
    *("NotAllowed", "NotWaiting", "Outcome", "Policy", "QueueFull", "Reason", "Receipt"),
    *("Refused", "RuntimeClosed", "Shown", "SlowWatcher", "StaleRun", "Status", "Store"),
    *("Superseded", "Token", "means_stop"),
}


@pytest.mark.scenario("R1")
def test_every_public_name_is_known_to_be_an_act_or_a_read() -> None:
    public = {
        f"{kind}.{name}"
        for kind in HANDLES
        for name, _ in inspect.getmembers(getattr(lastword, kind))
        if not name.startswith("_")
    }

    assert {*HANDLES, *NO_HANDLES} == set(lastword.__all__)
    assert {*ACTS, *DROPPED, *FOR_ITS_RECEIPT, *STOPS, *READS, *ITS_OWN} == public


@pytest.mark.scenario("R1")
@pytest.mark.parametrize("whose", ["own", "other"])
@pytest.mark.parametrize("name", [*ACTS, *DROPPED, *FOR_ITS_RECEIPT])
async def test_a_run_that_has_lost_its_session_gets_nothing_done(name: str, whose: str) -> None:
    async with staged() as stage:
        session = stage.runtime.session(whose)
        before = await stage.state()

        async def act() -> object:
            return await (ACTS | DROPPED | FOR_ITS_RECEIPT)[name](stage, session)

        if name in ACTS:
            with pytest.raises(Superseded):
                await stage.as_zombie(act)
        else:
            await stage.as_zombie(act)

        await asyncio.sleep(0)
        assert await stage.state() == before


@pytest.mark.scenario("R1")
@pytest.mark.parametrize("whose", ["own", "other"])
@pytest.mark.parametrize("name", STOPS)
async def test_a_stop_of_a_run_that_has_lost_its_session_says_that_it_stopped_nothing(
    name: str, whose: str
) -> None:
    async with staged() as stage:
        session = stage.runtime.session(whose)
        before = await stage.state()

        async def act() -> object:
            return await STOPS[name](stage, session)

        told: dict[str, Receipt] | Receipt = await stage.as_zombie(act)
        receipts = [told] if isinstance(told, Receipt) else [*told.values()]
        assert session.id in [receipt.session for receipt in receipts]
        for receipt in receipts:
            assert not receipt
            assert not receipt.quiet
            assert "nothing was stopped" in str(receipt)
            assert await receipt.settled() == receipt

        assert await stage.state() == before


@pytest.mark.scenario("R1")
async def test_what_it_has_changed_in_files_is_in_its_own_receipt_and_in_no_other() -> None:
    async with staged() as stage:
        for session in (stage.own, stage.other):
            await stage.as_zombie(partial(FOR_ITS_RECEIPT["Run.has_changed"], stage, session))

        others = await stage.other.stop()
        stage.end()
        its_own = await stage.takeover.receipt()
        assert its_own is not None
        assert (await its_own.settled()).files == (CHANGED,)
        assert others.files == ()


@pytest.mark.scenario("R1")
async def test_it_acts_on_nothing_that_was_kept_and_opens_no_other_runtime() -> None:
    async with staged() as stage:
        await stage.handles["other"].spawn("cat", stdin="pipe", on_stop="keep")
        [kept] = stage.other.processes
        other = Runtime(stage.live)
        acts: list[Callable[[], Awaitable[object]]] = [
            kept.end,
            lambda: kept.write(b"late"),
            lambda: kept.write(b"", last=True),
            lambda: kept.signal(signal.SIGTERM),
            lambda: _now(kept.read()),
            other.__aenter__,
        ]

        for act in acts:
            with pytest.raises(Superseded):
                await stage.as_zombie(act)

        assert await kept.write(b"in time\n")
        await until(lambda: kept.output == "in time\n")
        assert [one.alive for one in stage.other.processes] == [True]
        public = {name for name, _ in inspect.getmembers(Kept) if not name.startswith("_")}
        reads = {"alive", "code", "command", "ending", "kept", "number", "output", "pid"}
        reads |= {"takes_input", "fate_if_ended", "reports", "unconfirmed", "dying", "standing"}
        reads |= {"gone", "over_within", "when_over"}
        reads |= {"has_ended"}  # what its session tells it
        assert public - reads == {"end", "read", "signal", "write"}


@pytest.mark.scenario("R1")
async def test_reads_are_not_refused() -> None:
    async with staged() as stage:

        async def read() -> object:
            session = stage.other
            found = [await session.log(), await session.history(), await session.view()]
            return [*found, session.queue, await stage.runtime.sessions()]

        assert await stage.as_zombie(read)


@pytest.mark.scenario("R1")
async def test_whoever_carries_the_name_of_a_stopped_run_is_refused_however_late() -> None:
    async with staged() as stage:
        gone = asyncio.Event()

        async def poller() -> str:
            await gone.wait()
            ticket = await stage.own.send("from a poller", on_message="takeover")
            return ticket.message.origin

        async def begin() -> asyncio.Task[str]:
            return asyncio.create_task(poller())

        polling = await stage.as_zombie(begin)
        stage.end()
        receipt = await stage.takeover.receipt()
        assert receipt is not None
        assert (await receipt.settled()).quiet
        gone.set()

        with pytest.raises(Superseded):
            await polling


@pytest.mark.scenario("R1")
async def test_a_loop_of_refused_acts_does_not_stall_the_event_loop() -> None:
    async with staged() as stage:
        enough = asyncio.Event()

        async def insist() -> int:
            tries = 0
            while not enough.is_set():
                tries += 1
                try:
                    await stage.other.send("once more")
                except Superseded:
                    await stage.other.stop()
            return tries

        insisting = asyncio.create_task(stage.as_zombie(insist))
        for _ in range(20):
            await asyncio.sleep(0)
        enough.set()

        assert await insisting > 0
