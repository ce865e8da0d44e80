"""Where a graph asks the person (`interrupt`): each question is answered once, in the same run.

Who answers is the team's own. The answer goes to the one question that it is of, and the graph goes
on from there. A stop withdraws the question: nothing is left that a later answer could set going.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias, cast

from langgraph.types import Command, Interrupt

from lastword.engines.kit.approving import Approve, denied
from lastword.engines.kit.calls import as_said
from lastword.errors import EngineFailed
from lastword.runtime.run import Run

Ask: TypeAlias = Callable[[Run, Any], Awaitable[Any]]
"""Answers what a graph asks: what `interrupt` was given; None, where it only pauses."""

_NOBODY = "the graph asks (interrupt), and nobody answers here: say who does, LangGraph(ask=...)"


class Answering:
    """Who answers."""

    def __init__(self, ask: Ask | None, approve: Approve | None) -> None:
        self._ask = ask
        self._approve = approve

    def __bool__(self) -> bool:
        return self._ask is not None or self._approve is not None

    async def answered(self, run: Run, asked: Sequence[Interrupt]) -> Command[Any] | None:
        """With what the graph goes on, if it does."""
        if not asked:  # it pauses before, or after, a node
            return Command() if await self._answer(run, None) else None
        answers = await asyncio.gather(*(self._answer(run, one.value) for one in asked))
        run.must_hold("what was answered")
        return Command(resume=dict(zip([one.id for one in asked], answers, strict=True)))

    async def _answer(self, run: Run, value: object) -> Any:  # noqa: ANN401 - as the graph wants it
        requests = _requests(value)
        if self._approve is not None and requests is not None:
            return {"decisions": [await self._decided(self._approve, run, r) for r in requests]}
        if self._ask is None:
            failed = EngineFailed(_NOBODY)
            failed.kind = _NOBODY
            raise failed
        return await self._ask(run, value)

    @staticmethod
    async def _decided(approve: Approve, run: Run, request: dict[str, Any]) -> dict[str, Any]:
        arguments = as_said(request.get("args") or {})
        if why := await denied(approve, run, str(request.get("name")), arguments):
            return {"type": "reject", "message": why}
        return {"type": "approve"}


def _requests(value: object) -> list[dict[str, Any]] | None:
    """The calls that LangChain's HumanInTheLoopMiddleware asks about."""
    asked = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    requests = asked.get("action_requests")
    return cast("list[dict[str, Any]]", requests) if isinstance(requests, list) else None
