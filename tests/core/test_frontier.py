"""A cell's machine by hand: one story a test, for whoever wants to see what it does.

All histories within bounds are in `test_frontier_explorer.py`; these are the ones worth reading.
"""

from __future__ import annotations

import pytest

from lastword.core.cell import (
    CellOutcome,
    PendingCall,
    PendingGeneration,
)
from lastword.core.cell_events import (
    CallsEnded,
    CellEvent,
    CellNotStored,
    CellStored,
    Delivered,
    DeliveryFailed,
    Frozen,
    ObserveBegun,
    ObserveFailed,
    Raised,
    Reached,
    Returned,
    RuntimeLost,
    StartAsked,
    TerminateAsked,
    UsedUp,
)
from lastword.core.cell_orders import (
    CancelCalls,
    Commit,
    Deliver,
    EndCell,
    Execute,
    Kill,
    NotResumed,
    Resumed,
    Stand,
)
from lastword.core.model import CallId
from lastword.errors import (
    AlreadyRunning,
    CellError,
    CellGone,
    FutureGeneration,
    NotPausable,
    ObserverBusy,
    StaleGeneration,
    WrongCalls,
)
from tests.core.cell_stage import Cell, ended, named, paused, results, resume


def test_a_frontier_that_is_observed_five_times_is_the_same_five_times() -> None:
    cell = paused("a", "b", output="hello")

    seen = [cell.look() for _ in range(5)]

    assert {(s.generation, s.pending, s.output) for s in seen} == {
        (1, cell.machine.pending, "hello")
    }
    assert cell.waits_on == ["a", "b"]
    assert [s.fresh for s in seen] == [("hello",), (), (), (), ()]  # it is given once all the same


def test_a_frontier_is_resumed_once_and_only_by_its_number() -> None:
    cell = paused("a", "b")
    cell.go_on(1, "a")

    with pytest.raises(AlreadyRunning):
        cell.tell(resume(1, "a"))
    cell.reach(waits="b")
    with pytest.raises(StaleGeneration, match="past frontier 1, the current one is 2") as stale:
        cell.tell(resume(1, "b"))
    with pytest.raises(FutureGeneration, match="has not reached frontier 3"):
        cell.tell(resume(3, "b"))

    assert (stale.value.asked, stale.value.current) == (1, 2)
    assert Resumed(PendingGeneration(2)) in cell.go_on(2, "b")


def test_of_two_resumes_that_race_one_wins_before_anything_is_delivered() -> None:
    cell = paused("a", "b")
    cell.tell(resume(1, "a"), stored=False)

    with pytest.raises(AlreadyRunning):
        cell.tell(resume(1, "b"))

    delivered = cell.tell(CellStored(cell.machine.version))
    assert delivered == [Deliver(PendingGeneration(1), results("a"), reload=False)]


def test_a_partial_answer_leads_to_a_frontier_with_the_rest_and_the_output_since() -> None:
    cell = paused("a", "b", output="first")
    cell.look()
    cell.go_on(1, "a")

    cell.reach(waits="ab", output="second")  # what was answered is not asked for, whoever says so

    seen = cell.look()
    assert (seen.generation, cell.waits_on) == (2, ["b"])
    assert (seen.output, seen.fresh) == ("second", ("second",))


def test_a_resume_that_cannot_be_delivered_leaves_the_frontier_as_it_was() -> None:
    cell = paused("a", "b")
    before = cell.machine.frontier
    cell.tell(RuntimeLost())

    tried = cell.tell(resume(1, "a"))
    failed = cell.tell(DeliveryFailed(PendingGeneration(1)))

    assert tried == [Deliver(PendingGeneration(1), results("a"), reload=True)]
    assert failed == [Kill(), NotResumed(PendingGeneration(1))]
    assert cell.machine.frontier == before == cell.restart().machine.frontier
    assert Resumed(PendingGeneration(1)) in cell.go_on(1, "b")


