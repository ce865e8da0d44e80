"""What stands for the session in a run's process: the page, and the line to its host."""

from __future__ import annotations

import itertools
import mmap
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from lastword.core.entries import Declined, Entry, LeftOut, Native, Text, Thinking
from lastword.core.model import Generation, Message, RunId, SessionId, Turn
from lastword.core.plain import to_plain
from lastword.core.shown import Shown
from lastword.core.story import Fact, FeedEvent
from lastword.core.transcript import Suspects
from lastword.engines.isolated.inside import traced
from lastword.engines.isolated.inside.post import Post
from lastword.engines.isolated.inside.started import OwnedInside
from lastword.engines.named import name_of
from lastword.errors import NotAvailable
from lastword.processes.inside.page import ACTS, SHUT
from lastword.runtime.active_run import ActiveRun
from lastword.runtime.asks import Asks
from lastword.runtime.beginning import Beginning
from lastword.runtime.children import Child
from lastword.runtime.counters import Counters
from lastword.runtime.journal import Journal
from lastword.runtime.ledger import Ledger
from lastword.runtime.run import Engine
from lastword.runtime.session_cells import SessionCells
from lastword.runtime.threads import DaemonThreads
from lastword.runtime.trace import ModelRequest, RunTrace, TraceableCall
from lastword.runtime.tracing import TracedRun, TracedSpan


def not_available(what: str) -> NoReturn:
    """Not yet."""
    raise NotAvailable(f"{what} is not available in an isolated run yet; nothing was done")


class Paged:
    """The generation of the session, as the page has it: the run's, or one that is past it."""

    def __init__(self, page: mmap.mmap, held: Generation) -> None:
        self._page = page
        self._held = held
        self.over = False  # the page is another run's

    @property
    def generation(self) -> int:
        acts = self._page[0] == ACTS and not self.over
        return self._held if acts else self._held + 1

    @property
    def fenced(self) -> int:
        return self._held + 1 if self._page[0] == SHUT else 0


class Unclaimed:
    """Whether the host has the session is asked by the host, of whatever begins there."""

    good, ended, taken = True, False, False

    async def known(self) -> None:
        """It is."""

    def wait(self, seconds: float) -> None:
        """Nobody waits."""


class Nowhere:
    """What is let through here is told to the host by whoever lets it through."""

    def __init__(self, told: Beginning) -> None:
        self.claim = Unclaimed()
        self.epoch = told.epoch
        self._session = told.session
        self._numbers = itertools.count(1)

    def append(self, fact: Fact, generation: Generation) -> FeedEvent:
        """It has happened."""
        return FeedEvent(next(self._numbers), self._session, generation, fact)


class LogInside:
    """What is to be durable, of what nobody is told otherwise."""

    def __init__(self, post: Post) -> None:
        self._post = post

    def add(self, *entries: Entry) -> None:
        for entry in entries:
            match entry:
                case (
                    Text(text="", native=Native() as native)
                    | Thinking(text="", native=Native() as native)
                ):
                    of = "text" if isinstance(entry, Text) else "thinking"
                    self._post.tell("seal", to_plain(native), of)
                case Declined(status=status):
                    self._post.tell("declined", status)
                case LeftOut():
                    self._post.tell("left_out", to_plain(entry))
                case _:
                    pass

    async def committed(self) -> None:
        """The host waits for that, before it begins a call."""


class PastInside:
    """What the model is shown, as the run began."""

    def __init__(self, told: Beginning) -> None:
        self.declined = told.declined
        self._told = told

    @property
    def suspects(self) -> Suspects:
        return lambda: self._told.suspects

    async def shown(self) -> Sequence[Shown]:
        return self._told.history


class NewsInside:
    """What the session has to tell the model, as far as the host has said."""

    untold = ()

    def __init__(self, post: Post) -> None:
        self._post = post

    def shown(self, history: Sequence[Shown]) -> None:
        """The host knows."""

    def notes(self, run: RunId) -> tuple[str, ...]:  # noqa: ARG002 - there is one
        told, self._post.notes = tuple(self._post.notes), []
        return told


