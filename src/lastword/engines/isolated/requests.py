"""What a run's process asks for and gets an answer to: each is asked of the run, here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from lastword.core.asks import Answer
from lastword.core.model import RunId
from lastword.core.question import Question
from lastword.engines.isolated.errors import carried
from lastword.engines.isolated.line import Nonsense
from lastword.engines.isolated.named import JobsApart
from lastword.engines.isolated.shapes import Verb, value_in, verb_in
from lastword.engines.isolated.started import ProcessesApart
from lastword.errors import LastwordError, Superseded
from lastword.runtime.children import Child
from lastword.runtime.run import Engine, Run

_MOST = 1000  # at a time
_MOST_CHILDREN = 100  # that have not ended


Service: TypeAlias = Callable[..., Awaitable[Any]]
"""Given the run and what its process says; gives what JSON takes."""


class Offers(NamedTuple):
    """What a program has for its runs, besides themselves."""

    services: Mapping[str, Service]
    engine: Callable[[str], Engine]  # by its name, in a process of its own


class Requests:
    """Those of one run."""

    def __init__(
        self,
        run: Run,
        send: Callable[..., None],
        answer: Callable[..., None],
        offers: Offers,
    ) -> None:
        self._run = run
        self._offers = offers
        self._send = send
        self._answer_at_once = answer
        self._started = ProcessesApart(run, send)
        named = JobsApart(run, self._started)
        self._count = 0
        self._open: dict[int, asyncio.Task[None]] = {}
        self._children: dict[int, Child] = {}
        self._beginning = 0  # children
        self._asked: set[str] = set()
        self.verbs = {
            "request": Verb(self._request, (int, str, list[Any])),
            "forget": Verb(self._forget, (int,)),
            "at_once": Verb(self._at_once, (int, str, list[Any])),
            **self._started.verbs,
        }
        self._looks = {**self._started.at_once, **named.at_once}
        self._whats = {
            "said": Verb(run.said, ()),
            "steering": Verb(run.steering, ()),
            "child": Verb(self._child, (str, bool, str)),
            "outcome": Verb(self._outcome, (int,)),
            "text": Verb(self._text, (int,)),
            "ask": Verb(self._ask, (Question,)),
            "answered_before": Verb(self._answered_before, (Question, Answer)),
            "summarise": Verb(self._summarise, (str, str)),
            "service": Verb(self._service, (str, list[Any])),
            **self._started.requests,
            **named.requests,
        }

    def over(self) -> None:
        """The run is, for its process."""
        self._started.over()

    def _request(self, n: int, what: str, given: list[Any]) -> None:
        if n != self._count + 1:
            raise Nonsense(f"request {n}, out of turn")
        if len(self._open) >= _MOST:
            raise Nonsense(f"more than {_MOST:,} requests at a time")
        self._count = n
        verb = verb_in(self._whats, what, given)
        self._open[n] = self._run.task(self._answer(n, verb, given), name=f"request for {what}")

    async def _answer(self, n: int, verb: Verb, given: list[Any]) -> None:
        try:
            work: Awaitable[Any] | None = verb.act(*given)
            self._send("answer", n, await work if work else None)
        except (Exception, Superseded) as error:  # noqa: BLE001 - whoever asked is told
            self._send("error", n, carried(error))
        finally:
            del self._open[n]

    def _at_once(self, n: int, what: str, given: list[Any]) -> None:
        """It does nothing until it is answered, so that is done in this step."""
        verb = verb_in(self._looks, what, given)
        try:
            self._answer_at_once(n, verb.act(*given), None)
        except (Exception, Superseded) as error:
            if isinstance(error, Nonsense):
                raise
            self._answer_at_once(n, None, carried(error))

    def _forget(self, n: int) -> None:
        if not 0 < n <= self._count:
            raise Nonsense(f"request {n}, which nobody made")
        if asked := self._open.get(n):
            asked.cancel()

    # children

    async def _child(self, text: str, keep: bool, engine: str) -> tuple[int, str, str]:
        living = sum(not child.done for child in self._children.values())
        if living + self._beginning >= _MOST_CHILDREN:
            raise LastwordError(
                f"an isolated run has at most {_MOST_CHILDREN} children at a time; none was started"
            )
        self._beginning += 1
        try:
            return await self._begin(text, engine, keep=keep)
        finally:
            self._beginning -= 1

    async def _begin(self, text: str, engine: str, *, keep: bool) -> tuple[int, str, str]:
        other = self._offers.engine(engine) if engine else None
        child = await self._run.child(text, engine=other, keep=keep)
        n = len(self._children) + 1
        self._children[n] = child
        self._run.task(self._see(n, child), name=f"end of {child.session}")
        return n, child.session, child.run

    async def _see(self, n: int, child: Child) -> None:
        await child.outcome()
        self._send("child_done", n)

    async def _outcome(self, n: int) -> object:
        return await self._child_of(n).outcome()

    async def _text(self, n: int) -> str:
        return await self._child_of(n).text()

    def _child_of(self, n: int) -> Child:
        if n not in self._children:
            raise ValueError(f"this run has no child {n}")
        return self._children[n]

    # people

    async def _ask(self, plain: object) -> Answer:
        question = self._own(plain)
        if question.id in self._asked or question.id in {q.id for q in self._run.asks.questions()}:
            raise ValueError(f"question {question.id} was asked before")
        self._asked.add(question.id)
        return await self._run.ask(question)

    async def _answered_before(self, plain: object, answer: object) -> None:
        await self._run.answered_before(self._own(plain), value_in(Answer, answer))

    def _own(self, plain: object) -> Question:
        """Whatever it says of itself, it is this run's."""
        return replace(
            value_in(Question, plain),
            session=self._run.session,
            generation=self._run.generation,
            run=self._run.id,
            above=self._run.sessions[:-1],
        )

    # what else

    async def _service(self, name: str, given: list[Any]) -> str:
        """What the program does for it: an effect of the run, which a stop waits for."""
        if (service := self._offers.services.get(name)) is None:
            known = ", ".join(self._offers.services) or "none"
            raise ValueError(f"there is no service {name!r}; those there are: {known}")
        await self._run.said()  # what was said before it leaves before it
        async with self._run.acting(f"service {name}"):
            gave = await service(self._run, *given)
        try:
            return json.dumps(gave)
        except (TypeError, ValueError, RecursionError) as error:
            raise TypeError(f"what service {name} gave cannot be said as JSON: {error}") from None

    async def _summarise(self, text: str, upto: str) -> tuple[object, ...]:
        return tuple(await self._run.summarise(text, upto=RunId(upto)))
