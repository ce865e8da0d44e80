"""Shells, patches, computers and custom tools: what they are given to act by is checked.

The framework calls an executor, an editor or a driver of the team's after its own approvals and
hooks. Each is a call of the ledger's, or an inner one of a nested agent.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any

from lastword.engines.kit.calls import NotMade, inner
from lastword.engines.kit.reaching import reached
from lastword.engines.openai_agents.driving import driven_here, given_up
from lastword.engines.openai_agents.innermost import copied
from lastword.engines.openai_agents.items import field_of
from lastword.engines.openai_agents.seams import HeldName
from lastword.engines.openai_agents.tools import refused
from lastword.runtime.framework import run_inside

_SAID = ("action", "actions", "operation", "operations", "input")
_SEEN = "[a picture of the screen]"
_ACTIONS = "agents.run_internal.tool_actions"


async def carried_out(call: object, name: str, act: Callable[[], Any]) -> Any:  # noqa: ANN401 - as it gives
    """Have the team's own code do what the model asked for in this call, if it may begin."""

    async def body() -> Any:  # noqa: ANN401
        with reached(name) as part:
            result = act()
            result = await result if inspect.isawaitable(result) else result
            part.gave(result)
        return result

    return await made(call, name, body)


async def made(call: object, name: str, body: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - as it gives
    """Make a call, in the ledger or as an inner one; its body says where the tool begins."""
    driven = driven_here()
    try:
        with given_up():
            if driven is not None:
                return await driven.make(str(field_of(call, "call_id")), name, said_in(call), body)
            return await inner(name, said_in(call), body)
    except NotMade as why:
        return refused(why)


def said_in(call: object) -> str:
    """What a model asked for, as JSON."""
    for name in _SAID:
        if (said := field_of(call, name)) is not None:
            return json.dumps({name: said}, default=_dumped, ensure_ascii=False)
    return "{}"


def _dumped(value: Any) -> Any:  # noqa: ANN401 - a model of the provider's client
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else str(value)


def _by(which: str, what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A tool that acts by one function of its own."""

    def wrap(unheld: Callable[..., Any]) -> Callable[..., Any]:
        async def execute(*, call: Any, **others: Any) -> Any:  # noqa: ANN401 - the framework's
            tool = getattr(call, which)
            own = getattr(tool, what)
            if run_inside() is None or own is None:
                return await unheld(call=call, **others)

            async def held(*given: Any) -> Any:  # noqa: ANN401 - the team's
                return await carried_out(call.tool_call, tool.name, lambda: own(*given))

            held_call = dataclasses.replace(call, **{which: copied(tool, **{what: held})})
            return await unheld(call=held_call, **others)

        return execute

    return wrap


def _patched(unheld: Callable[..., Any]) -> Callable[..., Any]:
    async def execute(*, call: Any, **others: Any) -> Any:  # noqa: ANN401 - the framework's
        if run_inside() is None:
            return await unheld(call=call, **others)
        tool = call.apply_patch_tool
        held = copied(tool, editor=_Editor(tool.editor, call.tool_call, tool.name))
        return await unheld(call=dataclasses.replace(call, apply_patch_tool=held), **others)

    return execute


class _Editor:
    """An editor of the team's. A call may be of several files: each of them is asked for."""

    def __init__(self, own: Any, call: object, name: str) -> None:  # noqa: ANN401 - the team's
        self._own = own
        self._call = call
        self._name = name

    async def create_file(self, operation: object) -> Any:  # noqa: ANN401 - as it gives
        return await self._edit(self._own.create_file, operation)

    async def update_file(self, operation: object) -> Any:  # noqa: ANN401
        return await self._edit(self._own.update_file, operation)

    async def delete_file(self, operation: object) -> Any:  # noqa: ANN401
        return await self._edit(self._own.delete_file, operation)

    async def _edit(self, own: Callable[[Any], Any], operation: object) -> Any:  # noqa: ANN401
        return await carried_out(self._call, self._name, lambda: own(operation))


def _computed(unheld: Callable[..., Any]) -> Callable[..., Any]:
    async def execute(computer: Any, tool_call: Any) -> Any:  # noqa: ANN401 - the framework's
        if run_inside() is None:
            return await unheld(computer, tool_call)

        seen: list[Any] = []

        async def body() -> str:
            with reached("computer") as part:
                seen.append(await unheld(computer, tool_call))
                part.gave(_SEEN)
            return _SEEN

        told = await made(tool_call, "computer", body)
        if not seen:
            raise PermissionError(told)
        return seen[0]

    return execute


_ONE = ("call", "hooks", "context_wrapper")
ACTIONS = (
    HeldName(f"{_ACTIONS}:ShellAction", "execute", _ONE, _by("shell_tool", "executor")),
    HeldName(f"{_ACTIONS}:LocalShellAction", "execute", _ONE, _by("local_shell_tool", "executor")),
    HeldName(f"{_ACTIONS}:CustomToolAction", "execute", _ONE, _by("custom_tool", "on_invoke_tool")),
    HeldName(f"{_ACTIONS}:ApplyPatchAction", "execute", _ONE, _patched),
    HeldName(
        f"{_ACTIONS}:ComputerAction",
        "_execute_action_and_capture",
        ("computer", "tool_call"),
        _computed,
    ),
)
