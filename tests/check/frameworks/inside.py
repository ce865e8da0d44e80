"""What an agent is in lastword, whatever framework it is of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lastword import Runtime

Tools = list[Callable[..., Any]]
Hear = Callable[[str], None]


class Inside:
    """One conversation with an engine."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.runtime: Runtime | None = None
        self.hear: Hear = print

    async def start(self, text: str, hear: Hear) -> None:
        self.hear = hear
        if self.runtime is None:
            self.runtime = Runtime(self.engine, sink=self.told)
            await self.runtime.__aenter__()
        await (await self.runtime.session("s").send(text)).outcome()

    async def told(self, said: Any) -> None:
        self.hear(str(said))

    async def cancel(self) -> list[str]:
        if self.runtime is None:
            return []
        receipt = await self.runtime.session("s").stop()
        return [str(one) for one in receipt.unconfirmed]
