"""A call in a process of its own: what it gives and raises comes back, and it can be killed."""

import asyncio
import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from lastword.errors import WorkerDied
from lastword.processes import Level, Warden, isolated
from tests.processes.artists import Canary
from tests.processes.helping import a_warden, until
from tests.processes.strict import AT_EACH

TOOLS = '''
import os, re, subprocess, sys

class Thing:
    def __init__(self, name): self.name = name
    def __eq__(self, other): return self.name == other.name

class Refused(Exception):
    """As many are: it cannot be made again from its arguments."""
    def __init__(self, code, *, why): super().__init__(f"{code} {why}")

class Unhelpful(Exception):
    def __reduce__(self): raise RuntimeError("not me")

def add(a, b=0): return a + b
def fail(): raise KeyError("missing")
def refuse(): raise Refused(7, why="because")
def be_unhelpful(): raise Unhelpful("secret")
def lambdas(): return lambda: None
def made(name): return Thing(name)
def leave(code): sys.exit(code)
def crash(): import ctypes; ctypes.string_at(0)
def shout(): print("hello"); os.write(1, b"raw\\n"); subprocess.run(["echo", "child"])
def about(): return os.getcwd(), os.environ.get("SET_LATER"), sys.argv, os.getsid(0) == os.getpid()
def much(count): return bytes(count)
def given_back(thing): return thing
class Mark:
    """Notes how often the loop has turned when it is pickled, and when it is made again."""
    turns, seen = 0, []
    def __reduce__(self): Mark.seen.append(Mark.turns); return marked, ()
def marked(): Mark.seen.append(Mark.turns); return Mark()
def hold(canary):
    holder = open(canary, "w")
    print("x", end="", file=holder, flush=True)
    re.match("(a+)+$", "a" * 60 + "b")  # and with it the interpreter, for years
def leave_behind(canary):
    with open(canary, "w") as held:
        line = "trap '' TERM; printf x >&9; exec sleep 1000"
        code = f"exec 9>&{held.fileno()}; {line}"
        subprocess.Popen(["setsid", "sh", "-c", code], pass_fds=[held.fileno()])
'''

SCRIPT = """
import asyncio, functools, operator, sys
from lastword.processes import Processes, isolated

class Thing:
    def __init__(self, name): self.name = name
    def named(self): return self.name

class Trouble(Exception): pass

def double(n): print("working"); return 2 * n
def rename(thing): return Thing(thing.name + "!")
def fail(): raise Trouble("mine")

async def main():
    async with Processes(level="tree") as processes:
        warden = await processes.warden()
        print({call})

if __name__ == "__main__":
    asyncio.run(main())
"""
A_CALL = "await isolated.call(warden, {}, {}, {{}}, name='it')"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Any]:
    """A module that is found only through sys.path, as it is now."""
    (tmp_path / "some_tools.py").write_text(TOOLS)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield importlib.import_module("some_tools")
    del sys.modules["some_tools"]


async def called(warden: Warden, function: Any, *args: Any, **kwargs: Any) -> Any:
    return await isolated.call(warden, function, args, kwargs, name="it")


# what comes of it


@AT_EACH
async def test_it_gives_what_the_function_gives(level: Level, tools: Any) -> None:
    async with a_warden(level) as warden:
        assert await called(warden, tools.add, 2, b=3) == 5
        assert await called(warden, tools.made, "a") == tools.Thing("a")
        assert await called(warden, os.getpid) != os.getpid()


@AT_EACH
async def test_it_raises_what_the_function_raises(level: Level, tools: Any) -> None:
    async with a_warden(level) as warden:
        with pytest.raises(KeyError, match="missing") as raised:
            await called(warden, tools.fail)

    assert "some_tools.py" in raised.value.__notes__[0]
    assert "in fail" in raised.value.__notes__[0]


async def test_an_error_that_cannot_be_made_again_is_still_told(tools: Any) -> None:
    async with a_warden() as warden:
        with pytest.raises(Exception, match="Refused") as raised:
            await called(warden, tools.refuse)

    assert "7 because" in "".join([str(raised.value), *raised.value.__notes__])


async def test_an_error_that_cannot_be_handed_over_is_still_told(tools: Any) -> None:
    async with a_warden() as warden:
        with pytest.raises(TypeError, match="what it raised cannot be handed over") as raised:
            await called(warden, tools.be_unhelpful)

    assert "Unhelpful: secret" in raised.value.__notes__[0]


async def test_what_cannot_be_handed_over_is_refused_with_a_reason(tools: Any) -> None:
    def local() -> None: ...

    async with a_warden() as warden:
        with pytest.raises(TypeError, match=r"tool it cannot be handed .* top level of a module"):
            await called(warden, local)
        with pytest.raises(TypeError, match="its arguments must be picklable"):
            await called(warden, tools.add, asyncio.current_task())
        with pytest.raises(TypeError, match="what it gave cannot be handed over"):
            await called(warden, tools.lambdas)

        assert await called(warden, tools.add, 1) == 1


@AT_EACH
@pytest.mark.parametrize(
    ("function", "args", "how"),
    [
        ("os._exit", (3,), "with exit code 3"),
        ("os.abort", (), "by SIGABRT"),
        ("crash", (), "by SIGSEGV"),
        ("leave", (4,), "with exit code 4"),
    ],
)
async def test_a_process_that_dies_under_it_is_named(
    function: str, args: tuple[int, ...], how: str, level: Level, tools: Any
) -> None:
    module, _, name = function.rpartition(".")
    async with a_warden(level) as warden:
        with pytest.raises(WorkerDied, match=f"isolated tool it was ended {how}"):
            await called(warden, getattr(os if module else tools, name), *args)

        assert await called(warden, tools.add, 1) == 1


