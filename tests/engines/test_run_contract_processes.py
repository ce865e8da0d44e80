"""The contract of `Run`, of what it starts: the same whether its engine is here or isolated."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastword import Outcome
from tests.engines.contract import Place
from tests.promise.workshop import gone, until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.scenario("Z21")]

NOT_KEPT = len("".join(f"{n}\n" for n in range(1, 400_001))) - 1000


@pytest.mark.parametrize(
    ("story", "said"),
    [
        ("talks", r"b'one\ntwo\n' 0 0 'one\ntwo\n'"),
        (
            "hears_both",
            r"4 'out\ntold' 'err\n' (b'out\ntold', b'', 0, 4) (3, b'\ntold')",
        ),
        (
            "hears_much",
            rf"{NOT_KEPT + 1000} {NOT_KEPT + 1000} (b'1\n2\n', b'400000\n', {NOT_KEPT})",
        ),
        ("signals", "there is no signal 999; sleeper -15 -15"),
        ("types_at_a_terminal", "['hello', '10', '40', 'got', 'hello'] None"),
        ("asks_from_a_thread", "seen\n 0"),
        ("is_signalled_by_its_id", r"False True True 3 has ended: exit code 3 'up\nheard\n'"),
        ("uses_a_shell", r"'here\n[exit code 2]' True  has ended: ended by SIGTERM]"),
    ],
)
async def test_what_it_starts_is_spoken_to_and_heard(place: Place, story: str, said: str) -> None:
    assert place.said(await place.told(story)) == said


async def test_what_cannot_be_started_says_why(place: Place) -> None:
    session = await place.told("is_refused")

    no_program, no_folder, grace, told = place.said(session).split("\n")
    assert no_program.startswith("SpawnFailed: /no/such/program could not be started")
    assert no_folder.startswith("SpawnFailed: true could not be started")
    assert grace.startswith("ValueError: grace must be shorter than the deadline of a stop")
    assert told.startswith("ValueError: what nobody is told of ends with its run")


async def test_what_is_kept_goes_on_and_a_later_run_comes_back_to_it(place: Place) -> None:
    session = await place.told("leaves_one")
    assert place.said(session) == "True True True True Ann"
    [kept] = session.processes
    assert (kept.command, kept.kept, kept.alive) == ("beats", True, True)

    ticket = await session.send("comes_back", by="Ann")
    assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    said = place.said(session).removeprefix("True True True True Ann")
    assert said.startswith(r"'' True 'first\nbeat\n'"), said
    assert "False" in said
    assert said.endswith("'first' NoSuchJob")
    assert session.processes == ()
    assert gone(kept.pid)


async def test_who_gives_up_ends_what_they_waited_for(place: Place, tmp_path: Path) -> None:
    session = place.session("gives up")
    ticket = await session.send(f"gives_up {tmp_path / 'pid'}")

    assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    cancelled, _ = place.said(session).split()
    assert cancelled == "True"


async def test_a_stop_ends_what_it_has_started_and_names_it(place: Place, tmp_path: Path) -> None:
    tried, late = tmp_path / "tried", tmp_path / "tried.late"
    session = place.session("is stopped")
    await session.send(f"is_stopped {tried}")
    await until(lambda: place.said(session) == "there")
    receipt = await session.stop()

    assert receipt.quiet, receipt
    by_name = {report.command: report for report in receipt.processes}
    assert by_name["deaf"].fate == "killed"
    assert by_name["beats"].fate == "ended"
    assert all(gone(report.pid) for report in receipt.processes)
    assert tried.read_text().split()[:2] == ["Superseded", "Superseded"]
    assert not late.exists()
