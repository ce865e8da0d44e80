"""A command where nobody sits: `-p /queue` does what `/queue` does at a terminal.

No model is asked, and no message is sent.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass

from lastword.agent.permission import Questions
from lastword.cli.chat.asking import OpenQuestions
from lastword.core.model import Policy
from lastword.core.receipt import Receipt
from lastword.errors import LastwordError
from lastword.runtime.session import Session
from lastword.surfaces.commands import Done, do


@dataclass(frozen=True, slots=True)
class PipedCommand:
    """Where it was typed: there is nothing but the session."""

    session: Session
    mode: Policy
    by: str
    questions: OpenQuestions | None
    receipt: Receipt | None = None

    @property
    def known(self) -> Questions | None:
        return self.questions if isinstance(self.questions, Questions) else None

    def stop(self) -> Awaitable[Receipt]:
        return self.session.stop(by=self.by or None)

    def set_mode(self, mode: Policy) -> None:
        raise ValueError(f"for what is sent with -p, lastword.toml says it: on_message = {mode!r}")

    async def do(self, name: str, words: str) -> Done:
        """Do it; another process may have the session."""
        try:
            await self.session.loaded()
        except LastwordError as error:
            return Done(str(error), failed=True)
        return await do(self, name, words)
