"""Questions of a run, as the client asks them: `session/request_permission`.

A question belongs to its run. When that is stopped the client is told that it need not be answered,
and an answer that comes all the same is nobody's.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Container
from contextlib import suppress
from typing import Any, Protocol, cast

from lastword.acp import updates
from lastword.acp.peer import Peer
from lastword.acp.wire import Params, RpcError
from lastword.core.asks import UNHEARD
from lastword.core.question import Question
from lastword.errors import AnswerRefused
from lastword.runtime.session import Session
from lastword.surfaces.marking import in_line
from lastword.surfaces.words import Choice, Worded, worded

_FENCES = {"command": "sh", "diff": "diff", "text": ""}


class AskingSession(Protocol):
    """What is needed of the session that they are asked in."""

    session: Session

    async def caught_up(self) -> None:
        """Return when all that has happened so far has been told."""

    def tell(self, update: Params) -> None:
        """Tell the client."""


class OpenAsks:
    """The open questions of one session and of those below it."""

    def __init__(self, peer: Peer, root: str, talk: AskingSession) -> None:
        self._peer = peer
        self._session = talk.session
        self._root = root
        self._talk = talk
        self._open: dict[str, asyncio.Task[None]] = {}

    def close(self) -> None:
        """Ask no more."""
        for task in self._open.values():
            task.cancel()

    def opened(self, question: Question) -> None:
        """It can be answered from here on, if that is not known already."""
        if question.id in self._open:
            return
        task = self._peer.tasks.start(self._ask(question), name=f"question {question.id}")
        self._open[question.id] = task

    def closed(self, id: str) -> None:
        """It cannot be any more."""
        if task := self._open.get(id):
            task.cancel()  # which takes the question back, unless it was answered

    async def _ask(self, question: Question) -> None:
        def is_open() -> bool:
            return question in self._session.questions

        allowed = False
        try:
            await self._talk.caught_up()  # it is told that there is a call before it is asked for
            answer = await self._peer.ask(
                "session/request_permission", shown(question, self._session.id, self._root), is_open
            )
            allowed = await self._take(question, answer)
        except RpcError:  # the client cannot ask
            with suppress(AnswerRefused):  # it came too late
                await self._session.answer(question.id, False, question.generation, by=UNHEARD)
        finally:
            del self._open[question.id]
            if question.session != self._session.id:  # of a run below, whose calls are not told
                self._tell_end(question, allowed=allowed)

    def _tell_end(self, question: Question, *, allowed: bool) -> None:
        said = {"sessionUpdate": "tool_call_update", "toolCallId": question.call or question.id}
        self._talk.tell(said | {"status": "completed" if allowed else "failed"})

    async def _take(self, question: Question, answer: object) -> bool:
        """Whether it is allowed. A client that withdraws, or says what was not asked, has not."""
        options = _options(question)
        one = options[choice_of(answer, options) or "reject_once"]
        with suppress(AnswerRefused):  # it came too late
            await self._session.answer(
                question.id, one.allow, question.generation, always=one.always, scope=one.scope
            )
        return one.allow


def shown(question: Question, session: str, root: str) -> Params:
    """What the client is asked, in the words that there are for it everywhere."""
    about = updates.about(question.tool, updates.arguments_of(question.text), root)
    said = worded(question)
    words = [in_line(question.tool), said.asks, said.summary and f"({said.summary})"]
    read = [" ".join(filter(None, words)), *said.notes, _fenced(said)]
    extra = [updates.content("\n\n".join(read))]
    diff = [one for one in about.get("content", []) if question.change is None or said.notes]
    about |= {"title": in_line(about["title"]), "content": [*extra, *diff]}
    options = [
        {"optionId": id_, "name": one.label, "kind": _kind(one)}
        for id_, one in _options(question).items()
    ]
    call = {"toolCallId": question.call or question.id, "status": "pending", **about}
    return {"sessionId": session, "toolCall": call, "options": options}


def _options(question: Question) -> dict[str, Choice]:
    """The answers there are, each by an id of its own; the narrow *always* has the plain one."""
    found: dict[str, Choice] = {}
    for one in worded(question).choices:
        wider = f"_{one.scope}" if one.scope not in ("", "this") else ""
        found[_kind(one) + wider] = one
    return found


def _fenced(said: Worded) -> str:
    """What is to be read, in a fence that nothing in it can close."""
    shown = "\n".join(f"{mark} {text}" for mark, text in said.lines)
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{_FENCES[said.kind]}\n{shown}\n{fence}"


def _kind(one: Choice) -> str:
    return f"{'allow' if one.allow else 'reject'}_{'always' if one.always else 'once'}"


def choice_of(answer: object, options: Container[str]) -> str | None:
    """Which of the options a client has chosen, if it has."""
    outcome = cast("dict[str, Any]", answer).get("outcome") if isinstance(answer, dict) else None
    match outcome:
        case {"outcome": "selected", "optionId": str(chosen)} if chosen in options:
            return chosen
        case _:
            return None
