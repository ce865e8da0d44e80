"""What a person is asked to allow, and how a line they type becomes an answer.

A question can be answered once it has been on the screen for half a second, and by a line that was
begun after that: what was under way when it came up was meant for something else. An answer names
the question and the generation it was seen at, and what is open is looked up again as the line
comes, so that one which comes after a stop answers nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from lastword.errors import LastwordError
from lastword.surfaces.words import SETTLES, Choice, choices

if TYPE_CHECKING:
    from lastword.core.question import Question

_WORDS = {"y": "y", "n": "n", "a": "a", "w": "w", "yes": "y", "no": "n", "always": "a"}


class OpenQuestions(Protocol):
    """Those that are open, in all sessions."""

    def open(self) -> tuple[Question, ...]: ...
    def nobody(self, id: str, generation: int) -> None: ...

    def answer(
        self,
        id: str,
        allow: bool,
        generation: int,
        *,
        always: bool = False,
        scope: str = "",
        by: str = "",
    ) -> object: ...


def keys_of(question: Question) -> dict[str, Choice]:
    """What to type, and what it says: y, n, a for the narrow always, w for the wider one."""
    found: dict[str, Choice] = {}
    for one in choices(question):
        key = "y" if not one.always else "w" if one.scope == "wider" else "a"
        if one.allow or not one.always:
            found[key if one.allow else "n"] = one
    return found


class Asking:
    """The one question that a person sees, if there is one."""

    def __init__(
        self,
        questions: OpenQuestions | None,
        session: Callable[[], str],
        changed: Callable[[Question | None, Question | None], object],
        by: str = "",
        typing: Callable[[], bool] = lambda: False,
    ) -> None:
        self._typing = typing  # whether a line has been begun
        self._begun = False  # one was, before the question could be answered
        self.questions = questions
        self._session = session
        self._by = by
        self._changed = changed  # told of the question before, and the one now
        self._loop = asyncio.get_running_loop()
        self._seen: Question | None = None
        self._settled = False  # it has been on the screen for a moment
        self._timer: asyncio.TimerHandle | None = None
        self._answered = ""  # the question that was, and may not be put away yet

    @property
    def question(self) -> Question | None:
        """The oldest that is open here, or in a child's session."""
        return next(filter(self._is_here, self._open()), None)

    @property
    def elsewhere(self) -> int:
        """How many are open that belong to other sessions."""
        return sum(not self._is_here(question) for question in self._open())

    def _open(self) -> list[Question]:
        asked = self.questions.open() if self.questions else ()
        return [question for question in asked if question.id != self._answered]

    def _is_here(self, question: Question) -> bool:
        here = self._session()
        return here in (question.session, *question.above)

    @property
    def ready(self) -> bool:
        """Whether a line can be an answer now."""
        question = self.question
        if question is None or self._seen is None or question.id != self._seen.id:
            return False
        return self._settled and not self._begun

    @property
    def waits_for_an_empty_line(self) -> bool:
        """Whether what is being typed was begun for something else."""
        return self._settled and self._begun

    def emptied(self) -> None:
        """The line is empty: what is typed from here on may be an answer."""
        if self._begun:
            self._begun = False
            self._changed(self._seen, self._seen)

    def look(self, *_: object) -> None:
        """Something may have changed."""
        before, now = self._seen, self.question
        if (before and before.id) == (now and now.id):
            return
        self._seen, self._settled, self._begun = now, False, False
        self._cancel()
        if now:
            self._timer = self._loop.call_later(SETTLES, self._settle, now)
        self._changed(before, now)

    def _settle(self, now: Question) -> None:
        self._settled, self._begun = True, self._typing()
        self._changed(now, now)

    def take(self, words: str) -> Choice | None:
        """Answer with what was typed, if that is an answer and there is something to answer."""
        question = self.question
        key = _WORDS.get(words.strip().casefold(), "")
        answered = keys_of(question).get(key) if question else None
        if answered is None or question is None or not self.ready or self.questions is None:
            return None
        self._seen = None  # whoever is told of it, it is not withdrawn
        try:
            self.questions.answer(
                question.id,
                answered.allow,
                question.generation,
                always=answered.always,
                scope=answered.scope,
                by=self._by,
            )
        except LastwordError:  # it was withdrawn or answered: this does nothing
            return None
        self._answered = question.id
        return answered

    def means(self, words: str) -> bool:
        """Whether a line is an answer."""
        return words.casefold() in _WORDS

    def close(self) -> None:
        """Look no longer."""
        self._cancel()

    def _cancel(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
