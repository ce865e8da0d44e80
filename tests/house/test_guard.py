"""The guard of the tests ends what is stuck, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scenarios import ROOT

PASSES = """
def test_before():
    pass

{story}

def test_after():
    pass
"""


def run(folder: Path, story: str, *options: str) -> str:
    """What pytest says of a story between two tests that pass."""
    (folder / "test_it.py").write_text(PASSES.format(story=story), encoding="utf-8")
    plugins = [
        f"-p{name}"
        for name in ("tests.guard", "pytest_asyncio.plugin", "xdist.plugin", "no:cacheprovider")
    ]
    own = [f"--rootdir={folder}", "--asyncio-mode=auto"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *own, *options, str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


SLOW = {
    "here": """
import time
def test_slow():
    while time.process_time() < 3: pass
""",
    "in a process": """
import subprocess, sys
def test_slow():
    slow = "import time\\nwhile time.process_time() < 3: pass"
    subprocess.run([sys.executable, "-c", slow], check=True)
""",
    "in threads that come and go": """
import threading, time
def work():
    end = time.thread_time() + 0.005
    while time.thread_time() < end: pass
def test_slow():
    while time.process_time() < 3:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
""",
}


@pytest.mark.scenario("R18")
@pytest.mark.parametrize("where", SLOW)
def test_a_test_that_is_slow_goes_on(tmp_path: Path, where: str) -> None:
    said = run(tmp_path, SLOW[where], "--idle=1.5")

    assert "3 passed" in said


WAITS = {
    "a lock": "def test_it():\n    lock = threading.Lock()\n    lock.acquire()\n    lock.acquire()",
    "a process": "def test_it():\n    subprocess.run(['sleep', '1000'])",
    "a task": """
async def waits_in_a_task():
    await asyncio.Event().wait()
async def test_it():
    await asyncio.create_task(waits_in_a_task(), name='waiting')
""",
    "a fixture": """
@pytest.fixture
def never():
    threading.Event().wait()
def test_it(never): pass
""",
    "its end": """
@pytest.fixture
def never():
    yield
    threading.Event().wait()
def test_it(never): pass
""",
    "one who asks again and again": """
async def test_it():
    while True:
        await asyncio.sleep(0.05)
""",
}


@pytest.mark.scenario("R18")
@pytest.mark.parametrize("what", WAITS)
def test_a_test_that_waits_for_ever_is_ended_and_named_and_the_next_one_runs(
    tmp_path: Path, what: str
) -> None:
    said = run(
        tmp_path, f"import asyncio, pytest, subprocess, threading\n{WAITS[what]}", "--idle=1"
    )

    assert "test_it.py::test_it is stuck: nothing of it wanted the processor" in said
    assert "1 failed" in said or "1 error" in said
    assert (
        "2 passed" in said or "3 passed" in said
    )  # the two beside it; it too, if only its end hung


@pytest.mark.scenario("R18")
def test_where_it_waited_is_told_of_every_thread_and_task(tmp_path: Path) -> None:
    story = """
import asyncio, threading
def waits_in_a_thread():
    threading.Event().wait()
async def waits_in_a_task():
    await deeper()
async def deeper():
    await asyncio.Event().wait()
async def test_it():
    threading.Thread(target=waits_in_a_thread, name="the thread", daemon=True).start()
    await asyncio.create_task(waits_in_a_task(), name="the task")
"""

    said = run(tmp_path, story, "--idle=1")

    thread, task = said.index("-- thread the thread"), said.index("-- task the task")
    assert "in waits_in_a_thread" in said[thread:]
    assert "in waits_in_a_task" in said[task:]
    assert "in deeper" in said[task:]


@pytest.mark.scenario("R18")
@pytest.mark.parametrize(
    "spins",
    [
        "def test_it():\n    while True: pass",
        "async def test_it():\n    while True: await sleep(0)",
    ],
    ids=["a loop", "a task"],
)
def test_a_test_that_spins_is_ended(tmp_path: Path, spins: str) -> None:
    said = run(tmp_path, f"from asyncio import sleep\n{spins}", "--busy=1.5")

    assert "test_it.py::test_it is stuck: it has used the processor" in said
    assert "1 failed, 2 passed" in said


@pytest.mark.scenario("R18")
def test_a_test_that_swallows_its_end_has_failed_all_the_same(tmp_path: Path) -> None:
    story = """
import threading
def test_it():
    try:
        threading.Event().wait()
    except BaseException:
        pass
"""

    said = run(tmp_path, story, "--idle=1")

    assert "test_it.py::test_it is stuck" in said
    assert "1 failed, 2 passed" in said


@pytest.mark.scenario("R18")
def test_one_that_never_heeds_costs_its_process_and_no_other_test(tmp_path: Path) -> None:
    story = """
import threading
def test_it():
    while True:
        try:
            threading.Event().wait()
        except BaseException:
            pass
"""

    said = run(tmp_path, story, "--idle=0.5", "-n1")

    assert "crashed while running 'test_it.py::test_it'" in said
    assert "it does not heed" in said
    assert "1 failed, 2 passed" in said
