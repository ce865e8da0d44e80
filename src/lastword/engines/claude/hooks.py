"""The CLI's hooks and its questions for permission: where the ledger is asked, and the team.

Ours answer no question of the CLI's rules: they say nothing, or no. So what the team allows, denies
or asks for holds as it did. A hook of ours that fails is a no.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias, cast

from claude_agent_sdk import (
    CanUseTool,
    ClaudeAgentOptions,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ToolPermissionContext,
)

from lastword.core.shown import Shown
from lastword.engines.claude.calls import CliCalls, Door, Said
from lastword.engines.claude.wording import in_brackets
from lastword.engines.kit.approving import Approve, denied
from lastword.engines.kit.calls import NotMade, as_said
from lastword.engines.kit.history import told
from lastword.errors import Superseded

_NEVER = 2_000_000  # seconds: about as long as the CLI can wait
_STEERED = "While you worked, the person said: "
_BEFORE, _ASKED, _BATCH = "PreToolUse", "PermissionRequest", "PostToolBatch"
_AFTER = ("PostToolUse", "PostToolUseFailure")

Asked: TypeAlias = Callable[..., Awaitable[Any]]
"""Asks the person whether a tool may be called for which the CLI's rules want permission: given
the run, the tool's name and its arguments."""


class Hooks:
    """Of one conversation with a CLI."""

    def __init__(self, calls: CliCalls, approve: Approve | None) -> None:
        self._run = calls.run
        self._calls = calls
        self._approve = approve

    def around(self, options: ClaudeAgentOptions) -> ClaudeAgentOptions:
        """The options with what asks the ledger; of the team's own, all is asked as before."""
        theirs = cast("Mapping[str, list[HookMatcher]]", options.hooks or {})
        hooks = {event: [*matchers] for event, matchers in theirs.items()}
        hooks[_BEFORE] = [_with(self._before_theirs, one) for one in hooks.get(_BEFORE, [])]
        hooks[_ASKED] = [_with(self._asked_theirs, one) for one in hooks.get(_ASKED, [])]
        ours = {_BEFORE: self._before, **dict.fromkeys(_AFTER, self._after), _BATCH: self._batch}
        for event, hook in ours.items():
            own = HookMatcher(hooks=[_quiet(hook)], timeout=_NEVER, on_failure="block")
            hooks[event] = [own, *hooks.get(event, [])]
        options = replace(options, hooks=cast("Any", hooks))
        can = options.can_use_tool or (self._ask_person if self._approve else None)
        return options if can is None else replace(options, can_use_tool=self._permitted(can))

    def _of(self, given: Said, id_: str | None) -> Door:
        known = id_ or str(given.get("tool_use_id"))
        inner = bool(given.get("agent_id"))
        return self._calls.asked(known, given["tool_name"], given["tool_input"], inner=inner)

    # before a call

    async def _before(self, given: Said, id_: str | None, _: object) -> Said:
        door = self._of(given, id_)
        if not given.get("agent_id"):
            await self._calls.whole.wait()  # all of an answer is written down before the first
        await self._run.said()
        door.here = part(given, "mcp_server").get("source") == "sdk"
        door.open = True
        try:
            await door.pass_through()
        except NotMade as why:
            return _denied(str(why))
        return {}

    def _before_theirs(self, hook: Asked) -> Asked:
        """The CLI waits for all of them; while one thinks, the call has not begun."""

        async def held(given: Said, id_: str | None, context: object) -> object:
            door = self._of(given, id_)
            door.think()
            door.waiting += 1
            answer: object = {}
            try:
                answer = await hook(given, id_, context)
            finally:
                door.waiting -= 1
                if not _denies(answer):
                    with suppress(NotMade):
                        await door.pass_through()
            return _denied(door.refused) if door.refused else answer

        return _quiet(held)

    # permission

    def _permitted(self, can: CanUseTool) -> CanUseTool:
        async def held(name: str, given: dict[str, Any], context: ToolPermissionContext) -> Any:  # noqa: ANN401
            known = {"tool_name": name, "tool_input": given, "agent_id": context.agent_id}
            door = self._of(known, context.tool_use_id)
            door.think()
            answer = await can(name, given, context)
            if isinstance(answer, PermissionResultAllow):
                try:
                    await _allow(door)
                except NotMade as why:
                    return PermissionResultDeny(message=str(why))
            return answer

        return _quiet(held)

    def _asked_theirs(self, hook: Asked) -> Asked:
        """The first to allow it decides, whoever else is asked."""

        async def held(given: Said, id_: str | None, context: object) -> object:
            answer = await hook(given, id_, context)
            decision = part(part(answer, "hookSpecificOutput"), "decision")
            if decision.get("behavior") == "allow":
                try:
                    await _allow(self._of(given, id_))
                except NotMade as why:
                    denied = {"behavior": "deny", "message": str(why)}
                    return {"hookSpecificOutput": {"hookEventName": _ASKED, "decision": denied}}
            return answer

        return _quiet(held)

    async def _ask_person(self, name: str, given: dict[str, Any], _: object) -> Any:  # noqa: ANN401
        why = await denied(self._approve, self._run, name, as_said(given))
        self._run.must_hold(f"this call of {name}")
        return PermissionResultDeny(message=why) if why else PermissionResultAllow()

    # after calls

    async def _after(self, given: Said, id_: str | None, _: object) -> Said:
        self._of(given, id_).ended(given)
        return {}

    async def _batch(self, given: Said, _: object, __: object) -> Said:
        """Before the next request: what the person said meanwhile, and the session."""
        if given.get("agent_id"):
            return {}
        joined = [Shown("user", one.text, message=one) for one in await self._run.steering()]
        words = [in_brackets(said) for one in joined for said in told(one)]
        lines = [f"[{note}]" for note in self._run.notes()]
        lines += [_STEERED + "\n\n".join(words)] if words else []
        if not lines:
            return {}
        context = {"hookEventName": _BATCH, "additionalContext": "\n\n".join(lines)}
        return {"hookSpecificOutput": context}


async def _allow(door: Door) -> None:
    door.allowed = True
    await door.begin()


def _with(held: Callable[[Asked], Asked], matcher: HookMatcher) -> HookMatcher:
    return replace(matcher, hooks=cast("Any", [held(cast("Asked", one)) for one in matcher.hooks]))


def _quiet(ask: Asked) -> Asked:
    """Once the run has lost its session nobody is answered, which is no error of the SDK's."""

    async def asked(*args: object) -> object:
        with suppress(Superseded):
            return await ask(*args)
        raise asyncio.CancelledError

    return asked


def _denied(why: str) -> Said:
    decided = {"permissionDecision": "deny", "permissionDecisionReason": why}
    return {"hookSpecificOutput": {"hookEventName": _BEFORE, **decided}}


def _denies(answer: object) -> bool:
    """Whether a hook of the team's says no, in one of the ways that there are."""
    if part(answer, "hookSpecificOutput").get("permissionDecision") == "deny":
        return True
    given = cast("Said", answer if isinstance(answer, Mapping) else {})
    goes_on = given.get("continue_", True) and given.get("continue", True)
    return given.get("decision") == "block" or not goes_on


def part(of: object, name: str) -> Said:
    """A part of what somebody gave; nothing, if it is not there."""
    found = cast("Said", of).get(name) if isinstance(of, Mapping) else None
    return cast("Said", found if isinstance(found, Mapping) else {})
