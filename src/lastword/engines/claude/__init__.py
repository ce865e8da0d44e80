"""The Claude Agent SDK as an engine, with the options a team has: `Runtime(ClaudeAgent(options))`.

Its CLI is a process of the run, and so is all that it starts. What the model says is said through
the run, each tool is in the ledger before the CLI may carry it out, and the conversation is made
of the session's log for each run. A stop ends the CLI, with its shells and its servers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions

from lastword.core.shown import Shown
from lastword.engines.claude import seams
from lastword.engines.claude.calls import CliCalls
from lastword.engines.claude.conversation import converse
from lastword.engines.claude.heard import PROVIDER, HeardCli
from lastword.engines.claude.hooks import Hooks
from lastword.engines.claude.nested import hold_nested
from lastword.engines.claude.servers import with_held_servers
from lastword.engines.claude.transcript import talk
from lastword.engines.kit.anthropic import ANTHROPIC
from lastword.engines.kit.approving import Approve
from lastword.engines.kit.compaction import Compaction
from lastword.engines.kit.declined import ShownHistory
from lastword.engines.kit.loop import Declining
from lastword.engines.kit.moved import FrameworkMoved
from lastword.engines.kit.trouble import ModelFailed
from lastword.runtime.run import Run

__all__ = ["Approve", "ClaudeAgent", "Compaction", "FrameworkMoved", "ModelFailed"]
_OUR_OWN = (
    "resume",
    "continue_conversation",
    "session_id",
    "fork_session",
    "resume_session_at",
    "resume_drops_turn",
    "session_store",
)
_ADDRESS = "https://api.anthropic.com"
_CLOUDS = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")


class ClaudeAgent:
    """An engine. Each run has a CLI of its own, which ends with it."""

    def __init__(
        self,
        options: ClaudeAgentOptions | None = None,
        *,
        approve: Approve | None = None,
        compaction: Compaction | None = None,
    ) -> None:
        seams.look()
        hold_nested()
        self._options = options or ClaudeAgentOptions()
        _must_leave_the_rest_to_us(self._options, approve)
        self._approve = approve
        self._compaction = compaction

    async def __call__(self, run: Run) -> None:
        history = run.history
        if self._compaction:
            ask = partial(self._summary, run)
            history = await self._compaction.shortened(run, ask)
        showing, refused = ShownHistory(run, history), None
        while True:
            calls = CliCalls(run, self._whose())
            heard = HeardCli(run, calls, showing, self._options.model or "")
            options = Hooks(calls, self._approve).around(with_held_servers(self._options, calls))
            try:
                await converse(run, options, talk(showing.history, calls.whose), heard.take)
                return await heard.end()
            except Declining as declining:
                refused = refused or declining.failed  # what was wrong with all of it
                if not showing.less(declining.status):
                    raise refused from None
                if heard.said:  # of an answer that was refused; it is no part of the next
                    await run.emit("\n\n")

    async def _summary(self, run: Run, text: str) -> str:
        """Ask the model with nothing but this."""
        said = list[Mapping[str, Any]]()

        async def hear(message: Mapping[str, Any]) -> None:
            said.append(message)

        asked = [Shown("user", text)]
        with run.model_request(self._options.model or "claude", provider=PROVIDER) as request:
            await converse(run, _bare(self._options), talk(asked, self._whose()), hear)
            result = said[-1]
            used = result["usage"]
            request.used(used["input_tokens"], used["output_tokens"])
        return "" if result["is_error"] else str(result["result"])

    def _whose(self) -> str:
        """Whose thoughts can be given back: those of the provider at the same address."""
        env = {**os.environ, **self._options.env}
        clouds = [name for name in _CLOUDS if env.get(name, "") not in ("", "0")]
        return f"{ANTHROPIC} {clouds[0] if clouds else env.get('ANTHROPIC_BASE_URL', _ADDRESS)}"


def _bare(options: ClaudeAgentOptions) -> ClaudeAgentOptions:
    """The same model, with nothing that it could do."""
    return ClaudeAgentOptions(
        model=options.model,
        tools=[],
        setting_sources=[],
        strict_mcp_config=True,
        max_turns=1,
        cwd=options.cwd,
        cli_path=options.cli_path,
        env=options.env,
    )


def _must_leave_the_rest_to_us(options: ClaudeAgentOptions, approve: Approve | None) -> None:
    """What would make another conversation of it, or take the CLI out of the run's hands."""
    if given := [name for name in _OUR_OWN if getattr(options, name)]:
        why = "the session's log is the conversation, and each run is given all of it"
        raise ValueError(f"the options say {', '.join(given)}: {why}")
    if options.user is not None:
        raise ValueError("the options say user: the CLI of another user could not be ended")
    if approve is not None and (options.can_use_tool or options.permission_prompt_tool_name):
        raise ValueError("two are to be asked for permission: approve, and one of the options'")
