"""What a dead process left, as its log tells it: each message has one outcome, or still waits."""

from lastword.core.doubts import Doubts
from lastword.core.entries import Began, Called, Entry, Finished, Result, Said
from lastword.core.model import (
    CallId,
    Generation,
    Message,
    MessageId,
    Outcome,
    RunId,
    Status,
    Turn,
)
from lastword.core.queue import Standing, Waiting, standing
from lastword.core.receipt import ToolReport
from lastword.core.recovery import Recovery, recover

ONE, TWO, THREE = (RunId(f"s#{number}") for number in (1, 2, 3))
A, B, C = (MessageId(name) for name in "abc")


def said(id: MessageId, run: RunId, text: str = "") -> Said:
    return Said(Message(id, text or id), run)


def began(run: RunId, *messages: MessageId) -> Began:
    return Began(run, Generation(1), messages)


def ended(run: RunId, outcome: Outcome, *messages: MessageId, started: bool = True) -> Finished:
    return Finished(run, outcome, messages, started)


# what had begun


def test_all_that_a_lost_run_had_taken_up_is_lost_once() -> None:
    log = [said(A, ONE), began(ONE, A), said(B, TWO), said(C, THREE), began(ONE, B, C)]

    found, settled = recover(log)

    assert found.lost == (ONE,)
    assert found.waiting == ()
    assert settled == (ended(ONE, Outcome.LOST, A, B, C),)


def test_what_a_run_took_up_and_gave_back_still_waits() -> None:
    log = [said(A, ONE), began(ONE, A), said(B, TWO), said(C, THREE), began(ONE, B, C)]

    found, settled = recover([*log, said(C, THREE), ended(ONE, Outcome.COMPLETED, A, B)])

    assert [turn.messages[0].id for turn in found.waiting] == [C]
    assert settled == ()


def test_a_run_goes_on_though_one_of_its_messages_was_withdrawn_before_it_began() -> None:
    withdrawn = ended(TWO, Outcome.WITHDRAWN, A, started=False)
    log = [said(A, TWO), said(B, TWO), withdrawn, began(TWO, B)]

    found, settled = recover(log)

    assert found.lost == (TWO,)
    assert found.waiting == ()
    assert settled == (ended(TWO, Outcome.LOST, B),)


def test_what_has_an_outcome_is_not_lost_as_well() -> None:
    withdrawn = ended(ONE, Outcome.WITHDRAWN, A, started=False)
    log = [said(A, ONE), said(B, ONE), began(ONE, A, B), withdrawn]

    _, settled = recover(log)

    assert settled == (ended(ONE, Outcome.LOST, B),)


def test_only_the_open_calls_of_lost_runs_are_in_doubt() -> None:
    def called(run: RunId, call: str) -> Called:
        return Called(run, CallId(call), "pay", "{}")

    log: list[Entry] = [said(A, ONE), began(ONE, A), called(ONE, "of a run that ended")]
    log += [ended(ONE, Outcome.STOPPED, A), said(B, TWO), began(TWO, B)]
    log += [called(TWO, "made"), Result(TWO, CallId("made"), Status.COMPLETED)]
    log += [called(TWO, "open")]

    found, settled = recover(log)

    assert [call.call for call in found.calls] == ["open"]
    open_, lost = settled
    assert open_ == Result(TWO, CallId("open"), Status.MAY_HAVE_EXECUTED)
    assert lost == ended(TWO, Outcome.LOST, B)


# what had not


def test_what_was_edited_while_it_waited_reads_as_it_did_last() -> None:
    log = [said(A, ONE, "first"), said(A, ONE, "second"), said(A, ONE, "third")]

    found, settled = recover(log)

    assert found.waiting == (Turn(ONE, (Message(A, "third"),)),)
    assert settled == ()


