"""What pydantic-ai by itself takes to unwind an answer that is cancelled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from pydantic_ai import Agent
from pydantic_ai.messages import PartDeltaEvent

from lastword.agent.rehearsal import Rehearsal


async def unwound(tries: int, pause: Callable[[], float], said: str) -> list[float]:
    """Seconds from a cancel to the end of its task, each time after some of an answer was heard."""
    agent, took = Agent(Rehearsal()), list[float]()
    for _ in range(tries):
        heard = asyncio.Event()
        answering = asyncio.ensure_future(_answer(agent, said, heard))
        await heard.wait()
        await asyncio.sleep(pause())
        began = time.perf_counter()
        answering.cancel()
        await asyncio.wait([answering])
        took.append(time.perf_counter() - began)
    return took


async def _answer(agent: Agent[None, str], said: str, heard: asyncio.Event) -> None:
    async with agent.iter(said) as run:
        node = run.next_node
        while not Agent.is_end_node(node):
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as events:
                    async for event in events:
                        if isinstance(event, PartDeltaEvent):
                            heard.set()
            node = await run.next(node)
