"""One call of a Python function in a process of its own, which can be killed."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import IO, Any

from . import kernel
from .wire import Message

_MAIN = "__main__"
_NAME = b"isolated tool"  # as `ps` and receipts show it, and its forks
_RUN = b"isolated run"
LOADING = "LASTWORD_IS_LOADING_A_TOOL"
NOT_MAIN = "__lastword_worker__"  # what the host's script is called here, so that it does not run


def call_of_python(order: Message, fds: list[int]) -> None:
    """Read what is to be called, call it, write what came of it, and leave."""
    work, answer, errors = fds
    kernel.be_called(_NAME)
    be_where_the_host_is(order, errors)
    with os.fdopen(work, "rb") as source:
        outcome = _outcome(source)
    reply = _pickled(outcome)
    with os.fdopen(answer, "wb") as target:
        target.write(reply)
    flush()
    os._exit(0)


def module_of_ours(order: Message, fds: list[int]) -> None:
    """Have a module serve its host, for as long as it does, and leave."""
    *theirs, errors = fds
    kernel.be_called(_RUN)
    _be_first_to_go()
    be_where_the_host_is(order, errors)
    os.close(errors)
    try:
        _limit(order["limits"])
        _found(partial(import_module, order["module"])).main(theirs, order["told"])
    except BaseException:  # noqa: BLE001 - whatever it is ends this process, and nothing else
        traceback.print_exc()
    flush()
    os._exit(1)


def _be_first_to_go() -> None:
    """If memory runs out, a run is killed, and not its host."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("800")


def _limit(asked: dict[str, int]) -> None:
    for name, most in asked.items():
        number = int(getattr(resource, f"RLIMIT_{name}"))
        hard = resource.getrlimit(number)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(number, (limit, limit))


def be_where_the_host_is(order: Message, errors: int) -> None:
    """Import what the host would: with its folder, environment, path, and none of our names."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as Python has it
    for place in (1, 2):  # what a tool prints is for the log; stdout may be a protocol's
        os.dup2(errors, place)
    os.chdir(order["cwd"])
    if order["umask"] is not None:
        os.umask(order["umask"])
    os.environ.clear()
    os.environ.update(order["env"])
    _forget_our_names()
    sys.path[:] = order["path"]
    sys.argv[:] = order["argv"]
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False, buffering=1)


def flush() -> None:
    """Let nothing that was printed be lost, or be printed again by a fork."""
    with suppress(OSError, ValueError):  # whoever reads the log may have left
        sys.stdout.flush()
        sys.stderr.flush()


def _forget_our_names() -> None:
    """Once: in a fork of somebody who has, they may be another's."""
    here = sys.modules.get(__name__)
    if getattr(here, "call_of_python", None) is call_of_python:
        ours = __name__.partition(".")[0]
        for name in [name for name in sys.modules if name.partition(".")[0] == ours]:
            del sys.modules[name]


class _Called(pickle.Unpickler):
    """What the host wrote, in a stream: it may be much."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as it has it
        return _found(partial(super().find_class, module, name))


def _outcome(source: IO[bytes]) -> tuple[Any, ...]:
    try:
        main = pickle.load(source)  # noqa: S301 - the host wrote it
        if main[1] and NOT_MAIN not in sys.modules:
            _load_main(*main)
        called = _Called(source)
        function = called.load()
        args, kwargs = called.load()
        return ("gave", function(*args, **kwargs))
    except SystemExit as error:
        os._exit(error.code if isinstance(error.code, int) else int(error.code is not None))
    except BaseException as error:  # noqa: BLE001 - whoever waits gets it, whatever it is
        return ("raised", error, traceback.format_exc())


def import_modules(names: list[str], main: tuple[str, str]) -> None:
    """Find what will be called, once for every fork."""
    for name in names:
        if name == _MAIN:
            _load_main(*main)
        else:
            _found(partial(import_module, name))


def _found(find: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever was pickled
    try:
        return find()
    except ModuleNotFoundError:
        import site  # noqa: PLC0415 - packages under development are found only by its hooks

        path = sys.path[:]
        site.main()
        sys.path[:] = path
        return find()


def _load_main(name: str, path: str) -> None:
    """Let a tool be found that was written in the script itself."""
    import runpy  # noqa: PLC0415 - only then
    import types  # noqa: PLC0415

    def run() -> dict[str, Any]:
        if name:
            return runpy.run_module(name, run_name=NOT_MAIN)
        return runpy.run_path(path, run_name=NOT_MAIN)

    module = types.ModuleType(_MAIN)
    os.environ[LOADING] = "1"  # a script that is not guarded would begin all over
    module.__dict__.update(_found(run))
    del os.environ[LOADING]
    sys.modules[_MAIN] = sys.modules[NOT_MAIN] = module


def _pickled(outcome: tuple[Any, ...]) -> bytes:
    try:
        data = pickle.dumps(outcome)
        if outcome[0] == "raised":
            pickle.loads(data)  # noqa: S301 - some exceptions can be written and not read
    except Exception as error:  # noqa: BLE001 - a tool's own class can raise anything
        why = f"what it {outcome[0]} cannot be handed over: {type(error).__name__}: {error}"
        if outcome[0] == "raised":
            why += f" (it was {outcome[1]!r})"
        return pickle.dumps(("raised", TypeError(why), outcome[2] if len(outcome) > 2 else ""))
    return data
