"""What can be typed behind a slash in an editor, and what it gives back."""

from __future__ import annotations

import re
from typing import Protocol

from lastword.acp import updates
from lastword.core.model import Policy
from lastword.core.receipt import Receipt
from lastword.errors import LastwordError
from lastword.runtime.session import Session
from lastword.surfaces import processes

_COMMAND = re.compile(rf"/({'|'.join(updates.COMMANDS)})(\s.*)?", re.DOTALL)


class Talking(Protocol):
    """What a command may do."""

    session: Session
    receipt: Receipt | None

    async def stop(self) -> Receipt: ...
    def set_mode(self, mode: Policy) -> None: ...


def is_command(text: str) -> bool:
    """Whether it is meant for us; any other word behind a slash is said."""
    return _COMMAND.fullmatch(text.strip()) is not None


async def do(talk: Talking, text: str) -> tuple[str, Receipt | None]:
    """Do it; what is to be said about it, and the receipt of what was stopped."""
    found = _COMMAND.fullmatch(text.strip())
    name, rest = found.groups("") if found else ("stop", "")
    match name:
        case "stop":
            receipt = await talk.stop()
            return (receipt.words, receipt) if receipt else ("Nothing was going on.", None)
        case "mode":
            return _mode(talk, rest.strip()), None
        case "receipt":
            return await _receipt(talk), None
        case _:
            return await _processes(talk, rest.strip()), None


def _mode(talk: Talking, word: str) -> str:
    mode = updates.mode_of(word)
    if mode is None:
        known = updates.COMMANDS["mode"][1]
        return f"/mode takes one of these: {known}"
    talk.set_mode(mode)
    return f"While an answer is being made, a new message: {mode}."


async def _receipt(talk: Talking) -> str:
    receipt = talk.receipt
    if receipt is None:
        found = [entry for entry in await talk.session.log() if isinstance(entry, Receipt)]
        receipt = found[-1] if found else None
    return receipt.words if receipt else "Nothing was stopped here."


async def _processes(talk: Talking, words: str) -> str:
    try:
        return await processes.do(talk.session, words)
    except (LastwordError, ValueError, BrokenPipeError) as error:
        return str(error)
