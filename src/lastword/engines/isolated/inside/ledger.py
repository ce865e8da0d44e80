"""The calls of a run, in its process: written down and begun by the host, made here.

The ledger is the same as everywhere. What comes before a tool is asked of the host, and what came
of it is told to the host; the check right before the tool's first line is the page's.
"""

from __future__ import annotations

from typing import Any

from lastword.core.entries import Native, Nature
from lastword.core.model import Status
from lastword.engines.isolated.inside.post import Post
from lastword.runtime.call import Call
from lastword.runtime.ledger import Ledger


class LedgerInside(Ledger):
    """One run's."""

    post: Post

    def intend(  # noqa: PLR0913 - as a ledger has it
        self,
        tool: Any,  # noqa: ANN401 - any callable
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str = "",
        *,
        isolated: bool = False,  # noqa: ARG002 - a thread of this process ends with it
        nature: Nature = "",
        arguments: str | None = None,
        native: Native | None = None,
        late: bool = False,
    ) -> Call[Any]:
        """Write it down, there too."""
        call = super().intend(
            tool,
            args,
            kwargs,
            name,
            nature=nature,
            arguments=arguments,
            native=native,
            late=late,
        )
        if call.status is Status.INTENDED:
            wanted = {"engine": native.engine, "data": native.data} if native else None
            self.post.intend(call, nature, wanted)
        return call

    async def ready(self, made: Call[Any]) -> None:
        """The host asks and writes down, each time that it is to be made."""
        made.allowed = False
        await super().ready(made)

    def skip(self, made: Call[Any], why: str) -> None:
        """It is not to be made."""
        if not made.made and (n := self.post.number(made.id)):
            self.post.tell("skip", n, why)
        super().skip(made, why)

    def put_off(self, made: Call[Any]) -> None:
        """Nobody has carried it out so far."""
        super().put_off(made)
        if n := self.post.settled(made):
            self.post.tell("put_off", n, made.executed)

    def _close(
        self, made: Call[Any], status: Status, content: str = "", *, error: bool = False
    ) -> None:
        if n := self.post.settled(made):
            self.post.tell("came", n, status, content, error, made.raised)
        super()._close(made, status, content, error=error)
