"""What `lastword chat` starts: a conversation at a terminal, or one message and its answer.

What the terminal needs is imported only when there is one, so that a pipe is quick and an extra
that is not installed is missed only by who needs it.
"""

from __future__ import annotations

import sys

from lastword.cli.chat import pipe
from lastword.cli.chat.asking import Questions
from lastword.core.model import Policy
from lastword.runtime.runtime import Runtime

_MISUSED = 2  # as for arguments that mean nothing


async def chat(
    runtime: Runtime,
    session: str,
    *,
    prompt: str | None = None,
    questions: Questions | None = None,
    model_name: str = "",
    mode: Policy = "takeover",
    by: str = "",
) -> int:
    """Talk to a session; with a prompt, only that, and "-" is what the input holds.

    Returns the exit code. Without a person to ask, what would have to be asked is not allowed.
    """
    if prompt is not None:
        text = await pipe.all_of(sys.stdin) if prompt == "-" else prompt
        if not text.strip():
            print("lastword chat: there is nothing to send", file=sys.stderr)
            return _MISUSED
        return await pipe.run_once(
            runtime, session, text, sys.stdout, sys.stderr, questions=questions, by=by
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        why = "this is not a terminal; lastword chat -p TEXT sends one message"
        print(f"lastword chat: {why}", file=sys.stderr)
        return _MISUSED
    try:
        from lastword.cli.chat.talk import Chat  # noqa: PLC0415 - needs an extra
    except ModuleNotFoundError as error:
        why = f"{error.name} is not installed; pip install '.[chat]' brings it"
        print(f"lastword chat: {why}", file=sys.stderr)
        return 1
    talk = Chat(runtime, session, questions, model_name=model_name, mode=mode, by=by)
    return await talk.run()
