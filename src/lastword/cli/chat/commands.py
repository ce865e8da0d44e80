"""What can be typed that is not said to the agent: a slash and a word."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeAlias, get_args

from lastword.cli.chat.programs import answered, shown
from lastword.cli.chat.words import count, listing, short
from lastword.core.cell import PendingCall
from lastword.core.model import Message, Policy
from lastword.core.question import Question
from lastword.core.receipt import Receipt
from lastword.errors import LastwordError
from lastword.runtime.runtime import Runtime
from lastword.runtime.session import Session
from lastword.surfaces import processes

_COMMAND = re.compile(r"/[a-z]+( .*)?", re.DOTALL)
_MODES: tuple[Policy, ...] = get_args(Policy)
HELP = """\
Esc             stop; so do Ctrl-C, /stop, and plain words: stop, cancel, enough
Ctrl-C twice    leave, if nothing is going; so do Ctrl-D and /quit
/mode MODE      what a line does while an answer is being made:
                takeover, queue, collect, steer, refuse or rollback
/queue          what waits; /queue remove N, /queue edit N TEXT,
                /queue move N M, and /queue resume after a restart
/undo TEXT      while an answer is being made: say this instead, and leave
                the answer out of the conversation
/receipt        all that the last stop ended
/sessions       the sessions there are; /session ID goes to one, or begins it
/processes      what goes on under an id; /processes read ID [FROM],
                /processes write ID TEXT, finish ID (the end of its input),
                signal ID NAME, end ID
/programs       what programs wait for you to allow; /programs allow N, deny N
A \\ at the end of a line goes on in the next. A space before a / says it."""


class Talk(Protocol):
    """What a command may do."""

    runtime: Runtime
    session: Session
    mode: Policy
    rollback: bool  # the next line leaves out the answer that is being made

    @property
    def receipt(self) -> Receipt | None: ...
    @property
    def by(self) -> str: ...
    def left(self, call: PendingCall) -> Question: ...
    def say(self, text: str) -> None: ...
    def stop(self) -> None: ...
    def leave(self) -> None: ...
    async def go_to(self, session: str) -> None: ...
    async def send(self, text: str, mode: Policy) -> None: ...


Command: TypeAlias = Callable[[Talk, str], Awaitable[None]]


def is_command(line: str) -> bool:
    """Whether a line is meant for us; a path that begins with a slash is not."""
    return _COMMAND.fullmatch(line.rstrip()) is not None


async def do(talk: Talk, line: str) -> None:
    """Do what was typed, and say why if it cannot be done."""
    name, _, rest = line.strip().partition(" ")
    command = _COMMANDS.get(name)
    if command is None:
        talk.say(
            f"There is no {name}; /help lists what there is. With a space before it, it is said."
        )
        return
    try:
        await command(talk, rest.strip())
    except (LastwordError, ValueError, BrokenPipeError) as error:
        talk.say(short(str(error), 500))


async def _help(talk: Talk, _: str) -> None:
    talk.say(HELP)


async def _stop(talk: Talk, _: str) -> None:
    talk.stop()


async def _quit(talk: Talk, _: str) -> None:
    talk.leave()


async def _mode(talk: Talk, word: str) -> None:
    for mode in _MODES:
        if mode == word:
            talk.mode = mode
    if word and talk.mode != word:
        raise ValueError(f"{word} is not one of {', '.join(_MODES)}")
    talk.say(f"While an answer is being made, a new line: {talk.mode}.")


async def _queue(talk: Talk, words: str) -> None:
    verb, _, rest = words.partition(" ")
    act = _ON_QUEUE.get(verb)
    if act is None:
        raise ValueError(f"/queue takes {', '.join(filter(None, _ON_QUEUE))}, or nothing")
    await act(talk, rest.strip())


async def _list(talk: Talk, _: str) -> None:
    rows = (f"{n}. {short(m.text, 70)}" for n, m in enumerate(talk.session.queue, 1))
    talk.say("\n".join(listing(rows, nothing="Nothing waits.")))


async def _remove(talk: Talk, words: str) -> None:
    message = _waiting(talk, words)
    await talk.session.remove(message.id)
    talk.say(f"Removed: {short(message.text)}")


async def _edit(talk: Talk, words: str) -> None:
    number, _, text = words.partition(" ")
    message = _waiting(talk, number)
    if not text.strip():
        raise ValueError("/queue edit takes a number and the new text")
    await talk.session.edit(message.id, text.strip())
    await _list(talk, "")


async def _move(talk: Talk, words: str) -> None:
    number, _, to = words.partition(" ")
    message = _waiting(talk, number)
    _waiting(talk, to)
    await talk.session.move(message.id, int(to) - 1)
    await _list(talk, "")


async def _resume(talk: Talk, _: str) -> None:
    await talk.session.resume()
    talk.say(f"{count(len(talk.session.queue), 'message')} left in the queue.")


def _waiting(talk: Talk, word: str) -> Message:
    queue: Sequence[Message] = talk.session.queue
    if not word.strip().isdecimal() or not 1 <= int(word) <= len(queue):
        there = f"1 to {len(queue)}" if queue else "and nothing waits"
        raise ValueError(f"say which by its number in /queue: {there}")
    return queue[int(word) - 1]


async def _undo(talk: Talk, text: str) -> None:
    if talk.session.active is None:
        talk.say(
            "Nothing is going. /undo replaces an answer while it is being made; "
            "one that is complete stays in the conversation."
        )
    elif text:
        await talk.send(text, "rollback")
    else:
        talk.rollback = True
        talk.say(
            "Your next line replaces the answer being made, and the model will not be shown it. "
            "It goes on until then; Esc stops it, and leaves it in the conversation."
        )


async def _receipt(talk: Talk, _: str) -> None:
    receipt = talk.receipt
    if receipt is None:
        found = [entry for entry in await talk.session.log() if isinstance(entry, Receipt)]
        receipt = found[-1] if found else None
    talk.say(receipt.words if receipt else "Nothing was stopped here.")


async def _sessions(talk: Talk, _: str) -> None:
    names = dict.fromkeys((*await talk.runtime.sessions(), talk.session.id))
    talk.say("\n".join(f"{'*' if n == talk.session.id else ' '} {short(n, 70)}" for n in names))


async def _session(talk: Talk, name: str) -> None:
    if not name:
        raise ValueError("/session takes the name of one; /sessions lists them")
    await talk.go_to(name)


async def _processes(talk: Talk, words: str) -> None:
    talk.say(await processes.do(talk.session, words, by=talk.by or None))


async def _programs(talk: Talk, words: str) -> None:
    talk.say(
        await answered(talk.session, words, talk.by) if words else shown(talk.session, talk.left)
    )


_ON_QUEUE: dict[str, Command] = {
    "": _list,
    "remove": _remove,
    "edit": _edit,
    "move": _move,
    "resume": _resume,
}
_COMMANDS: dict[str, Command] = {
    "/help": _help,
    "/stop": _stop,
    "/quit": _quit,
    "/mode": _mode,
    "/queue": _queue,
    "/undo": _undo,
    "/receipt": _receipt,
    "/sessions": _sessions,
    "/session": _session,
    "/processes": _processes,
    "/programs": _programs,
}
