"""What a runtime owes its store's lease: what was taken is lost, and processes are held meanwhile.

A lease runs out when the process was paused, the machine slept, or the store did not answer. That
alone loses nothing. When it has been renewed, what another took meanwhile is lost here first; only
then do processes go on, those of the sessions that are still ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress

from lastword.core.model import SessionId
from lastword.processes import Processes
from lastword.processes.page import PageWriter
from lastword.runtime.asked_here import AskedHere
from lastword.runtime.conversation import Conversation
from lastword.runtime.journal import ask
from lastword.runtime.sessions import Sessions
from lastword.runtime.shared import Shared
from lastword.stores.contract import Store
from lastword.stores.lease import Tenure


async def opened(store: Store, processes: Processes, shared: Shared, sessions: Sessions) -> None:
    """Open the store; whatever acts in the sessions heeds its lease from then on, and what others
    ask of their owner is answered."""
    if store.reach:
        store.reach.on_asked = AskedHere(shared, sessions).asked
    await ask(store.open())
    if store.tenure:
        processes.on_zygote = store.kept_by
        _Tenancy(store.tenure, processes.on_a_page(), sessions.find)


class _Tenancy:
    """One runtime's, for as long as it is open."""

    def __init__(
        self, tenure: Tenure, page: PageWriter, find: Callable[[SessionId], Conversation | None]
    ) -> None:
        self._page = page  # on which the zygote and the wardens see the lease
        self._find = find
        self._loop = asyncio.get_running_loop()
        page.set(tenure.until)
        tenure.on_renewed = self._renewed

    def _renewed(self, until: float, taken: Collection[SessionId]) -> None:
        """In the store's own thread, which goes on when the event loop is stalled."""
        if not taken and self._page.good:
            self._page.set(until)
            return
        with suppress(RuntimeError):  # the loop has closed
            self._loop.call_soon_threadsafe(self._regained, until, taken)

    def _regained(self, until: float, taken: Collection[SessionId]) -> None:
        for session in taken:
            found = self._find(session)
            if found:
                found.lose()  # its wardens are told, and listen before they go on
        self._page.set(until)
