"""Files as the editor has them: what is not saved yet is read, and what is written is seen there.

Paths are still walked here, so no link leads out of a session's directories. The editor is asked
for as long as the run may act; after a stop the question is taken back, and what had left by then
may have been done.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from lastword.acp.peer import Peer
from lastword.acp.wire import RpcError
from lastword.agent.tools.files import Files
from lastword.agent.tools.private import Private
from lastword.agent.tools.roots import Place

_LOOK_AGAIN = 0.05  # seconds after which a tool that waits for the editor sees that it was stopped


class EditorFiles(Files):
    """Those of one session. Its tools run in threads, and the editor is spoken to on the loop."""

    def __init__(
        self,
        roots: Sequence[str | os.PathLike[str]],
        *,
        private: Private | None = None,
        peer: Peer,
        session: str,
        reads: bool,
        writes: bool,
    ) -> None:
        super().__init__(roots, private=private)
        self._given = tuple(roots)
        self._peer = peer
        self._session = session
        self._reads = reads
        self._writes = writes
        self._loop = asyncio.get_running_loop()

    def __reduce__(self) -> tuple[Callable[..., Files], tuple[Any, ...]]:
        # in another process there is no editor to ask
        return partial(Files, private=self.roots.private), (self._given,)

    def held(self, place: Place, may_go_on: Callable[[], bool]) -> bytes | None:
        """What the editor has; None if it does not know the file."""
        if not self._reads or not place.name:
            return None
        try:
            answer = self._ask("fs/read_text_file", place, may_go_on)
        except RpcError:
            return None
        text = cast("dict[str, Any]", answer).get("content") if isinstance(answer, dict) else None
        return text.encode(errors="replace") if isinstance(text, str) else None

    def put(
        self,
        place: Place,
        data: bytes,
        before: os.stat_result | None,
        may_go_on: Callable[[], bool],
    ) -> None:
        """Have the editor write it; what it cannot, and what is no text, is written to the disk."""
        try:
            text = data.decode() if self._writes and place.name else None
        except UnicodeDecodeError:
            text = None
        if text is None:
            super().put(place, data, before, may_go_on)
            return
        try:
            self._ask("fs/write_text_file", place, may_go_on, content=text)
        except RpcError as error:
            raise OSError(f"the editor did not write {place.shown}: {error.message}") from error

    def _ask(self, method: str, place: Place, may_go_on: Callable[[], bool], **more: str) -> object:
        path = os.path.join(self.roots.first, place.shown)  # noqa: PTH118 - it was walked already
        params = {"sessionId": self._session, "path": path, **more}
        asked = asyncio.run_coroutine_threadsafe(
            self._peer.ask(method, params, may_go_on), self._loop
        )
        while True:
            try:
                return asked.result(_LOOK_AGAIN)
            except TimeoutError:
                if not may_go_on():
                    asked.cancel()
                    raise InterruptedError(
                        f"stopped while the editor was asked for {path}"
                    ) from None