class NoProcesses:
    """Calls are made in this process, and it is the host that waits for those of earlier runs."""

    async def clear(self) -> None: ...

    async def call(self, work: object) -> Any:  # noqa: ANN401, ARG002 - never
        not_available("a process of a call's own")


class TraceInside(RunTrace):
    """What is counted and traced is, by the host."""

    def __init__(self, told: Beginning, post: Post, now: Callable[[], float]) -> None:
        what = TracedRun(told.session, told.run, told.generation, None, "")
        super().__init__(None, Counters(), now, what)
        self._post = post
        self._headers = told.traced
        self._asked = itertools.count(1)
        self._open_requests: dict[ModelRequest, int] = {}

    def enter(self) -> None:
        """What this task traces is part of the run."""
        traced.enter(self._headers)

    def inside(self, call: TraceableCall) -> AbstractContextManager[None]:
        """What is traced meanwhile is part of the call."""
        return traced.inside(self._post.traced.pop(call.id, ()))

    def request(self, model: str, provider: str, log: Any) -> ModelRequest:  # noqa: ANN401 - as it has it
        """Tell that a model is asked."""
        request = super().request(model, provider, log)
        n = self._open_requests[request] = next(self._asked)
        self._post.tell("asks", n, model, provider)
        return request

    def request_ended(self, request: ModelRequest, span: TracedSpan | None, took: float) -> None:
        """Tell how that ended."""
        super().request_ended(request, span, took)
        if n := self._open_requests.pop(request, None):
            self._post.tell("answered", n, *request.over)

    def used(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """The host counts."""


class HomeApart:
    """Of the session, what a run has of it; the rest is where it is."""

    def __init__(self, processes: OwnedInside) -> None:
        self.shuts: set[Callable[[], object]] = set()
        self._processes = processes

    @property
    def asks(self) -> Asks:
        not_available("run.asks")

    @property
    def journal(self) -> Journal:
        not_available("the session's log")

    def publish(self, fact: Fact) -> object:
        """The host has told whoever watches."""

    def ledger_of(self, run: ActiveRun) -> Ledger:
        """It has been given one."""
        return run.ledger

    def processes_of(self, run: ActiveRun) -> OwnedInside:  # noqa: ARG002 - there is one
        return self._processes


class SessionApart:
    """What a run asks of its session."""

    def __init__(self, told: Beginning, post: Post, module: str) -> None:
        self.id = told.session
        self.ancestors = told.sessions[:-1]
        self.threads = DaemonThreads()
        self.journal = LogInside(post)
        self.history = PastInside(told)
        self.announcer = NewsInside(post)
        self._post = post
        self._grace = told.grace
        self._module = module  # of its engine

    @property
    def cells(self) -> SessionCells:
        not_available("run.shelf, and with it programs over tools,")

    def grace_of(self, asked: float | None) -> float:
        return self._grace if asked is None else asked  # which the host checks

    async def take_steering(self, going: ActiveRun) -> tuple[Message, ...]:
        taken: tuple[Message, ...] = await self._post.request("steering")
        turn = going.turn
        also = (turn.run,) * len(taken)
        going.turn = Turn(turn.run, turn.messages + taken, turn.also + also)
        return taken

    async def start_child(
        self, going: ActiveRun, text: str, *, engine: Engine | None, keep: bool
    ) -> Child:
        going.hold.must_hold("start of a child run")
        name = name_of(engine, self._module) if engine is not None else ""
        n, session, run = await self._post.request("child", text, keep, name)
        return Child(ChildInside(self._post, n, SessionId(session), RunId(run), kept=keep))


class ChildInside:
    """A child run, which the host has started."""

    def __init__(self, post: Post, n: int, session: SessionId, run: RunId, *, kept: bool) -> None:
        self._post = post
        self._n = n
        self.session = session
        self.run = run
        self.kept = kept

    @property
    def done(self) -> bool:
        return self._post.has_ended(self._n)

    async def outcome(self) -> Any:  # noqa: ANN401 - an Outcome
        return await self._post.request("outcome", self._n)

    async def text(self) -> str:
        return await self._post.request("text", self._n)
