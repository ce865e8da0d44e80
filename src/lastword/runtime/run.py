"""What an engine is given: the message, and the only ways it may act.

Each of them asks the run's hold in the step in which it leaves, and raises `Superseded` once the
run has lost its session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import (
    Any,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    overload,
)

from lastword.core.asks import Answer
from lastword.core.model import Generation, Message, RunId, SessionId, Token
from lastword.core.question import Question
from lastword.core.shown import Shown
from lastword.core.story import FeedEvent
from lastword.errors import NotAvailable
from lastword.runtime.active_run import ActiveRun
from lastword.runtime.asking import act
from lastword.runtime.asks import Asks, ForGood
from lastword.runtime.beginning import Beginning
from lastword.runtime.call import Call
from lastword.runtime.checks import (
    encodable,
    must_be_callable,
    must_be_name,
    must_be_one_of,
    must_be_seconds,
    must_be_text,
    must_not_generate,
)
from lastword.runtime.children import Child
from lastword.runtime.fence import LONGEST_PACE, Fence, is_async
from lastword.runtime.framework import FrameworkHost
from lastword.runtime.rendering import rendered
from lastword.runtime.session_cells import SessionCells
from lastword.runtime.speaking import Speaking
from lastword.runtime.starting import Starting

P = ParamSpec("P")
R = TypeVar("R")

Sink: TypeAlias = Callable[[FeedEvent], object]


class Host(FrameworkHost, Protocol):
    """What a run asks of its session."""

    ancestors: tuple[SessionId, ...]

    @property
    def cells(self) -> SessionCells: ...

    async def take_steering(self, going: ActiveRun) -> tuple[Message, ...]: ...

    async def start_child(
        self, going: ActiveRun, text: str, *, engine: Engine | None, keep: bool
    ) -> Child: ...


class Run(Speaking, Starting):
    """One answer in the making.

    Whatever leaves through this object is checked right before it does. A fence around a sink
    swallows what comes too late; a gate before a tool raises `Superseded`.
    """

    def __init__(self, host: Host, going: ActiveRun, history: Sequence[Shown]) -> None:
        self.message = going.turn.message  # what this run was started to answer
        self.history = history
        self._host = self._desk = host
        self._going = going
        self._hold = going.hold
        self._loop = asyncio.get_running_loop()
        self._declined, self._suspects = host.history.declined, host.history.suspects
        # questions are asked one at a time: one answer can spare the next
        self.in_turn = asyncio.Lock()
        self._begin_to_speak()
        going.given = self
        if host.announcer.untold:
            host.announcer.shown(history)

    @property
    def beginning(self) -> Beginning:
        """It, for an engine that lives in another process."""
        return Beginning(
            self.id,
            self.sessions,
            self.generation,
            self.epoch,
            self._going.turn,
            self._going.by,
            self.lives,
            self.top,
            tuple(self.history),
            self._declined,
            self._suspects(),
            self._desk.grace_of(None),
            self.traced(),
        )

    def __repr__(self) -> str:
        return f"<Run {self.id} generation={self.generation} current={self.current}>"

    @property
    def id(self) -> RunId:
        return self._hold.run

    @property
    def session(self) -> SessionId:
        return self._host.id

    @property
    def sessions(self) -> tuple[SessionId, ...]:
        """Its session last, and before that those above it, the person's first."""
        return self._hold.sessions

    @property
    def above(self) -> SessionId | None:
        """If it is a child: the session of the run that started it."""
        return self._host.ancestors[-1] if self._host.ancestors else None

    @property
    def top(self) -> RunId:
        """The run that answers the person: the first of those above it, or itself."""
        first = self._going
        while first.parent:
            first = first.parent
        return first.hold.run

    @property
    def generation(self) -> Generation:
        return self._hold.generation

    @property
    def epoch(self) -> str:
        """Of the session: another one, if it was deleted and made again under its name."""
        return self._hold.epoch

    @property
    def messages(self) -> tuple[Message, ...]:
        """What this run answers: one message, or all that were collected or have joined it."""
        return self._going.turn.messages

    @property
    def by(self) -> str:
        """Whose it is: who sent its first message."""
        return self._going.turn.by

    @property
    def current(self) -> bool:
        """Whether the run may still act. Any thread may ask."""
        return self._hold.current

    @property
    def shelf(self) -> SessionCells:
        """The cells of the session that have not ended."""
        return self._host.cells

    @property
    def lives(self) -> tuple[tuple[SessionId, str], ...]:
        """Its session and those above it, each with its epoch."""
        return self._going.lives

    @property
    def asks(self) -> Asks:
        """What waits for a person in the session and around it."""
        return self._going.home.asks

    async def ask(self, question: Question, for_good: ForGood | None = None) -> Answer:
        """Ask a person, and wait for what they say. Ends with CancelledError once the run may not
        act: the question is withdrawn then, wherever it was shown.

        `for_good` is told what is allowed, or forbidden, for good, in the step that takes it.
        """
        await self._going.all_said()  # what was said before a question leaves before it
        return await self.asks.ask(question, self._going, for_good)

    async def answered_before(self, question: Question, answer: Answer) -> None:
        """Somebody was asked for a call, and has answered, before it was this run's to make."""
        await self.asks.answered_before(question, answer, self._going)

    @property
    def token(self) -> Token:
        """For an outside resource that keeps the highest it has seen, and refuses a lower one."""
        return Token(self.session, self.generation)

    # what leaves

    def fence(
        self, sink: Callable[P, object], *, pace: float = 0.0
    ) -> Callable[P, Coroutine[Any, Any, None]]:
        """Wrap a sink so that it falls silent once the run has lost its session.

        Deliveries leave one at a time, in order; `pace` is the least number of seconds between
        two. A sink that is not async runs in a thread, and is checked there.
        """
        fence = self._fence(sink, pace)

        async def fenced(*args: P.args, **kwargs: P.kwargs) -> None:
            await fence.send(args, kwargs)

        return fenced

    def _fence(self, sink: Callable[..., object], pace: float = 0.0) -> Fence:
        must_be_callable(sink, "a sink")
        must_be_seconds(pace, "pace", zero=True, most=LONGEST_PACE)
        return Fence(self._hold, self._going.deliveries, self._host.threads, sink, pace=pace)

    # what is called

    @overload
    def intend(
        self, tool: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs
    ) -> Call[R]: ...
    @overload
    def intend(self, tool: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Call[R]: ...
    def intend(self, tool: Callable[..., Any], *args: Any, **kwargs: Any) -> Call[Any]:
        """Write down a call that is to be made; awaiting what is returned, called, makes it.

        What a model asked for in one go is best intended at once: whatever a stop then finds
        undone is reported as not started.
        """
        must_be_callable(tool, "a tool")
        return self._going.ledger.intend(tool, args, kwargs)

    @overload
    async def call(
        self, tool: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs
    ) -> R: ...
    @overload
    async def call(self, tool: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...
    async def call(self, tool: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a tool through the gate. A tool that is not async runs in a thread.

        All arguments are the tool's own: to record others, or another name, use `gate`.
        """
        await self._going.all_said()  # what was said before a call leaves before it
        return await self.intend(tool, *args, **kwargs)()

    @overload
    def gate(
        self,
        tool: Callable[P, Awaitable[R]],
        *,
        name: str = "",
        arguments: Mapping[str, object] | None = None,
        nature: Literal["", "idempotent", "read_only"] = "",
    ) -> Callable[P, Coroutine[Any, Any, R]]: ...
    @overload
    def gate(
        self,
        tool: Callable[P, R],
        *,
        name: str = "",
        arguments: Mapping[str, object] | None = None,
        isolated: bool = False,
        nature: Literal["", "idempotent", "read_only"] = "",
    ) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def gate(
        self,
        tool: Callable[..., Any],
        *,
        name: str = "",
        arguments: Mapping[str, object] | None = None,
        isolated: bool = False,
        nature: Literal["", "idempotent", "read_only"] = "",
    ) -> Callable[..., Coroutine[Any, Any, Any]]:
        """Wrap a tool so that it is not called once the run has lost its session.

        `name` is what it is called in receipts, and to the model; its own name if not given.
        `arguments` are what the log and the model are told it was called with, if that is not what
        it is called with: a client, a secret, or the parts of what a model gave as one.
        `isolated` calls it in a process of its own, which a stop kills: for tools that are not
        async and cannot be asked to end. It then has to be a function of a module's. `nature`
        tells the model, if a call may have executed, that it can be made again all the same. An
        idempotent tool with a parameter `idempotency_key` is given one: the same again for a call
        that repeats one which may have executed, so that the other side does it once.
        """
        must_be_callable(tool, "a tool")
        must_not_generate(tool)
        must_be_name(name, "a tool's name")
        said = None if arguments is None else rendered(dict(arguments))
        must_be_one_of(nature, ("", "idempotent", "read_only"), "nature")
        if isolated and is_async(tool):
            raise TypeError(f"{tool!r} is async: a stop cancels it, so it need not be isolated")

        async def gated(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the overloads say
            await self._going.all_said()
            call = self._going.ledger.intend(
                tool, args, kwargs, name, isolated=isolated, nature=nature, arguments=said
            )
            return await call()

        return gated

    def outbox(
        self, sink: Callable[P, Awaitable[R] | R], *, name: str = ""
    ) -> Callable[P, Coroutine[Any, Any, R]]:
        """Wrap a sink that leaves the machine: nothing is sent that was not written down first.

        What is posted leaves one at a time, in order. A stop leaves what has not begun unsent, in
        the same transaction; what may have been sent when a process died is never sent again.
        """
        must_be_callable(sink, "a sink")
        must_be_name(name, "a sink's name")
        turn = asyncio.Lock()

        async def post(*args: P.args, **kwargs: P.kwargs) -> R:
            await self._going.all_said()
            call = self._going.ledger.intend(sink, args, kwargs, name, nature="post")
            async with turn:
                return await call()

        return post

    # what is started

    @act
    async def steering(self) -> tuple[Message, ...]:
        """Take what was sent to steer this run; it is part of the run from here on.

        Ask before each model call, and show the model what comes as the person's own words.
        """
        await self._going.all_said()  # it stands behind what was said before
        return await self._host.take_steering(self._going)

    async def child(self, text: str, *, engine: Engine | None = None, keep: bool = False) -> Child:
        """Start a run under this one, in a session of its own.

        It ends with this run, at the same instant, unless it is kept: then it goes on, and what
        it said comes back to the person's session as a message. After a stop that waits.
        """
        must_be_text(text, "a child's message")
        if engine is not None:
            must_be_callable(engine, "a child's engine")
        await self._going.all_said()
        return await self._host.start_child(self._going, encodable(text), engine=engine, keep=keep)

    async def request(self, service: str, *given: Any) -> Any:  # noqa: ANN401, ARG002 - JSON
        """In an isolated run: have the program do something that it offers (`services`), and wait
        for what it gives. Both are what JSON takes. A stop cancels it, and waits for its end."""
        must_be_text(service, "a service's name")
        self._hold.must_hold(f"this request of {service}")
        why = f"run.request({service!r}): services are of Isolated(..., services=...)"
        raise NotAvailable(f"{why}, and this run is not isolated; nothing was done")

    def task(self, work: Coroutine[Any, Any, R], *, name: str = "") -> asyncio.Task[R]:
        """Start a helper that is cancelled with this run, or when it ends."""
        name = name or cast("str", getattr(work, "__name__", "helper"))
        try:
            self._hold.must_hold(f"start of {name}")
        except BaseException:
            work.close()
            raise
        return self._going.helpers.start(work, name=name)


Engine: TypeAlias = Callable[[Run], Awaitable[None]]