def test_what_was_collected_for_one_run_still_waits_for_one_run() -> None:
    log = [said(A, ONE), said(B, TWO), said(C, ONE)]

    found, _ = recover(log)

    assert [(turn.run, [m.id for m in turn.messages]) for turn in found.waiting] == [
        (ONE, [A, C]),
        (TWO, [B]),
    ]


def test_what_waits_does_so_in_the_order_it_stood_in_and_what_is_new_comes_last() -> None:
    log = [said(A, ONE), said(B, TWO), said(C, THREE)]

    found, _ = recover(log, (C, B))

    assert [turn.run for turn in found.waiting] == [THREE, TWO, ONE]


def test_a_childs_message_that_had_not_begun_is_lost_and_does_not_wait() -> None:
    log = [said(A, ONE), said(B, TWO), ended(TWO, Outcome.PARENT, B, started=False)]

    found, settled = recover(log, child=True)

    assert found.lost == found.waiting == ()
    assert settled == (ended(ONE, Outcome.LOST, A, started=False),)


def test_what_is_settled_leaves_nothing_to_settle() -> None:
    log: list[Entry] = [said(A, ONE), began(ONE, A), said(B, TWO)]

    for child in (False, True):
        _, settled = recover(log, child=child)
        again, nothing = recover([*log, *settled], child=child)

        assert again.lost == again.calls == nothing == ()


# how the queue stands


def test_whoever_speaks_lifts_the_hush_and_every_pause_once_that_is_stored() -> None:
    active, paused = Turn(ONE, (Message(A, "new"),)), Turn(TWO, (Message(B, "kept"),))
    queue = (Waiting(paused, held=True), Waiting(Turn(THREE, (Message(C, "free"),))))

    before = standing((), queue, hushed=True, lifted=False)
    after = standing((active,), queue, hushed=True, lifted=True)

    assert before == Standing(hushed=True, order=(B, C), held=(B,))
    assert after == Standing(hushed=False, order=(A, B, C), held=())


def test_a_pause_stands_though_nobody_is_hushed() -> None:
    queue = (Waiting(Turn(ONE, (Message(A, "kept"), Message(B, "too"))), held=True),)

    assert standing((), queue, hushed=False, lifted=False) == Standing(order=(A, B), held=(A, B))


# what is in doubt


def calls(name: str, arguments: str, key: str) -> Called:
    return Called(ONE, CallId(key), name, arguments, "idempotent", key=key)


def result(key: str, status: Status, *, error: bool = False) -> Result:
    return Result(ONE, CallId(key), status, error=error)


def test_a_call_is_the_same_only_with_the_same_name_and_arguments() -> None:
    doubts = Doubts()
    doubts.take(calls("pay", "5", "k"), result("k", Status.MAY_HAVE_EXECUTED))

    assert doubts.key("pay", "6") == ""
    assert doubts.key("give", "5") == ""
    assert doubts.key("pay", "5") == "k"
    assert doubts.key("pay", "5") == ""  # it was handed out


def test_whatever_did_not_complete_cleanly_is_in_doubt() -> None:
    doubts = Doubts()
    for number, status in enumerate(Status):
        for error in (False, True):
            key = f"{number} {error}"
            doubts.take(calls("pay", key, key), result(key, status, error=error))
            clean = status is Status.COMPLETED and not error

            assert doubts.key("pay", key) == ("" if clean else key)


def test_a_person_is_told_what_was_found_in_a_line_without_an_id() -> None:
    deploy = ToolReport(CallId("s#1.1"), "deploy", Status.MAY_HAVE_EXECUTED)
    waiting = Turn(RunId("s#2"), (Message(MessageId("m"), "hi"),))

    assert Recovery((RunId("s#1"),), (deploy,), (waiting,)).words == (
        "After a restart: the answer that was going is lost; may have executed: deploy; "
        "1 message waits until you say something, or resume the queue."
    )
    assert Recovery((), (deploy,) * 7).words == (
        "After a restart: may have executed: deploy, deploy, deploy, deploy, deploy, 2 more."
    )
