"""What can be typed behind a slash wherever a person talks: the same words do the same everywhere.

A surface is a `CommandHost`, offers `COMMANDS`, and shows what is answered; the page, which has a
control for each, uses that. What only one place needs (to leave, to go to another session) is its
own. `SAID` are messages: lastword's own agent answers them without its model, so that a stop and
all else is as for any other.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Protocol, get_args

from lastword.agent.permission import Questions
from lastword.core.model import Policy
from lastword.core.receipt import Receipt
from lastword.core.rows import at_length
from lastword.core.value import value
from lastword.errors import LastwordError
from lastword.runtime.session import Session
from lastword.surfaces import changes, processes, programs, queue, records
from lastword.surfaces.marking import in_short, marked

_MODES: tuple[Policy, ...] = get_args(Policy)


class CommandHost(Protocol):
    """Where a command was typed, and what it may do there."""

    @property
    def session(self) -> Session: ...
    @property
    def mode(self) -> Policy: ...
    @property
    def receipt(self) -> Receipt | None: ...  # the last that was given here
    @property
    def by(self) -> str: ...
    @property
    def known(self) -> Questions | None: ...  # where it is known what a call would do
    def stop(self) -> Awaitable[Receipt] | None: ...  # None: it tells of the receipt by itself
    def set_mode(self, mode: Policy) -> None: ...


@value
class Done:
    """What is to be said of it, and the receipt of what was stopped by it."""

    words: str
    receipt: Receipt | None = None
    failed: bool = False  # nothing was done, and the words say why


@value
class SlashCommand:
    """What it is for, what can follow its name, and what it does."""

    about: str
    usage: str
    act: Callable[[CommandHost, str], Awaitable[str | Done]]


def named(text: str) -> str | None:
    """The command that a text is; any other word behind a slash is none."""
    found = _COMMAND.fullmatch(text.strip())
    return found[1] if found else None


async def do(talk: CommandHost, name: str, words: str) -> Done:
    """Do it; what is said of it also says why, if it cannot be done."""
    try:
        done = await COMMANDS[name].act(talk, words.strip())
    except (LastwordError, ValueError, BrokenPipeError) as error:
        return Done(marked(str(error)), failed=True)
    return Done(done) if isinstance(done, str) else done


async def _stop(talk: CommandHost, _: str) -> Done:
    coming = talk.stop()
    if coming is None:
        return Done("")
    receipt = await coming
    return Done(marked(receipt.words), receipt or None)


async def _mode(talk: CommandHost, word: str) -> str:
    mode = mode_of(word)
    if word and mode is None:
        raise ValueError(f"{word} is not one of {', '.join(_MODES)}")
    if mode:
        talk.set_mode(mode)
    return f"While an answer is being made, a new message: {talk.mode}."


def mode_of(word: object) -> Policy | None:
    """The mode of that name."""
    return next((mode for mode in _MODES if mode == word), None)


async def _receipt(talk: CommandHost, _: str) -> str:
    receipt = talk.receipt
    if receipt is None:
        found = [entry for entry in await talk.session.log() if isinstance(entry, Receipt)]
        receipt = found[-1] if found else None
    if receipt is None:
        return "Nothing was stopped here."
    settled = receipt.has_settled(talk.session.ending)
    return marked(at_length(receipt.rows(ids=False, settled=settled)))


async def _again(talk: CommandHost, words: str) -> str:
    await talk.session.again(words or None, by=talk.by)
    return "Asked anew: the model is not shown the turn before. The log keeps it."


async def _rename(talk: CommandHost, words: str) -> str:
    await talk.session.rename(words)
    return f"This session is called {in_short(words)}." if words else "It has its own title again."


async def _cost(talk: CommandHost, _: str) -> str:
    return records.in_words(records.usage(await talk.session.log()))


async def _export(talk: CommandHost, words: str) -> str:
    return await records.export(talk.session, words)


async def _diff(talk: CommandHost, words: str) -> str:
    return await changes.diff(talk.session, words)


async def _undo(talk: CommandHost, words: str) -> str:
    return await changes.take_back(talk.session, words)


async def _redo(talk: CommandHost, words: str) -> str:
    return await changes.bring_back(talk.session, words)


async def _processes(talk: CommandHost, words: str) -> str:
    return await processes.do(talk.session, words, by=talk.by or None)


async def _queue(talk: CommandHost, words: str) -> str:
    return await queue.do(talk.session, words)


async def _programs(talk: CommandHost, words: str) -> str:
    return await programs.do(talk.session, words, known=talk.known, by=talk.by)


COMMANDS: dict[str, SlashCommand] = {
    "stop": SlashCommand("Stop what is going on, and show the receipt", "", _stop),
    "mode": SlashCommand(
        "What a new message does while an answer is being made", " | ".join(_MODES), _mode
    ),
    "receipt": SlashCommand("All that the last stop ended", "", _receipt),
    "again": SlashCommand("Ask the last message anew, or say something else", "[TEXT]", _again),
    "diff": SlashCommand("What the last answer changed in files", "[PATH …]", _diff),
    "undo": SlashCommand("Take back what the last answer changed in files", changes.UNDO, _undo),
    "redo": SlashCommand("Bring back what /undo has taken back", "", _redo),
    "rename": SlashCommand("Call this session something", "[TITLE]", _rename),
    "cost": SlashCommand("What this session has used, in tokens", "", _cost),
    "export": SlashCommand("Write all that happened to a file", "FILE", _export),
    "processes": SlashCommand("What goes on under an id", processes.USAGE, _processes),
    "queue": SlashCommand("What waits for its turn", queue.USAGE, _queue),
    "programs": SlashCommand("What programs wait for you to allow", programs.USAGE, _programs),
}
SAID = {"compact": "Have the model be shown a summary of all so far"}
_COMMAND = re.compile(rf"/({'|'.join(COMMANDS)})(?:\s.*)?", re.DOTALL)