def test_a_frontier_that_nobody_saw_outlives_interpreters_and_processes() -> None:
    cell = paused("a", "b", output="hello")
    before = cell.machine.frontier
    for _ in range(3):
        cell.tell(RuntimeLost())
        cell = cell.restart()

    assert cell.machine.frontier == before
    assert cell.look().fresh == ("hello",)
    assert Resumed(PendingGeneration(1)) in cell.go_on(1, "a", "b")


def test_a_frontier_is_shown_to_nobody_before_the_store_has_it() -> None:
    cell = Cell()
    cell.tell(StartAsked())
    reached = Reached((PendingCall(CallId("a"), "tool"),), frozenset({CallId("a")}))

    assert cell.tell(reached, stored=False) == []
    assert cell.machine.standing == "running"
    with pytest.raises(FutureGeneration):
        cell.tell(resume(1, "a"))

    [stand] = cell.tell(CellStored(cell.machine.version))
    assert isinstance(stand, Stand)


@pytest.mark.parametrize("delivered", [False, True])
def test_what_was_begun_and_is_not_known_to_have_ended_is_lost(delivered: bool) -> None:
    cell = paused("a", "b")
    cell.tell(resume(1, "a"))
    if delivered:
        cell.tell(Delivered(PendingGeneration(1)))
    found = cell.restart()

    cell.tell(RuntimeLost())

    assert (ended(cell), named(cell)) == (CellOutcome.LOST, ["a"])
    assert (ended(found), named(found)) == (CellOutcome.LOST, ["a"])
    with pytest.raises(CellGone, match="lost"):
        found.tell(resume(1, "a"))


def test_output_that_did_not_arrive_goes_to_the_next_observer_once() -> None:
    cell = paused("a", output="one")
    cell.tell(ObserveBegun("ann"))
    with pytest.raises(ObserverBusy, match="shown to ann"):
        cell.tell(ObserveBegun("bob"))
    cell.go_on(1, "a")
    cell.reach("b", output="two")

    cell.tell(ObserveFailed("ann"))

    assert cell.look().fresh == ("one", "two")
    assert cell.look().fresh == ()
    assert cell.restart().look().fresh == ()


def test_a_cell_that_completes_cannot_be_terminated_and_the_other_way_round() -> None:
    completed, terminated = paused("a"), paused("a")
    for cell in (completed, terminated):
        cell.go_on(1, "a")

    orders = completed.tell(Returned("42"), stored=False)
    with pytest.raises(CellGone, match="ending"):
        completed.tell(TerminateAsked())
    terminated.tell(TerminateAsked())

    assert isinstance(orders[-1], Commit)
    assert terminated.tell(Returned("42")) == []
    assert (ended(completed), ended(terminated)) == (
        CellOutcome.COMPLETED,
        CellOutcome.TERMINATED,
    )
    with pytest.raises(CellGone, match="terminated"):
        terminated.tell(TerminateAsked())


def test_what_was_remembered_is_committed_when_the_cell_completes_and_not_before() -> None:
    cell = paused("a")
    found = cell.restart()
    found.go_on(1, "a")

    orders = found.tell(Returned("42", "", (("name", '"ann"'),)))

    [values] = [order.values for order in orders if isinstance(order, Commit)]
    assert values == (("saw ", "1"), ("name", '"ann"'))


def test_values_that_could_not_be_stored_make_a_cell_that_failed() -> None:
    cell = paused("a")
    cell.go_on(1, "a")
    cell.tell(Returned("42"), stored=False)

    [end] = [o for o in cell.tell(CellNotStored(cell.machine.version)) if isinstance(o, EndCell)]

    assert (end.ending.outcome, end.durable) == (CellOutcome.FAILED, True)
    assert "none was committed" in end.ending.error


