"""Handoffs: calls like any other, and whom the conversation was handed to.

Which agent answers next is known from the log alone: who spoke last, and what was handed over after
that. So it is the same after a stop, a crash and a summary.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from agents import Agent, Handoff

from lastword.core.entries import Native
from lastword.core.model import Status
from lastword.core.shown import Shown
from lastword.engines.kit.calls import NotMade, inner
from lastword.engines.kit.reaching import reached
from lastword.engines.openai_agents.driving import driven_here, given_up
from lastword.engines.openai_agents.innermost import copied
from lastword.engines.openai_agents.seams import HeldName
from lastword.engines.openai_agents.tools import refused
from lastword.runtime.framework import run_inside

_KEPT = "agent"  # in what is kept of what a model said


def _handed(unheld: Callable[..., Any]) -> Callable[..., Any]:
    async def execute(*, run_handoffs: Sequence[Any], public_agent: Any, **others: Any) -> Any:  # noqa: ANN401 - the framework's
        first, *rest = run_handoffs
        if run_inside() is not None:
            held = _Held(first.handoff, first.tool_call, public_agent).handoff
            first = dataclasses.replace(first, handoff=held)
        return await unheld(run_handoffs=[first, *rest], public_agent=public_agent, **others)

    return execute


class _Held:
    """A handoff whose own code is a call of the model's; if it is not allowed, nobody changes."""

    def __init__(self, own: Handoff[Any, Any], call: Any, agent: Agent[Any]) -> None:  # noqa: ANN401 - the provider's
        self._own = own
        self._call = call
        self._agent = agent
        self.handoff: Any = copied(own, on_invoke_handoff=self._invoke)

    async def _invoke(self, context: Any, arguments: str) -> Any:  # noqa: ANN401 - the framework's
        name, to = self._own.tool_name, list[Any]()

        async def body() -> str:
            with reached(name) as part:
                to.append(await self._own.on_invoke_handoff(context, arguments))
                told = self._own.get_transfer_message(to[0])
                part.gave(told)
            return told

        driven = driven_here()
        try:
            with given_up():
                if driven is not None:
                    await driven.make(self._call.call_id, name, self._call.arguments, body)
                else:
                    await inner(name, arguments, body)
        except NotMade as why:
            self.handoff.get_transfer_message = _Saying(refused(why))
            return self._agent
        return to[0]


class _Saying:
    """What the model is told of a handoff, in place of whom it was to."""

    def __init__(self, told: str) -> None:
        self._told = told

    def __call__(self, _: object) -> str:
        return self._told


HANDOFFS = (
    HeldName(
        "agents.run_internal.turn_resolution",
        "execute_handoffs",
        ("run_handoffs", "public_agent"),
        _handed,
    ),
)


def kept_agent(name: str) -> dict[str, str]:
    """What to keep of who said something."""
    return {_KEPT: name} if name else {}


def who_answers(first: Agent[Any], history: Sequence[Shown]) -> Agent[Any]:
    """Whoever the conversation was handed to last, as the log tells it."""
    known = {agent.name: agent for agent in reversed(list(_reachable(first)))}
    done = {
        item.call
        for item in history
        if item.role == "result" and item.status is Status.COMPLETED and not item.error
    }
    agent = first
    for item in history:
        agent = known.get(_spoke(item.native), agent)
        if item.role == "call" and item.call in done:
            agent = dict(_handed_to(agent)).get(item.name, agent)
    return agent


def _spoke(native: Native | None) -> str:
    if native is None or f'"{_KEPT}"' not in native.data:
        return ""
    try:
        return str(json.loads(native.data).get(_KEPT, ""))
    except (ValueError, AttributeError):  # somebody else's
        return ""


def _reachable(first: Agent[Any]) -> Iterator[Agent[Any]]:
    seen, left = set[int](), [first]
    while left:
        agent = left.pop(0)
        if id(agent) not in seen:
            seen.add(id(agent))
            yield agent
            left += [other for _, other in _handed_to(agent)]


def _handed_to(agent: Agent[Any]) -> Iterator[tuple[str, Agent[Any]]]:
    """The agents that an agent can hand over to, by the call that does it."""
    for one in agent.handoffs:
        if isinstance(one, Agent):
            yield Handoff.default_tool_name(one), one
            continue
        ref: Any = getattr(one, "_agent_ref", None)
        other = ref() if ref is not None else None
        if isinstance(other, Agent):
            yield one.tool_name, other
