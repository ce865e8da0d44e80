"""What an agent may do by itself, what it has to ask for, and what it may not do.

Here are the rules, and how far an answer reaches. What is asked waits with its session, whose story
tells of it: a question belongs to the run that asked it, is answered once, by whoever is first, and
only as long as that run may act.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from secrets import token_hex
from typing import Any, TypeAlias
from weakref import WeakSet

from lastword.agent.about import About, about, agreed, begins
from lastword.agent.left import Grant, LeftCalls, left_question
from lastword.agent.looking import Looking, Preview
from lastword.agent.rules import LONGEST, SUBJECTS, Action, Rule, Rules, Subject
from lastword.agent.scopes import Always, rules_of, scopes_of
from lastword.core.asks import UNHEARD, Answer, AnswerSent
from lastword.core.cell import PendingCall
from lastword.core.changes import Change
from lastword.core.model import SessionId
from lastword.core.question import Question, Scope
from lastword.errors import (
    AlreadyAnswered,
    AnswerRefused,
    QuestionWithdrawn,
    StaleAnswer,
    UnknownQuestion,
)
from lastword.runtime.active_run import run_here
from lastword.runtime.asks import Asks
from lastword.runtime.call import Call
from lastword.runtime.checks import must_be_name
from lastword.runtime.clock import time_of_day
from lastword.runtime.run import Run
from lastword.runtime.threads import DaemonThreads
from lastword.stores.aside import aside

__all__ = [
    "AlreadyAnswered",
    "AnswerRefused",
    "Question",
    "QuestionWithdrawn",
    "Questions",
    "StaleAnswer",
    "UnknownQuestion",
]

Anyway: TypeAlias = "Callable[[About], Awaitable[str]]"
_threads = DaemonThreads()
_NOT_ALLOWED = "the person did not allow it"
_NOBODY = "it has to be allowed, and there is nobody to ask"


async def _never(_: About) -> str:
    return ""


class Questions:
    """What runs of an agent want to do and wait to be allowed. For the event loop's thread."""

    def __init__(
        self,
        rules: Rules | None = None,
        *,
        subjects: Mapping[str, Subject] = SUBJECTS,
        asked_anyway: Anyway = _never,
        preview: Preview | None = None,
    ) -> None:
        self._rules = Rules() if rules is None else rules
        self._subjects = subjects
        self._asked_anyway = asked_anyway  # calls that no rule allows: why
        self._looking = Looking(preview)
        self._always = Always()
        self._asking: WeakSet[Asks] = WeakSet()  # of the sessions in which something was asked
        self._left = LeftCalls()  # calls that programs wait on

    # what people say

    def open(self, session: str | None = None) -> tuple[Question, ...]:
        """The questions that can be answered now; of one session, with those below it."""
        name = None if session is None else SessionId(session)
        found = [question for asks in self._asking for question in asks.questions(name)]
        return tuple(sorted(found, key=lambda one: one.at))

    def nobody(self, id: str, generation: int) -> None:
        """There is nobody who could answer it: it is not allowed, and whoever asked is told why."""
        self._asks(id).answer(id, generation, Answer(False, by=UNHEARD))

    def answer(
        self,
        id: str,
        allow: bool,
        generation: int,
        *,
        always: bool = False,
        scope: str = "",
        by: str = "",
    ) -> None:
        """Answer a question, whichever session's it is, as `Session.answer` does: without waiting,
        since the agent is here."""
        self._asks(id).take(AnswerSent(id, allow, generation, always, scope, by))

    def _asks(self, id: str) -> Asks:
        must_be_name(id, "the id of a question")
        found = next((asks for asks in self._asking if asks.know(id)), None)
        if found is None:
            raise UnknownQuestion(f"there is no question {id}")
        return found

    def _for_good(self, life: tuple[SessionId, str], allow: bool, scope: Scope) -> None:
        """From here on, in that session and below it."""
        self._always.add(life, rules_of(scope, "allow" if allow else "deny"))

    # what runs ask

    async def ask(
        self, run: Run, tool: str, text: str, subject: str | None = None, *, call: str = ""
    ) -> bool:
        """Ask, and wait for the answer. Ends with CancelledError when the run loses its session."""
        asked = About(tool, text, subject)
        change = await self._looking.changes(run, asked)
        return not await self._denied(run, asked, change, call=call)

    async def _denied(self, run: Run, about: About, change: Change | None, *, call: str) -> str:
        """Ask; why it is not allowed, or nothing if it is."""
        tool, subject = about.tool, about.subject
        why = "" if subject is None else await self._asked_anyway(about)
        question = replace(
            _question(run, about, call=call),
            scopes=() if subject is None or why else scopes_of(tool, subject),
            change=change,
            why=why,
        )
        self._asking.add(run.asks)
        answer = await run.ask(question, partial(self._for_good, run.lives[0]))
        if answer.allowed:
            return ""
        return _NOBODY if answer.by == UNHEARD else _NOT_ALLOWED

    def as_before_tool(self) -> Callable[[Call[Any]], Coroutine[Any, Any, None]]:
        """For `Runtime(before_tool=...)`: every call is allowed, asked for, or a PermissionError.

        Tools are known by the names they are called by, and what a call is about by its arguments:
        see `SUBJECTS`. A call whose arguments cannot be read is allowed by no pattern.
        """

        async def before_tool(call: Call[Any]) -> None:
            run = _run_here()
            if run is None or run.id != call.run:
                why = "it was called from outside of its run"
                raise PermissionError(f"{call.name} was not called: {why}")
            agreed.set(None)
            begins.set(None)
            now, grant = self._about(call), self._left.granted(call.id)
            if await self._decided(run, call.name, now):
                return
            if grant and await self._looking.still_holds(run, grant.shown, now):
                await run.answered_before(_question(run, now, call=call.id), grant.answer)
                return
            async with run.in_turn:
                # looked at anew: by what was answered before, or is there now, it may be another
                while not await self._decided(run, call.name, about := self._about(call)):
                    shown = await self._looking.changes(run, about)
                    if why := await self._denied(run, about, shown, call=call.id):
                        raise PermissionError(f"{call.name} was not called: {why}")
                    same = self._about(call) == about
                    if same and await self._looking.is_as_shown(run, about, shown):
                        return  # what was allowed is what will be done

        return before_tool

    # what programs wait on

    async def asks(self, run: Run, call: PendingCall) -> bool:
        """Whether a call that a program waits on would have to be asked for now."""
        about = self._about(call)
        asks = (await self._ruled(run, about))[0] == "ask"
        if asks:
            await self._look(run.sessions[-1], call, about)
        return asks

    async def look(self, session: str, calls: Iterable[PendingCall]) -> None:
        """Look at what calls that programs wait on would do, unless that is known here."""
        for call in calls:
            if self._left.shown(call.id) is None:
                with suppress(PermissionError):  # of which the program is told
                    await self._look(session, call, self._about(call))

    async def _look(self, session: str, call: PendingCall, about: About) -> None:
        change = await self._looking.changes(None, about)
        question = left_question(session, call, about.tool, about.text, about.told, change)
        self._left.keep(question)

    def left(self, session: str, call: PendingCall) -> Question:
        """What a person is shown of a call that a program waits on."""
        return self._left.shown(call.id) or left_question(session, call)

    def grant(self, call: str, left: str, *, by: str = "") -> None:
        """A call of the ledger's, which is about to be made, is one that a program was left with,
        and a person has allowed it. Unless a rule forbids it, or it would do something else by
        now, as far as this process knows, it is not asked for; that it was, is on record."""
        self._left.grant(call, Grant(self._left.take(left), Answer(True, by)))

    async def refuse(self, call: PendingCall, *, by: str = "") -> None:
        """A call that a program was left with is not made, since a person refused it."""
        shown = self._left.take(call.id) or left_question("", call)
        if run := _run_here():
            what = About(shown.tool, shown.text, shown.subject)
            await run.answered_before(_question(run, what, call=call.id), Answer(False, by))

    # rules

    def rules(self, session: str) -> Rules:
        """What holds in a session: for all, and what was allowed there for good."""
        return self._rules.also(*self._always.of(SessionId(session)))

    def rules_for(self, run: Run) -> Rules:
        """What holds for a run: that, and what was allowed for good in the sessions above it."""
        return self._rules.also(*self._always.holding(run.lives))

    async def _decided(self, run: Run, name: str, about: About) -> bool:
        """Whether it is allowed; False if it has to be asked."""
        action, rule = await self._ruled(run, about)
        if action == "deny":
            known = about.subject is not None and len(about.subject) <= LONGEST
            how = "forbids it" if known else "may forbid it, and it is too long to tell"
            raise PermissionError(f"{name} was not called: the rule {str(rule)!r} {how}")
        return action == "allow"

    async def _ruled(self, run: Run, about: About) -> tuple[Action, Rule | None]:
        """What the rules say; and what no rule allows is asked for, unless all is allowed."""
        rules = self.rules_for(run)
        if rules.takes_a_while(about.subject):
            loop = asyncio.get_running_loop()
            judged = partial(rules.decide, about.tool, about.subject)
            action, rule = await loop.run_in_executor(_threads, aside, judged)
        else:
            action, rule = rules.decide(about.tool, about.subject)
        if action != "allow" or (rule and rule.allows_all):
            return action, rule
        anyway = about.subject is not None and await self._asked_anyway(about)
        return ("ask", None) if anyway else (action, rule)

    def _about(self, call: Call[Any] | PendingCall) -> About:
        return about(call, self._subjects)


def _run_here() -> Run | None:
    """The run in whose name this is done."""
    going = run_here()
    return going.given if going and isinstance(going.given, Run) else None


def _question(run: Run, about: About, *, call: str) -> Question:
    """A question of the run's, now."""
    *above, session = run.sessions
    return Question(
        token_hex(8),
        session,
        run.generation,
        run.id,
        about.tool,
        about.text,
        about.told,
        call,
        at=time_of_day(),
        above=tuple(above),
    )