def test_a_frozen_cell_hands_nothing_out_and_refuses_everybody() -> None:
    cell = paused("a", "b")
    cell.tell(resume(1, "a"), stored=False)
    begun = cell.machine.version

    cell.tell(Frozen())

    assert cell.tell(CellStored(begun)) == []
    for asked in (resume(1, "a"), TerminateAsked(), ObserveBegun("ann")):
        with pytest.raises(CellGone, match="frozen"):
            cell.tell(asked)
    assert ended(cell.restart()) is CellOutcome.FROZEN


@pytest.mark.parametrize("waits", ["-", "z"])
def test_a_wait_that_nobody_can_settle_is_an_error(waits: str) -> None:
    cell = Cell()
    cell.tell(StartAsked())

    cell.reach(waits=waits)

    assert cell.machine.ending is not None
    assert cell.machine.ending.error == "it waits on something that nobody can settle"


@pytest.mark.parametrize("ids", [(), ("z",), ("a", "z"), ("a", "b", "a"), ("cell2-a",)], ids=str)
def test_results_that_do_not_fit_are_refused_whole(ids: tuple[str, ...]) -> None:
    cell = paused("a", "b")
    before = dict(vars(cell.machine))

    with pytest.raises(WrongCalls, match="it waits on a, b") as refused:
        cell.tell(resume(1, *ids))

    assert vars(cell.machine) == before
    assert set(refused.value.wrong) == {id_ for id_ in ids if id_ not in "ab" or ids.count(id_) > 1}


def test_a_continuing_cell_hands_its_calls_out_once_and_takes_them_as_they_end() -> None:
    cell = Cell("continuing")
    cell.tell(StartAsked())
    calls = tuple(PendingCall(CallId(id_), f"tool_{id_}") for id_ in "ab")

    orders = cell.reach("a", "b")
    first = cell.tell(CallsEnded(results("b")))
    cell.tell(Delivered(PendingGeneration(1)))
    meanwhile = cell.tell(CallsEnded(results("a")))
    second = cell.reach(waits="a")

    assert [order for order in orders if isinstance(order, Execute)] == [Execute(calls)]
    assert first == [Deliver(PendingGeneration(1), results("b"), reload=False)]
    assert meanwhile == []
    assert second[1:] == [Deliver(PendingGeneration(2), results("a"), reload=False)]


def test_a_continuing_cell_can_be_watched_and_not_be_resumed() -> None:
    cell = paused("a", output="hello", kind="continuing")

    with pytest.raises(NotPausable, match="goes on by itself"):
        cell.tell(resume(1, "a"))

    seen = cell.look()
    assert (seen.standing, seen.fresh, len(seen.pending)) == ("running", ("hello",), 1)


@pytest.mark.parametrize("end", [TerminateAsked(), Frozen(), RuntimeLost()], ids=repr)
def test_calls_that_still_go_when_their_cell_ends_are_ended_and_named(end: CellEvent) -> None:
    cell = paused("a", "b", kind="continuing")
    cell.tell(CallsEnded(results("a")))

    orders = cell.tell(end)

    [cancelled] = [order.calls for order in orders if isinstance(order, CancelCalls)]
    assert [call.id for call in cancelled] == named(cell) == ["b"]
    assert cell.tell(CallsEnded(results("b"))) == []


@pytest.mark.parametrize(
    ("report", "error"),
    [(Raised("ValueError: no"), "ValueError: no"), (UsedUp("1 s"), "its limit: 1 s")],
    ids=repr,
)
def test_a_cell_that_fails_says_why_and_gives_its_last_output(
    report: CellEvent, error: str
) -> None:
    cell = paused("a", output="one")
    cell.go_on(1, "a")

    cell.tell(report)

    seen = cell.look()
    assert seen.ending is not None
    assert error in seen.ending.error
    assert (seen.standing, seen.fresh) == ("ended", ("one",))


def test_every_refusal_is_an_error_of_cells_and_names_the_cell() -> None:
    cell = paused("a")

    with pytest.raises(CellError, match="cell cell "):
        cell.tell(resume(7, "a"))
