"""Where a request to an MCP server leaves; the check is there.

Whatever a framework has around an MCP tool (retries, a turn to wait for, processors) comes before
that. The client is Python's usual one, and is held once for all frameworks, when it is there.
"""

from __future__ import annotations

import sys
from functools import cache, wraps
from typing import Any

from lastword.engines.kit.moved import KnownName, must_be_there
from lastword.engines.kit.reaching import reached

_MODULE, _CLASS = "mcp.client.session", "ClientSession"
_NAMES = (
    KnownName(_MODULE, f"{_CLASS}.send_request", ("self", "request")),
    KnownName(_MODULE, f"{_CLASS}.call_tool", ("self", "name", "arguments")),  # it sends by that
)
_TRIED = {"mcp": "2.3.0"}
_CALL = "tools/call"


def hold_mcp_requests() -> None:
    """From now on a call of a tool is asked for as it leaves, if the client was imported by now."""
    if (module := sys.modules.get(_MODULE)) is not None:
        _hold(getattr(module, _CLASS, None))


@cache
def _hold(session: Any) -> None:  # noqa: ANN401 - a class of the client's
    must_be_there(_NAMES, _TRIED)
    unheld = session.send_request

    @wraps(unheld)
    async def send_request(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if getattr(request, "method", "") != _CALL:
            return await unheld(self, request, *args, **kwargs)
        with reached(request.params.name):
            return await unheld(self, request, *args, **kwargs)

    session.send_request = send_request
