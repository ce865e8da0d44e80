"""Threads: enough of them, and none that keeps the program alive."""

import subprocess
import sys
import threading
import weakref

from lastword.runtime.threads import DaemonThreads


def test_work_that_waits_for_other_work_is_never_starved() -> None:
    threads, doors = DaemonThreads(), [threading.Event() for _ in range(20)]

    def work(number: int) -> int:
        if number + 1 < len(doors):
            assert doors[number + 1].wait(60)
        doors[number].set()
        return number

    futures = [threads.submit(work, number) for number in range(len(doors))]

    assert [future.result(60) for future in futures] == list(range(len(doors)))


def test_a_thread_is_used_again_when_it_is_idle() -> None:
    threads = DaemonThreads()
    used = {threads.submit(threading.current_thread).result(60) for _ in range(200)}

    assert len(used) < 100


def test_a_thread_that_works_on_keeps_nothing_of_what_it_did_before() -> None:
    class Thing:
        def ident(self) -> int:
            return threading.get_ident()

    threads, thing, gone, door = DaemonThreads(), Thing(), threading.Event(), threading.Event()
    weakref.finalize(thing, gone.set)
    first = threads.submit(thing.ident).result(60)
    futures = [threads.submit(lambda: (door.wait(60), threading.get_ident())[1])]
    del thing

    assert gone.wait(60)
    door.set()
    assert [future.result(60) for future in futures] == [first]


def test_a_tool_that_never_returns_does_not_keep_the_program_alive() -> None:
    program = """
import asyncio, threading
from lastword import Runtime
entered = threading.Event()
def forever(): entered.set(); threading.Event().wait()
async def engine(run): await run.call(forever)
async def main():
    async with Runtime(engine, deadline=0.1) as runtime:
        await runtime.session("s").send("go")
        await asyncio.to_thread(entered.wait)
        print(await runtime.session("s").stop())
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "still ending: tool forever" in done.stdout
