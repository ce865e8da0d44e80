"""From the first line to the last: a client comes, and when it has gone nothing is left of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import TypeAlias

from lastword.acp.agent import AcpAgent
from lastword.acp.agents import Agents, Make
from lastword.acp.cards import Cards
from lastword.acp.outbox import Outbox
from lastword.acp.stdio import ClientInput
from lastword.core.model import Policy
from lastword.core.story import FeedEvent
from lastword.processes import Processes
from lastword.runtime.runtime import Runtime
from lastword.stores.opening import open_store
from lastword.surfaces import GRACE

_LAST_WORDS = 0.5  # seconds in which what was said may still leave
_FEED = 100_000  # events that may wait; whoever speaks waits for the client long before


Opened: TypeAlias = Callable[[Processes], AbstractAsyncContextManager[object]]
"""What all assistants have in common is open in it; raises if that cannot be had."""


async def serve(
    make: Make,
    opened: Opened = nullcontext,
    *,
    output: int,
    folder: Path,
    store: str,
    mode: Policy,
    window: int,
) -> None:
    """Serve one client through standard input and this output, until it has gone."""
    outbox, agents = Outbox(output), Agents(make)
    kept = open_store(store)
    outbox.tenure = kept.tenure

    async def keep_pace(_: FeedEvent) -> None:
        await outbox.room()

    runtime = Runtime(
        agents.engine,
        store=kept,
        sink=keep_pace,
        before_tool=agents.before_tool,
        grace=GRACE,
        feed_limit=_FEED,
    )
    async with runtime, opened(runtime.processes):
        shelf = Cards(folder)
        agent = AcpAgent(runtime, agents, shelf, outbox, mode=mode, window=window)
        spoken = ClientInput()
        outbox.on_gone = spoken.end
        try:
            while data := await spoken.next():
                await agent.peer.hear(data)
        finally:
            await agent.stop()
            await agent.peer.all_answered(_LAST_WORDS)
            await outbox.empty(_LAST_WORDS)
            outbox.close()
            spoken.close()  # last: a second signal must not be quicker than what is being ended
