"""Whether a session can leave memory: nothing of it goes on, is awaited, or is only known here."""

from __future__ import annotations

from lastword.runtime.driver import Driver


def at_rest(driver: Driver) -> bool:
    """Whether its store knows all that there is to know of it."""
    return not (
        _goes_on(driver) or _is_awaited(driver) or driver.journal.behind or driver.journal.closed
    )


def _goes_on(driver: Driver) -> bool:
    machine = driver.machine
    turns = machine.active or machine.steering or machine.waiting or machine.dying
    return bool(
        turns
        or driver.going
        or driver.settlements
        or driver.kept
        or driver.cells.at_work
        or driver.settling.living
    )


def _is_awaited(driver: Driver) -> bool:
    return bool(
        driver.machine.storing
        or driver.tickets
        or driver.storing
        or driver.duties.living
        or driver.telling.late
    )
