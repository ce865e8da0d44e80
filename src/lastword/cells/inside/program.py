"""A cell's program in the interpreter: driven until it stands at a frontier, or has ended.

What the program may reach is what is answered here: the tools it was given, `remember` and
`recall`. Files, variables of the environment and modules that the interpreter has not itself are
left to its own refusals.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

from pydantic_monty import (
    ExternalResult,
    FunctionSnapshot,
    FutureSnapshot,
    Monty,
    MontyComplete,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySession,
    MontySyntaxError,
    MontyTypingError,
    NameLookupSnapshot,
    ResourceLimits,
    SyncSnapshot,
)

from .frames import Message
from .plain import NotPlain, TooLarge, must_be_plain

Answer: TypeAlias = tuple[Message, bytes]
_TURNS = 5_000  # questions to the host in one step, tools or not: each is a little work for it
_LONGEST_ERROR = 8_000  # characters; its end says what was wrong
_LONGEST_LINE = 200
_ANY = 1 << 40  # characters
_NAMES = 1_000  # that a program may remember, at most
_WORDS = {
    "time": "the program ran for longer than {:g} seconds",
    "memory": "the program used more than {:,} bytes of memory",
    "output": "the program printed more than {:,} characters",
    "calls": "the program made more than {:,} calls, or asked for too much beside them",
    "depth": "functions of the program called each other more than {:,} deep",
    "values": "more than {:,} characters were to cross at once: arguments, or the outcome",
    "dump": "the program holds too much to stand still: a frontier may take {:,} bytes",
}
_LIMITS = (  # how the interpreter says which of its limits was reached
    (TimeoutError, "time limit exceeded", "time"),
    (MemoryError, "memory limit", "memory"),
    (RecursionError, "recursion depth", "depth"),
    (RuntimeError, "suspension limit", "calls"),
)


class _Reached(Exception):
    """A limit that is kept here, by its name."""


class Program:
    """One step of one program. What has to survive a frontier is in `state`, which is plain."""

    def __init__(
        self,
        state: Message,
        print: Callable[[str], None],
        leave: Callable[[Message], NoReturn],
    ) -> None:
        self._state = state
        self._print = print
        self._leave = leave
        self._limits: dict[str, Any] = state["limits"]
        self._pending: dict[str, Any] = state["pending"]  # calls that were made and not answered
        self._fresh: set[str] = set()  # those among them that no frontier has shown

    def start(self, pool: Monty, source: str, stubs: str) -> Answer:
        """Begin at the beginning."""
        session = pool.checkout(
            limits=self._asked(),
            type_check=True,
            type_check_stubs=stubs,
            type_check_format="concise",
            os_policy={"sleep": "zero"},  # else a worker would be busy with waiting
        )
        names = [*self._state["functions"], "remember", "recall"]
        inputs = {name: _stand_in(name) for name in names}
        return self._ended(
            session, lambda: session.feed_start(source, inputs=inputs, print_callback=self._hear)
        )

    def resume(self, pool: Monty, dump: bytes, results: dict[str, Any]) -> Answer:
        """Go on from a frontier with what came of some of its calls."""
        session = pool.checkout()

        def begin() -> SyncSnapshot:
            try:
                snapshot = session.load_snapshot(dump, print_callback=self._hear)
            except MontyRuntimeError as error:
                raise _Unreadable(str(error)) from error
            if not isinstance(snapshot, FutureSnapshot):
                raise _Unreadable("it is of no frontier")
            for id_ in results:
                del self._pending[id_]
            return snapshot.resume({int(id_): result for id_, result in results.items()})

        return self._ended(session, begin)

    def _asked(self) -> ResourceLimits:
        return {
            "max_feed_duration_secs": self._limits["time"],
            "max_memory": self._limits["memory"],
            "max_recursion_depth": self._limits["depth"],
            "max_suspensions": _TURNS,
        }

    def _ended(self, session: MontySession, begin: Callable[[], SyncSnapshot]) -> Answer:
        """Run to the next frontier, or the end, or whatever is in the way of both."""
        try:
            with session:
                return self._drive(begin())
        except _Reached as reached:
            return self._limit(str(reached)), b""
        except _Unreadable as error:
            return {"step": "unreadable", "error": str(error)}, b""
        except NotPlain as error:
            return _failed("value", str(error)), b""
        except MemoryError:  # here, with what was to cross
            return self._limit("memory"), b""
        except MontyError as error:
            return self._told(error), b""

    def _told(self, error: MontyError) -> Message:
        """Why the program cannot go on."""
        if isinstance(error, MontyCrashedError):
            return self._limit("time") if error.timed_out else {"step": "died", "error": str(error)}
        inner = error.exception()
        for kind, words, limit in _LIMITS:
            if isinstance(inner, kind) and words in str(inner):
                return self._limit(limit)
        if not isinstance(error, MontySyntaxError | MontyTypingError | MontyRuntimeError):
            return _failed("value", str(error))
        shown = error.display()
        if isinstance(error, MontyRuntimeError):
            return _failed("raised", shown)
        # the checker reads the program first, and finds what is no Python
        syntax = isinstance(error, MontySyntaxError) or "invalid-syntax" in shown
        return _failed("syntax" if syntax else "typing", shown)

    def _drive(self, snapshot: SyncSnapshot) -> Answer:
        while True:
            match snapshot:
                case FunctionSnapshot():
                    snapshot = self._answer(snapshot)
                case NameLookupSnapshot():
                    snapshot = snapshot.resume()  # there is no such name
                case FutureSnapshot():
                    return self._frontier(snapshot)
                case MontyComplete():
                    return self._finished(snapshot), b""

    def _frontier(self, snapshot: FutureSnapshot) -> Answer:
        pending = [str(id_) for id_ in sorted(snapshot.pending_call_ids)]
        if not pending:
            return _failed("stuck", "the program waits for something that nobody can settle"), b""
        self._state["pending"] = {id_: self._pending[id_] for id_ in pending}
        dump = snapshot.dump()
        size = len(dump) + len(json.dumps(self._state))
        if size > self._limits["dump"]:
            raise _Reached("dump")
        return {"step": "frontier", "state": self._state}, dump

    def _finished(self, done: MontyComplete) -> Message:
        try:
            value = done.output
            must_be_plain(value, "the outcome of the program", self._limits["values"])
        except TooLarge:
            raise _Reached("values") from None
        except (ValueError, OverflowError) as error:  # a number that is too long for Python
            raise NotPlain(f"the outcome of the program cannot cross: {error}") from error
        not_made = [self._pending[id_][0] for id_ in sorted(self._fresh, key=int)]
        remembered = self._state["remembered"]
        return {"step": "finished", "value": value, "remembered": remembered, "not_made": not_made}

    # what the program asks for

    def _answer(self, asked: FunctionSnapshot) -> SyncSnapshot:
        if asked.is_os_function:
            return asked.resume_not_handled()
        try:
            result: ExternalResult = self._result(str(asked.function_name), asked)
        except (KeyError, NameError, OverflowError, TypeError, ValueError) as error:
            result = {"exception": error}
        return asked.resume(result)

    def _result(self, name: str, asked: FunctionSnapshot) -> ExternalResult:
        match name:
            case "remember":
                return {"return_value": self._remember(*asked.args, **asked.kwargs)}
            case "recall":
                return {"return_value": self._recall(*asked.args, **asked.kwargs)}
            case _ if name in self._state["functions"]:
                self._call(name, asked)
                return {"future": ...}
            case _:
                raise NameError(f"name {name!r} is not defined")

    def _call(self, name: str, asked: FunctionSnapshot) -> None:
        """A call of a tool. It is not made here: it is pending, from now on."""
        self._state["calls"] += 1
        if self._state["calls"] > self._limits["calls"]:
            raise _Reached("calls")
        args, kwargs = asked.args, asked.kwargs
        size = must_be_plain([args, kwargs], f"an argument of {name}", self._limits["values"])
        waiting = sum(call[3] for call in self._pending.values())
        if waiting + size > self._limits["values"]:
            raise _Reached("values")
        self._pending[str(asked.call_id)] = [name, args, kwargs, size]
        self._fresh.add(str(asked.call_id))

    def _remember(self, name: str, value: object) -> None:
        must_be_plain(value, f"the value to remember as {name!r:.40}", self._limits["values"])
        before: dict[str, Any] = {**self._state["values"], **self._state["remembered"]}
        kept: dict[str, Any] = {**self._state["remembered"], name: value}
        # of the whole session: what is too much for one cell to recall must not be left to the next
        most = max(self._limits["values"], must_be_plain(before, "what is remembered", _ANY))
        must_be_plain({**before, name: value}, "all that is to be remembered", most)
        if len(kept) > _NAMES:
            raise TooLarge(f"more than {_NAMES:,} names cannot be remembered")
        self._state["remembered"] = kept

    def _recall(self, name: str) -> object:
        for known in (self._state["remembered"], self._state["values"]):
            if name in known:
                return known[name]
        raise KeyError(f"nothing is remembered as {name!r:.40}")

    def _hear(self, _: str, text: str) -> None:
        """What the program prints, on either stream, until it is too much."""
        room = self._limits["output"] - self._state["written"]
        self._state["written"] += len(text)
        self._print(text[:room])
        if len(text) > room:  # an error here would be noticed when it has printed all of it
            self._leave(self._limit("output"))

    def _limit(self, kind: str) -> Message:
        return {"step": "limit", "kind": kind, "error": _WORDS[kind].format(self._limits[kind])}


class _Unreadable(Exception):
    pass


def _stand_in(name: str) -> Callable[[], None]:
    """What is handed in for a function: it has the name, and is never called."""

    def stand_in() -> None:
        raise NotImplementedError

    stand_in.__name__ = stand_in.__qualname__ = name
    return stand_in


def _failed(kind: str, error: str) -> Message:
    lines = (line[:_LONGEST_LINE] for line in error.strip().splitlines())
    return {"step": "failed", "kind": kind, "error": "\n".join(lines)[-_LONGEST_ERROR:]}
