"""The agent in the README's picture: it does what people stop an agent for."""

from __future__ import annotations

import asyncio

from lastword import Run

_PLAN = (
    "I run the tests, **publish** the notes, and tell everybody on the list. While the tests run: "
    "the notes speak of two features that are not in this release."
)
_DEAF = "trap '' TERM; while :; do sleep 1; done"  # it takes no notice of being asked to end


async def publish(what: str) -> None:
    """Nobody gets here."""


async def engine(run: Run) -> None:
    """Answers a second message at once, and the first until it is stopped, and after."""

    async def run_tests(folder: str) -> None:
        process = await run.spawn("sh", "-c", _DEAF, folder, name="pytest")
        await process.wait()

    if "docs" in run.message.text:
        await run.emit("Only the docs, then. Two pages name a setting that is gone.")
        return
    tests = run.intend(run_tests, "tests/")
    notes = run.intend(publish, "NOTES.md")
    try:
        testing = run.task(tests())
        for word in _PLAN.split(" "):
            await run.emit(f"{word} ")
            await asyncio.sleep(0.03)
        await testing
        await notes()
    finally:
        for word in ("One ", "more ", "thing: "):
            await run.emit(word)
