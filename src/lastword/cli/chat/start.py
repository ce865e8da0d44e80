"""What `lastword chat` starts: a conversation at a terminal, or one message and its answer.

What the terminal needs is imported only when there is one, so that a pipe is quick and an extra
that is not installed is missed only by who needs it.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import datetime
from secrets import token_hex

from lastword.cli.chat import pipe
from lastword.cli.chat.asking import OpenQuestions
from lastword.cli.chat.coming import ComingAgent
from lastword.cli.chat.output import Output
from lastword.cli.chat.piped_command import PipedCommand
from lastword.cli.chat.words import plain
from lastword.core.model import DEFAULTS, Policy
from lastword.errors import OwnedElsewhere
from lastword.runtime.runtime import Runtime
from lastword.surfaces.commands import named

_MISUSED = 2  # as for arguments that mean nothing
_MAIN, _MOST = "main", 100


async def chat(
    runtime: Runtime,
    session: str | None = None,
    *,
    prompt: str | None = None,
    questions: OpenQuestions | ComingAgent | None = None,
    model_name: str = "",
    mode: Policy = DEFAULTS.on_message,
    by: str = "",
    output: Output = "text",
) -> int:
    """Talk to a session; with a prompt, only that, and "-" is what the input holds.

    A prompt that is a command, such as /receipt, is done, and nothing is sent.

    Of an agent that is still coming, the questions are known when it is there.

    If none is named, a prompt begins one, and a person goes on with *main*, or with the next that
    no other terminal has open. Returns the exit code. Without a person to ask, what would have to
    be asked is not allowed.
    """
    if prompt is not None:
        asked = await questions.questions() if isinstance(questions, ComingAgent) else questions
        text = await pipe.all_of(sys.stdin) if prompt == "-" else prompt
        if not text.strip():
            print("lastword chat: there is nothing to send", file=sys.stderr)
            return _MISUSED
        if command := named(text):
            here = PipedCommand(runtime.session(session or _MAIN), mode, by, asked)
            done = await here.do(command, text.strip().removeprefix(f"/{command}"))
            print(plain(done.words), file=sys.stderr if done.failed else sys.stdout)
            return int(done.failed)
        name = session or f"prompt {datetime.now().astimezone():%Y-%m-%d %H:%M:%S} {token_hex(2)}"
        return await pipe.run_once(
            runtime, name, text, sys.stdout, sys.stderr, questions=asked, by=by, output=output
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        why = "this is not a terminal; lastword chat -p TEXT sends one message"
        print(f"lastword chat: {why}", file=sys.stderr)
        return _MISUSED
    from lastword.cli.chat.talk import Chat  # noqa: PLC0415 - needs an extra

    name = session or await _free(runtime)
    with runtime.session(name).held():  # while it is open here, it is this terminal's
        talk = Chat(runtime, name, questions, model_name=model_name, mode=mode, by=by)
        return await talk.run()


async def _free(runtime: Runtime) -> str:
    """The first that no other terminal has open; this one has it from now on."""
    for name in (_MAIN, *(f"{_MAIN} {number}" for number in range(2, _MOST))):
        with suppress(OwnedElsewhere):
            await runtime.session(name).loaded()
            if name != _MAIN:
                print(f"{_MAIN} is open in another terminal. This is {name}, a session of its own.")
            return name
    raise ValueError(f"{_MAIN} and {_MOST - 2} more are open elsewhere; --session names another")
