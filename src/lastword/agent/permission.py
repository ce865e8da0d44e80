"""What an agent may do by itself, what it has to ask for, and what it may not do.

A question belongs to the run that asked it. It is answered once, by whoever is first, and only as
long as that run may act: a stop withdraws it everywhere, and an answer that comes later is refused
rather than used for whatever comes next. The questions of a run are asked one at a time, so that
one answer can spare the next question, and a stop finds at most one open.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex
from typing import Any, TypeAlias, cast
from weakref import WeakKeyDictionary, WeakValueDictionary

from lastword.agent.about import About, about, agreed, begins
from lastword.agent.left import Left, left_question
from lastword.agent.question import Asker, asker_of
from lastword.agent.rules import LONGEST, SUBJECTS, Action, Rule, Rules, Subject
from lastword.agent.scopes import rules_of, scopes_of
from lastword.core.asks import Answer, Ask, Asks
from lastword.core.cell import PendingCall
from lastword.core.changes import Change
from lastword.core.model import RunId, SessionId
from lastword.core.question import News, Question, QuestionNews
from lastword.errors import (
    AlreadyAnswered,
    AnswerRefused,
    QuestionWithdrawn,
    StaleAnswer,
    UnknownQuestion,
)
from lastword.runtime.active_run import ActiveRun, run_here
from lastword.runtime.asking import acting, from_outside
from lastword.runtime.clock import time_of_day
from lastword.runtime.ledger import Call
from lastword.runtime.threads import DaemonThreads
from lastword.stores.aside import aside

__all__ = [
    "AlreadyAnswered",
    "AnswerRefused",
    "Asker",
    "News",
    "Question",
    "QuestionNews",
    "QuestionWithdrawn",
    "Questions",
    "StaleAnswer",
    "UnknownQuestion",
]

log = logging.getLogger("lastword")

Watcher: TypeAlias = "Callable[[News, Question], object]"
Preview: TypeAlias = "Callable[[str, Mapping[str, Any], Callable[[], bool]], Change | None]"
Anyway: TypeAlias = "Callable[[About], Awaitable[str]]"
_threads = DaemonThreads()
_NOT_ALLOWED = "the person did not allow it"
_UNHEARD = "(there was nobody to ask)"
_NOBODY = "it has to be allowed, and there is nobody to ask"


async def _never(_: About) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class _Grant:
    """A person has allowed a call before it was made."""

    shown: Question | None  # what they saw, if that is known here
    answer: Answer


@dataclass(eq=False, slots=True)
class _Open:
    question: Question
    asker: Asker
    going: ActiveRun | None
    unheard: bool = False  # it was answered because there is nobody to ask
    answer: asyncio.Future[bool] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Questions:
    """What runs want to do and wait to be allowed. For the event loop's thread."""

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
        self._preview = preview  # what a call would change, looked up in a thread
        # What is allowed for good ends with its session, also if another one gets its name. What
        # a session has to itself, shares with its children and loses as it is deleted is a lock.
        self._families: WeakValueDictionary[SessionId, threading.Lock] = WeakValueDictionary()
        self._always: WeakKeyDictionary[threading.Lock, dict[SessionId, tuple[Rule, ...]]] = (
            WeakKeyDictionary()
        )
        self._open: dict[str, _Open] = {}
        self._asks = Asks()
        self._turns: WeakValueDictionary[RunId, asyncio.Lock] = WeakValueDictionary()
        self._watchers: dict[object, Watcher] = {}
        self._left = Left()  # calls that programs wait on
        self._granted: dict[str, _Grant] = {}  # those that a person allowed meanwhile

    def rules(self, session: str) -> Rules:
        """What holds in a session: for all, and what was allowed there for good."""
        family = self._families.get(SessionId(session))
        always = self._always.get(family, {}) if family else {}
        return self._rules.also(*always.get(SessionId(session), ()))

    def open(self, session: str | None = None) -> tuple[Question, ...]:
        """The questions that can be answered now."""
        asked = [one.question for one in self._open.values() if one.asker.current]
        return tuple(q for q in asked if session in (None, q.session))

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Have somebody told of every question: opened, answered, withdrawn. Returns the undo."""
        key = object()
        self._watchers[key] = watcher
        return lambda: self._watchers.pop(key, None) and None

    async def ask(
        self, run: Asker, tool: str, text: str, subject: str | None = None, *, call: str = ""
    ) -> bool:
        """Ask, and wait for the answer. Ends with CancelledError when the run loses its session."""
        asked = About(tool, text, subject)
        return not await self._denied(run, asked, await self._changes(run, asked), call=call)

    async def _denied(self, run: Asker, about: About, change: Change | None, *, call: str) -> str:
        """Ask; why it is not allowed, or nothing if it is."""
        tool, subject = about.tool, about.subject
        who = run.session, run.generation, run.id
        why = "" if subject is None else await self._asked_anyway(about)
        question = Question(
            token_hex(8),
            *who,
            tool,
            about.text,
            about.told,
            call,
            scopes=() if subject is None or why else scopes_of(tool, subject),
            change=change,
            at=time_of_day(),
            why=why,
        )
        one = _Open(question, run, run_here())
        # the run's own helper: a stop cancels it, even if whoever asks is deaf to that
        watch = run.task(asyncio.Event().wait(), name=f"question about {tool}")
        watch.add_done_callback(lambda _: self._withdraw(one))
        self._open[question.id] = one
        self._asks.open(Ask(question.id, question.run, question.generation))
        if one.going:
            one.going.asked(call, tool, about.told)
        self._tell("opened", one)
        try:
            allowed = await one.answer
            return "" if allowed else _NOBODY if one.unheard else _NOT_ALLOWED
        finally:
            self._withdraw(one)
            watch.cancel()

    def _compares(self, about: About) -> bool:
        return self._preview is not None and about.tool in ("write_file", "edit_file")

    async def _changes(self, run: Asker | None, about: About) -> Change | None:
        """What it would do to a file; to look takes time, and is for a thread."""
        if self._preview is None or not self._compares(about):
            return None
        try:
            arguments = cast("object", json.loads(about.text))
        except ValueError:  # cut
            return None
        if not isinstance(arguments, dict):
            return None
        known = cast("dict[str, Any]", arguments)
        loop = asyncio.get_running_loop()
        look = partial(self._preview, about.tool, known, lambda: run is None or run.current)
        return await loop.run_in_executor(_threads, look)

    async def _is_as_shown(self, run: Asker, about: About, shown: Change | None) -> bool:
        """Whether what would be changed is what a person was shown; what changes it looks too."""
        if not self._compares(about):
            return True
        now = await self._changes(run, about)
        if _mark(now) != _mark(shown):
            return False
        agreed.set(_mark(shown))
        return True

    def nobody(self, id: str, generation: int) -> None:
        """There is nobody who could answer it: it is not allowed, and whoever asked is told why."""
        with acting("this answer"):
            if (one := self._open.get(id)) is not None:
                one.unheard = True
            self._take(id, generation, Answer(False, by=_UNHEARD))

    def answer(
        self,
        id: str,
        allow: bool,
        generation: int,
        *,
        always: bool | Rule = False,
        scope: str = "",
        by: str = "",
    ) -> None:
        """Answer a question as it was seen, at that generation. The first answer holds.

        `always` allows, or forbids, for the rest of the session what the scope of that id means,
        one of those that the question offers, or the narrowest; or give a rule. `by` is who said
        so. Raises `AnswerRefused` if the answer is not taken; then nothing was done.
        """
        with acting("this answer"):
            words, rules = "", tuple[Rule, ...]()
            if (one := self._open.get(id)) is not None:
                words, rules = self._reach(one.question, allow=allow, always=always, scope=scope)
            self._take(id, generation, Answer(allow, by, words), rules)

    def _take(self, id: str, generation: int, answer: Answer, rules: tuple[Rule, ...] = ()) -> None:
        one = self._open.get(id)
        current = one is not None and one.asker.current and not one.answer.done()
        try:
            self._asks.answer(id, generation, current=current)
        except QuestionWithdrawn:
            if one is not None:
                self._put_away(one)
            raise
        if one is not None:
            self._answer(one, answer, rules)

    def _reach(
        self, question: Question, *, allow: bool, always: bool | Rule, scope: str
    ) -> tuple[str, tuple[Rule, ...]]:
        """What an answer says for good, in words and as rules; only what was offered can be."""
        if isinstance(always, Rule):
            return str(always), (always,)
        if scope and scope not in {one.id for one in question.scopes}:
            raise ValueError(f"question {question.id} offers no scope {scope!r}; nothing was done")
        meant = [one for one in question.scopes if scope in ("", one.id)]
        if not always or not meant:
            return "", ()
        return meant[0].words, rules_of(meant[0], "allow" if allow else "deny")

    def _answer(self, one: _Open, answer: Answer, rules: tuple[Rule, ...]) -> None:
        question = one.question
        if one.going is not None:
            if rules:
                of_family = self._always.setdefault(one.going.hold.lock, {})
                of_family[question.session] = (*of_family.get(question.session, ()), *rules)
            one.going.answered(question.call, question.tool, question.subject, answer)
        del self._open[question.id]
        one.answer.set_result(answer.allowed)
        self._tell("answered", one, answer)

    async def asks(self, session: str, call: PendingCall) -> bool:
        """Whether a call that a program waits on would have to be asked for now."""
        about = self._about(call)
        asks = (await self._ruled(session, about))[0] == "ask"
        if asks:
            await self._look(session, call, about)
        return asks

    async def look(self, session: str, calls: Iterable[PendingCall]) -> None:
        """Look at what calls that programs wait on would do, unless that is known here."""
        for call in calls:
            if self._left.shown(call.id) is None:
                with suppress(PermissionError):  # of which the program is told
                    await self._look(session, call, self._about(call))

    async def _look(self, session: str, call: PendingCall, about: About) -> None:
        change = await self._changes(None, about)
        shown = about.tool, about.text, about.told
        self._left.keep(left_question(session, call, *shown, change))

    def left(self, session: str, call: PendingCall) -> Question:
        """What a person is shown of a call that a program waits on."""
        return self._left.shown(call.id) or left_question(session, call)

    def grant(self, call: str, left: str, *, by: str = "") -> None:
        """A call of the ledger's, which is about to be made, is one that a program was left with,
        and a person has allowed it. Unless a rule forbids it, or it would do something else by
        now, as far as this process knows, it is not asked for; that it was, is on record."""
        self._granted[call] = _Grant(self._left.take(left), Answer(True, by))

    def refuse(self, call: PendingCall, *, by: str = "") -> None:
        """A call that a program was left with is not made, since a person refused it."""
        shown, here = self._left.take(call.id) or left_question("", call), run_here()
        if here:
            here.asked(call.id, shown.tool, shown.subject)
            here.answered(call.id, shown.tool, shown.subject, Answer(False, by))

    def as_before_tool(self) -> Callable[[Call[Any]], Coroutine[Any, Any, None]]:
        """For `Runtime(before_tool=...)`: every call is allowed, asked for, or a PermissionError.

        Tools are known by the names they are called by, and what a call is about by its arguments:
        see `SUBJECTS`. A call whose arguments cannot be read is allowed by no pattern.
        """

        async def before_tool(call: Call[Any]) -> None:
            run = asker_of(call)
            agreed.set(None)
            begins.set(None)
            self._families[run.session] = run.family
            turn = self._turns.setdefault(run.id, asyncio.Lock())
            now = self._about(call)
            grant = self._granted.pop(call.id, None)
            if await self._decided(run, call.name, now):
                return
            if grant and await self._still_holds(run, grant.shown, now):
                run.asked_before(call.id, now.tool, now.told, grant.answer)
                return
            async with turn:
                # looked at anew: by what was answered before, or is there now, it may be another
                while not await self._decided(run, call.name, about := self._about(call)):
                    shown = await self._changes(run, about)
                    if why := await self._denied(run, about, shown, call=call.id):
                        raise PermissionError(f"{call.name} was not called: {why}")
                    if self._about(call) == about and await self._is_as_shown(run, about, shown):
                        return  # what was allowed is what will be done

        return before_tool

    async def _still_holds(self, run: Asker, shown: Question | None, now: About) -> bool:
        """Whether a call that was allowed before is what was shown, as far as is known here."""
        if shown is None:
            return not self._compares(now)
        same = (shown.tool, shown.text, shown.subject) == (now.tool, now.text, now.told)
        return same and await self._is_as_shown(run, now, shown.change)

    async def _decided(self, run: Asker, name: str, about: About) -> bool:
        """Whether it is allowed; False if it has to be asked."""
        action, rule = await self._ruled(run.session, about)
        if action == "deny":
            known = about.subject is not None and len(about.subject) <= LONGEST
            how = "forbids it" if known else "may forbid it, and it is too long to tell"
            raise PermissionError(f"{name} was not called: the rule {str(rule)!r} {how}")
        return action == "allow"

    async def _ruled(self, session: str, about: About) -> tuple[Action, Rule | None]:
        """What the rules say; and what no rule allows is asked for, unless all is allowed."""
        rules = self.rules(session)
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

    def _withdraw(self, one: _Open) -> None:
        if self._asks.withdraw(one.question.id):
            self._put_away(one)

    def _put_away(self, one: _Open) -> None:
        if self._open.pop(one.question.id, None) is one:
            one.answer.cancel()
            self._tell("withdrawn", one)

    def _tell(self, news: News, one: _Open, answer: Answer | None = None) -> None:
        question = one.question
        if one.going:  # that a question was answered or withdrawn is the session's own word
            told = QuestionNews(news, question, answer)
            one.going.announce(told)
        for watcher in tuple(self._watchers.values()):
            try:
                from_outside(watcher, news, question)
            except Exception as error:  # noqa: BLE001 - one surface must not silence another
                name = type(error).__name__
                log.error("watcher failed question=%s news=%s error=%s", question.id, news, name)  # noqa: TRY400


def _mark(change: Change | None) -> str:
    return change.against if change else ""
