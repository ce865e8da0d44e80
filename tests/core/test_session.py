"""The machine by hand: one story a test, for whoever wants to see what a policy does.

All histories within bounds are in `test_explorer.py`; these are the ones worth reading.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastword.core.events import (
    Accepted,
    ClockReached,
    Ended,
    Event,
    ResumeAsked,
    SteeringTaken,
    StopAsked,
    Stored,
    StoreFailed,
)
from lastword.core.model import (
    Generation,
    Message,
    MessageId,
    Origin,
    Outcome,
    Policy,
    Reason,
    RunId,
    Settings,
    Turn,
)
from lastword.core.orders import Accept, Cancel, End, Join, Order, Pause, Refuse, Start, Wake
from lastword.core.session import SessionMachine
from lastword.errors import ImpossibleMove, LastwordError, NotAllowed, StaleRun

DONE = Outcome.COMPLETED


def message(name: str, origin: Origin = "person", by: str = "ann") -> Message:
    return Message(MessageId(name), f"text of {name}", by, origin)


def turn(*names: str, origin: Origin = "person") -> Turn:
    """The turn of these messages; a message's run has the message's name."""
    return Turn(RunId(names[0]), tuple(message(name, origin) for name in names))


def send(
    machine: SessionMachine,
    name: str,
    policy: Policy,
    *,
    at: float = 0.0,
    origin: Origin = "person",
    by: str = "ann",
) -> list[Order]:
    """Send a message and let the store have it; return all the orders that this led to."""
    sent = message(name, origin, by)
    orders = machine.apply(Accepted(sent, RunId(name), policy, at))
    if any(isinstance(order, Accept) for order in orders):
        orders += machine.apply(Stored(sent.id))
    return orders


def starts(orders: list[Order]) -> list[tuple[str, ...]]:
    """The messages of every turn that was started."""
    return [tuple(m.id for m in o.turn.messages) for o in orders if isinstance(o, Start)]


def test_a_takeover_ends_the_run_and_its_queue_before_it_is_accepted() -> None:
    machine = SessionMachine(Settings())
    send(machine, "old", "takeover")
    send(machine, "queued", "queue")

    orders = send(machine, "new", "takeover")

    assert orders == [
        Cancel(RunId("old"), Reason.SUPERSEDED),
        End(turn("old"), Outcome.SUPERSEDED, started=True, held=True),
        End(turn("queued"), Outcome.SUPERSEDED, started=False),
        Accept(message("new"), RunId("new"), "starting"),
        Start(turn("new"), Generation(3)),
    ]


def test_after_a_takeover_a_queue_that_is_kept_follows_the_new_message() -> None:
    machine = SessionMachine(Settings(queue_on_stop="keep"))
    send(machine, "old", "takeover")
    send(machine, "queued", "queue")

    first = send(machine, "new", "takeover")
    then = machine.apply(Ended(RunId("new"), DONE))

    assert starts(first) == [("new",)]
    assert starts(then) == [("queued",)]


def test_a_rollback_takes_back_the_turn_it_replaces_and_no_other() -> None:
    machine = SessionMachine(Settings())
    send(machine, "old", "takeover")
    send(machine, "queued", "queue")

    orders = send(machine, "new", "rollback")

    taken_back = [o.turn for o in orders if isinstance(o, End) and o.rollback]
    assert taken_back == [turn("old")]


def test_a_message_that_finds_the_queue_full_is_refused_and_changes_nothing() -> None:
    machine = SessionMachine(Settings(queue_limit=1))
    send(machine, "active", "queue")
    send(machine, "queued", "queue")
    before = vars(copy.copy(machine))

    orders = send(machine, "one too many", "queue")

    assert orders == [Refuse(message("one too many"), "full")]
    assert vars(machine) == before


def test_messages_that_are_collected_get_one_turn_when_it_has_been_quiet() -> None:
    machine = SessionMachine(Settings(quiet_window=1.0, longest_window=10.0))
    send(machine, "active", "collect")
    first = send(machine, "one", "collect", at=5.0)
    second = send(machine, "two", "collect", at=5.75)
    machine.apply(Ended(RunId("active"), DONE))

    too_early = machine.apply(ClockReached(6.0))
    in_time = machine.apply(ClockReached(6.75))

    assert [o for o in first + second if isinstance(o, Wake)] == [Wake(6.0), Wake(6.75)]
    assert too_early == []
    assert starts(in_time) == [("one", "two")]


def test_a_window_that_is_never_quiet_closes_all_the_same() -> None:
    machine = SessionMachine(Settings(quiet_window=1.0, longest_window=1.5))
    send(machine, "active", "collect")
    send(machine, "one", "collect", at=0.0)
    send(machine, "two", "collect", at=0.75)
    machine.apply(Ended(RunId("active"), DONE))

    assert starts(machine.apply(ClockReached(1.5))) == [("one", "two")]


def test_steering_in_the_last_moment_is_the_next_turn_before_the_queue() -> None:
    machine = SessionMachine(Settings())
    send(machine, "active", "queue")
    send(machine, "queued", "queue")
    send(machine, "taken", "steer")
    joined = machine.apply(SteeringTaken(RunId("active")))
    send(machine, "late", "steer")
    send(machine, "later", "steer")

    orders = machine.apply(Ended(RunId("active"), DONE))

    assert joined == [Join(RunId("active"), (message("taken"),))]
    assert orders[0] == End(replace(turn("active", "taken"), also=("taken",)), DONE, started=True)
    assert starts(orders) == [("late", "later")]
    by_its_own_name = machine.apply(StopAsked(run=RunId("later")))
    assert by_its_own_name[0] == Cancel(RunId("late"), Reason.STOPPED)


def test_a_stop_names_every_message_it_covers_the_unstored_ones_too() -> None:
    machine = SessionMachine(Settings())
    send(machine, "active", "queue")
    send(machine, "queued", "queue")
    send(machine, "steer", "steer")
    machine.apply(Accepted(message("unstored"), RunId("unstored"), "queue"))

    orders = machine.apply(StopAsked())
    late = machine.apply(Stored(MessageId("unstored")))

    assert orders == [
        Cancel(RunId("active"), Reason.STOPPED),
        End(turn("active"), Outcome.STOPPED, started=True, held=True),
        End(turn("steer"), Outcome.STOPPED, started=False),
        End(turn("queued"), Outcome.STOPPED, started=False),
        End(turn("unstored"), Outcome.STOPPED, started=False),
    ]
    assert late == []


def test_a_stop_of_the_active_run_lets_the_queue_go_on() -> None:
    machine = SessionMachine(Settings())
    send(machine, "active", "queue")
    send(machine, "next", "queue")

    orders = machine.apply(StopAsked(run=RunId("active")))

    assert orders == [
        Cancel(RunId("active"), Reason.STOPPED),
        End(turn("active"), Outcome.STOPPED, started=True, held=True),
        Start(turn("next"), Generation(3)),
    ]


def test_a_stop_of_a_run_that_waits_withdraws_it_and_leaves_the_active_run_alone() -> None:
    machine = SessionMachine(Settings())
    send(machine, "active", "queue")
    send(machine, "waits", "queue")
    generation = machine.generation

    orders = machine.apply(StopAsked(run=RunId("waits")))

    assert orders == [End(turn("waits"), Outcome.WITHDRAWN, started=False)]
    assert machine.generation == generation
    with pytest.raises(StaleRun):
        machine.apply(StopAsked(run=RunId("waits")))


def test_an_idle_stop_does_not_touch_the_next_message() -> None:
    stopped, untouched = SessionMachine(Settings()), SessionMachine(Settings())

    assert stopped.apply(StopAsked()) == []

    assert vars(stopped) == vars(untouched)
    assert send(stopped, "next", "queue", origin="timer") == send(
        untouched, "next", "queue", origin="timer"
    )


def test_after_a_stop_that_keeps_the_queue_nothing_starts_until_a_person_speaks() -> None:
    machine = SessionMachine(Settings(queue_on_stop="keep"))
    send(machine, "active", "queue")
    send(machine, "kept", "queue")

    stopped = machine.apply(StopAsked())
    quiet = machine.apply(Ended(RunId("active"), DONE)) + machine.apply(ClockReached(99.0))
    spoken = send(machine, "go on", "queue")

    assert stopped[-1] == Pause(turn("kept"))
    assert quiet == []
    assert starts(spoken) == [("go on",)]
    assert starts(machine.apply(Ended(RunId("go on"), DONE))) == [("kept",)]


@pytest.mark.parametrize("origin", ["timer", "child"])
@pytest.mark.parametrize("policy", ["takeover", "queue", "collect", "steer", "refuse", "rollback"])
def test_after_a_stop_only_a_person_sets_things_going_again(origin: Origin, policy: Policy) -> None:
    machine = SessionMachine(Settings())
    send(machine, "active", "queue")
    machine.apply(StopAsked())

    unasked = send(machine, "unasked", policy, origin=origin)
    resumed = machine.apply(ResumeAsked())

    assert starts(unasked) == []
    assert starts(resumed) == [("unasked",)]


def test_who_may_not_stop_what_others_asked_for_waits_instead_of_taking_over() -> None:
    machine = SessionMachine(Settings(stoppers=frozenset({"boss"})))
    send(machine, "ann's", "takeover", by="ann")
    before = vars(copy.copy(machine))

    with pytest.raises(NotAllowed):
        machine.apply(StopAsked(by="bob"))
    untouched = vars(copy.copy(machine))
    waits = send(machine, "bob's", "takeover", by="bob")
    takes = send(machine, "boss's", "takeover", by="boss")

    assert untouched == before
    assert waits == [Accept(message("bob's", by="bob"), RunId("bob's"), "queued")]
    assert Cancel(RunId("ann's"), Reason.SUPERSEDED) in takes


def test_a_message_whose_store_failed_was_never_there() -> None:
    machine = SessionMachine(Settings())
    machine.apply(Accepted(message("lost"), RunId("lost"), "queue"))
    send(machine, "next", "queue")

    orders = machine.apply(StoreFailed(MessageId("lost")))

    assert starts(orders) == [("next",)]
    assert not any(isinstance(order, End) for order in orders)


def test_what_cannot_have_happened_raises_and_touches_nothing() -> None:
    machine = SessionMachine(Settings())
    send(machine, "active", "queue")
    before = vars(copy.copy(machine))

    for event in (
        Ended(RunId("unknown"), DONE),
        Stored(MessageId("active")),
        SteeringTaken(RunId("unknown")),
        Accepted(message("active"), RunId("again"), "takeover"),
    ):
        with pytest.raises(ImpossibleMove):
            machine.apply(event)

    assert vars(machine) == before


# a property over histories

POLICIES: list[Policy] = ["takeover", "queue", "collect", "steer", "refuse", "rollback"]
ORIGINS: list[Origin] = ["person", "timer", "child"]
KINDS = ["send", "send", "store", "store", "fail", "end", "take", "stop", "stop run", "clock"]
steps = st.tuples(st.sampled_from(KINDS), st.sampled_from(POLICIES), st.sampled_from(ORIGINS))


def happens(machine: SessionMachine, step: tuple[str, Policy, Origin], number: int) -> Event:
    kind, policy, origin = step
    name = f"m{number}"
    active = machine.active.run if machine.active else RunId("none")
    oldest = min(machine.storing, default=MessageId("none"))
    return {
        "send": Accepted(message(name, origin), RunId(name), policy, number / 2),
        "store": Stored(oldest),
        "fail": StoreFailed(oldest),
        "end": Ended(active, DONE),
        "take": SteeringTaken(active),
        "stop": StopAsked(),
        "stop run": StopAsked(run=active),
        "clock": ClockReached(number / 2),
    }[kind]


@settings(max_examples=400, deadline=None)
@given(st.lists(steps, min_size=8, max_size=40))
def test_nothing_accepted_before_a_stop_acts_after_it(
    history: list[tuple[str, Policy, Origin]],
) -> None:
    machine = SessionMachine(Settings())
    accepted, covered = set[MessageId](), set[MessageId]()

    for number, step in enumerate(history):
        event = happens(machine, step, number)
        try:
            orders = machine.apply(event)
        except LastwordError:
            continue  # it could not have happened here
        acting = {m.id for o in orders if isinstance(o, Start) for m in o.turn.messages}
        acting |= {m.id for o in orders if isinstance(o, Join) for m in o.messages}
        accepted |= {o.message.id for o in orders if isinstance(o, Accept)}
        covered |= accepted if event == StopAsked() else set()

        assert not acting & covered