async def test_half_an_answer_is_none(tools: Any) -> None:
    async with a_warden() as warden:
        calling = asyncio.create_task(called(warden, tools.much, 50_000_000))
        await until(lambda: any(one.stdout.total for one in warden.processes.values()))
        for process in warden.processes.values():
            process.send_signal(signal.SIGKILL)

        with pytest.raises(WorkerDied, match="by SIGKILL"):
            await calling


async def test_much_can_be_handed_over_and_back(tools: Any) -> None:
    async with a_warden() as warden:
        assert await called(warden, tools.add, bytes(25_000_000), bytes(25_000_000)) == bytes(
            50_000_000
        )


async def test_many_can_be_called_at_once(tools: Any) -> None:
    async with a_warden() as warden:
        answers = await asyncio.gather(*(called(warden, tools.add, n, b=n) for n in range(20)))

    assert answers == [2 * n for n in range(20)]


# where it is


async def test_what_it_prints_goes_to_our_errors(
    tools: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    async with a_warden() as warden:
        await called(warden, tools.shout)

    written = capfd.readouterr()
    assert written.out == ""
    assert sorted(written.err.split()) == ["child", "hello", "raw"]


async def test_it_is_where_we_are_now(
    tools: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_warden() as warden:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("SET_LATER", "yes")

        assert await called(warden, tools.about) == (str(tmp_path), "yes", sys.argv, True)


@pytest.mark.parametrize(
    ("call", "printed"),
    [
        (A_CALL.format("double", "(4,)"), "8"),
        (A_CALL.format("functools.partial(double, 4)", "()"), "8"),
        (A_CALL.format("Thing('a').named", "()"), "a"),
        (A_CALL.format("operator.attrgetter('name')", "(Thing('a'),)"), "a"),
        (f"({A_CALL.format('rename', '(Thing(chr(97)),)')}).name", "a!"),
        (f"type((await asyncio.gather({A_CALL.format('fail', '()')[6:]}, return_exceptions=True))"
         "[0]) is Trouble", "True"),
    ],
    ids=["function", "partial", "method", "argument", "result", "error"],
)  # fmt: skip
def test_what_the_script_itself_defines_can_be_called(
    call: str, printed: str, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("{call}", call))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)

    assert done.stdout == f"{printed}\n", done.stderr


def test_a_module_that_was_started_as_the_program_can_be_called(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "near.py").write_text("name = 'near'")
    script = "from .near import name\n" + SCRIPT.replace("{call}", A_CALL.format("double", "(4,)"))
    (package / "program.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "-m", "package.program"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == "8\n", done.stderr


def test_what_was_typed_in_and_is_in_no_file_is_refused_with_a_reason() -> None:
    script = SCRIPT.replace("{call}", A_CALL.format("double", "(4,)"))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert "TypeError: the isolated tool it cannot be handed" in done.stderr


# how it ends


@AT_EACH
async def test_a_call_that_is_given_up_is_killed_though_it_holds_the_interpreter(
    level: Level, tools: Any, tmp_path: Path
) -> None:
    async with a_warden(level) as warden:
        with Canary(tmp_path) as canary:
            calling = asyncio.create_task(called(warden, tools.hold, canary.path))
            await canary.ready(1)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling

            assert await canary.dead(timeout=10.0)
        assert await called(warden, tools.add, 1) == 1


@AT_EACH
async def test_a_call_is_killed_with_its_warden(level: Level, tools: Any, tmp_path: Path) -> None:
    async with a_warden(level) as warden:
        with Canary(tmp_path) as canary:
            calling = asyncio.create_task(called(warden, tools.hold, canary.path))
            await canary.ready(1)
            ending = await warden.stop(grace=0)

            assert await canary.dead(timeout=10.0)
            with pytest.raises(WorkerDied, match="by SIGKILL"):
                await calling
    assert [report.command for report in ending.processes] == ["isolated tool it"]


@AT_EACH
async def test_what_it_left_behind_ends_with_the_warden(
    level: Level, tools: Any, tmp_path: Path
) -> None:
    async with a_warden(level) as warden:
        with Canary(tmp_path) as canary:
            await called(warden, tools.leave_behind, canary.path)
            await canary.ready(1)
            ending = await warden.stop(grace=0)

            assert await canary.dead(timeout=10.0)
    assert [report.fate for report in ending.processes] == ["killed"]


# what is much


@pytest.mark.scenario("P26", part="isolated")
async def test_two_hundred_megabytes_come_back_as_they_went(tools: Any) -> None:
    much = os.urandom(1 << 20) * 200
    async with a_warden() as warden:
        assert await called(warden, tools.given_back, much) == much


@pytest.mark.scenario("P26", part="isolated")
async def test_while_much_is_put_together_and_taken_apart_the_loop_turns(tools: Any) -> None:
    """A mark before and one behind many things tell how often it has turned in between."""
    many = [tools.Mark(), list(range(1_000_000)), tools.Mark()]

    async with a_warden() as warden:
        calling = asyncio.create_task(called(warden, tools.given_back, many))
        while not calling.done():
            await asyncio.sleep(0)
            tools.Mark.turns += 1

    assert calling.result()[1] == many[1]
    began, put_together, came, taken_apart = tools.Mark.seen
    assert put_together - began >= 10
    assert taken_apart - came >= 10
