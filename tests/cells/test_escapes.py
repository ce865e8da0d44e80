"""Programs that want out, or want too much: each ends in a limit or a clear error.

What they are made of is hostile on purpose, and each runs beside a cell that is not.
"""

import asyncio
from dataclasses import replace

import pytest

from lastword.cells import Interpreter, Ok, ProgramLimits, Step, StepFailed, StepFinished, StepLimit
from tests.cells.programs import ASK, ENDLESS, THREE, frontier

pytestmark = pytest.mark.asyncio(loop_scope="module")
F9 = pytest.mark.scenario("F9", part="cells")
TIGHT = ProgramLimits(memory=32 << 20, output=10_000, calls=50, depth=100)
SHORT = replace(TIGHT, time=0.3)

TOO_MUCH = {
    "time": [
        "while True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "def f():\n    while True:\n        try: pass\n        finally: continue\nf()",
        "exec('while True: pass')",
        "sum(range(10 ** 12))",
        "10 ** 10_000_000",  # one operation, in which nobody looks at a clock
        "x = 'ab' * 5_000_000\nwhile True: x.count('ba')",
    ],
    "memory": [
        "'a' * (4 << 30)",
        "9 ** 9 ** 9",
        "1 << 10 ** 11",
        "[0] * 10 ** 9",
        "x = []\nwhile True: x.append('a' * 1000)",
        "x = ''\nwhile True:\n    try: x += 'a' * 1_000_000\n    except MemoryError: pass",
        "f'{1:>1000000000}'",
        "('a,' * 10_000_000).split(',')",
        "list(range(10 ** 9))",
        "import asyncio\nawait asyncio.gather(*[asyncio.sleep(i) for i in range(1_000_000)])",
    ],
    "output": [
        "for i in range(10_000_000): print(i)",
        "print('a' * 20_000_000)",
        "import sys\nwhile True: print('a', file=sys.stderr)",
    ],
    "calls": [
        "import asyncio\nawait asyncio.gather(*[ask(i) for i in range(1_000_000)])",
        "remember('x', 1)\nwhile True: recall('x')",
        "import os\nwhile True:\n    try: os.getenv('HOME')\n    except RuntimeError: pass",
    ],
    "depth": [
        "def f(n): return f(n + 1)\nf(0)",
        "async def f(): return await f()\nawait f()",
    ],
    "values": [
        "x = 'a'\nfor i in range(40): x = [x, x]\nx",
        "'a' * 2_000_000",
        "import asyncio\nawait asyncio.gather(*[ask('a' * 100_000) for i in range(20)])",
    ],
}

FORBIDDEN = {
    "import socket": "socket",
    "import subprocess": "subprocess",
    "import ctypes": "ctypes",
    "import os\nos.system('id')": "system",
    "import os\nos.environ['HOME']": "not supported",
    "open('/etc/passwd').read()": "Permission denied",
    "open('/tmp/x', 'w')": "Permission denied",
    "from pathlib import Path\nPath('/etc/passwd').read_text()": "Permission denied",
    "from pathlib import Path\nlist(Path('/').iterdir())": "Permission denied",
    "getattr((), '__class__')": "no attribute",
    "getattr(ask, '__globals__')": "no attribute",
    "getattr(lambda: 0, '__code__')": "no attribute",
    "eval('__import__')('os')": "not defined",
    "eval('no_such_function(1)')": "not defined",
    "list(map(ask, [1]))": "ask",
    "raise SystemExit": "SystemExit",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "import json\njson.loads('[' * 100_000)": "recursion",
    "import re\nre.compile('(' * 5000)": "re",
}

HARMLESS = {  # what is deadly elsewhere
    "import re\nre.match('(a+)+$', 'a' * 40 + 'b')": None,
    "import re\nre.sub('(a|a)*b', 'x', 'a' * 5000) == 'a' * 5000": True,
    "('ab' * 5_000_000).find('a' * 2_000_000 + 'c')": -1,
    "import time\ntime.sleep(10_000)\n1": 1,
    "import asyncio\nawait asyncio.sleep(10_000)\n1": 1,
}


async def beside(interpreter: Interpreter, source: str, limits: ProgramLimits) -> Step:
    """What came of it; a cell that does as it should is done meanwhile."""
    hostile = interpreter.start(source, tools=[ASK], limits=limits)
    step, good = await asyncio.gather(hostile, frontier(interpreter, THREE))
    done = await interpreter.resume(good.dump, {"0": Ok("A"), "1": Ok("B"), "2": Ok("C")})
    assert done == StepFinished(["A", "B", "C"], "after\n")
    return step


@F9
@pytest.mark.parametrize(
    ("kind", "source"), [(kind, source) for kind, those in TOO_MUCH.items() for source in those]
)
async def test_a_program_that_wants_too_much_is_ended_by_its_limit(
    interpreter: Interpreter, kind: str, source: str
) -> None:
    step = await beside(interpreter, source, SHORT if kind == "time" else TIGHT)

    assert isinstance(step, StepLimit), step
    assert step.kind == kind
    assert len(step.output) <= TIGHT.output


@pytest.mark.parametrize(("source", "words"), FORBIDDEN.items())
async def test_a_program_that_wants_out_gets_a_clear_error(
    interpreter: Interpreter, source: str, words: str
) -> None:
    # what the checker would refuse is tried all the same, in a string that it does not read
    step = await interpreter.start(f"exec({source!r})", tools=[ASK], limits=TIGHT)

    assert isinstance(step, StepFailed), step
    assert step.kind == "raised"
    assert words in step.error


@pytest.mark.parametrize(("source", "value"), HARMLESS.items())
async def test_what_is_deadly_elsewhere_is_done_at_once(
    interpreter: Interpreter, source: str, value: object
) -> None:
    assert await interpreter.start(source, limits=TIGHT) == StepFinished(value)


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "(" * 3_000 + "1" + ")" * 3_000,
        "x = " + "[" * 5_000 + "]" * 5_000,
        "x = " + "not " * 20_000 + "1",
        "x = " + "1 + " * 20_000 + "1",
        "lambda: " * 3_000 + "1",
        "x = 1\n" + "\n".join(f"if x == {i}: x = 'a'\nelse: x = [x]" for i in range(2_000)),
    ],
    ids=["brackets", "lists", "nots", "sum", "lambdas", "unions"],
)
async def test_a_source_that_is_made_to_break_a_reader_of_python_breaks_nothing(
    interpreter: Interpreter, source: str
) -> None:
    step = await beside(interpreter, source, SHORT)

    assert isinstance(step, StepFailed | StepLimit | StepFinished)


@F9
async def test_a_cell_goes_on_while_another_never_ends(interpreter: Interpreter) -> None:
    up = asyncio.Event()
    endless = asyncio.ensure_future(
        interpreter.start(ENDLESS, limits=ProgramLimits(time=600), on_output=lambda _: up.set())
    )
    await up.wait()

    for _ in range(3):
        step = await frontier(interpreter, THREE)
        await interpreter.resume(step.dump, {"0": Ok("A")})

    assert not endless.done()
    endless.cancel()
    await asyncio.wait([endless])
    assert endless.cancelled()
