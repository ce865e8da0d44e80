"""A name that is only asked for leaves nothing behind."""

import gc
import tracemalloc

import pytest

from lastword import Run, Runtime
from tests.promise.workshop import until

NAMES = 5000


async def quiet(run: Run) -> None:
    """Says nothing."""


@pytest.mark.scenario("W26")
async def test_names_in_which_nothing_was_said_leave_no_trace() -> None:
    async with Runtime(quiet, rest=0.01) as runtime:
        tracemalloc.start()
        try:
            await _ask(runtime, "a")  # whatever is made once has been
            before = _in_use()
            await _ask(runtime, "b")
            left = _in_use() - before
        finally:
            tracemalloc.stop()
    assert left < 50 * NAMES, f"{left / NAMES:.0f} bytes of each name"


async def _ask(runtime: Runtime, prefix: str) -> None:
    """Look at sessions that never were, until all of them have left memory."""
    for number in range(NAMES):
        view = await runtime.session(f"{prefix}{number}").view()
        assert not view.entries
    await until(lambda: "sessions=0" in repr(runtime))


def _in_use() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


async def test_events_are_numbered_on_where_something_happened() -> None:
    async with Runtime(quiet, rest=0.01) as runtime:
        await (await runtime.session("s").send("go")).outcome()
        last = runtime.session("s").last_event
        assert last
        await until(lambda: "sessions=0" in repr(runtime))
        gc.collect()
        assert runtime.session("s").last_event == last
