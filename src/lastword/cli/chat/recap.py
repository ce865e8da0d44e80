"""What was said in a session before, in short, for a person who comes back to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from lastword.cli.chat.words import count, short
from lastword.core.model import Message, MessageId, Outcome, RunId
from lastword.core.transcript import Began, Entry, Finished, LeftOut, Said, Summary, Text
from lastword.errors import LastwordError
from lastword.runtime.session import Session

_SHOWN = 2  # turns
_LONGEST = 200  # characters of what was said


@dataclass(slots=True)
class _Turn:
    messages: list[Message] = field(default_factory=list[Message])
    text: list[str] = field(default_factory=list[str])
    end: Finished | None = None

    def lines(self) -> list[str]:
        said = short("".join(self.text), _LONGEST)
        told = " ".join(filter(None, (said, self._ending())))
        return [*(f"> {short(m.text, _LONGEST)}" for m in self.messages), *([told] if told else [])]

    def _ending(self) -> str:
        if self.end is None:
            return "(cut off)"
        if self.end.rollback:
            return "(taken back)"
        return "" if self.end.outcome is Outcome.COMPLETED else f"({self.end.outcome})"


async def recap(session: Session) -> list[str]:
    """How many turns there were, and the last of them; nothing, if there were none."""
    try:
        return recap_lines(await session.log())
    except LastwordError:  # whoever says something will hear of it
        return []


def recap_lines(log: tuple[Entry, ...]) -> list[str]:
    """The same, of what was logged."""
    turns = list(_turns(log).values())
    if not turns:
        return []
    earlier = " and earlier ones" if any(isinstance(entry, Summary) for entry in log) else ""
    last = [line for turn in turns[-_SHOWN:] for line in turn.lines()]
    left = [entry.text for entry in log if isinstance(entry, LeftOut)][-_SHOWN:]
    return [f"{count(len(turns), 'turn')}{earlier} so far. The last:", *last, *left]


def _turns(log: tuple[Entry, ...]) -> dict[RunId, _Turn]:
    """What was answered, or was being answered, in order."""
    said: dict[MessageId, Message] = {}
    turns: dict[RunId, _Turn] = {}
    for entry in log:
        match entry:
            case Said(message):
                said[message.id] = message
            case Began(run, _, messages):
                turn = turns.setdefault(run, _Turn())
                turn.messages += [said[id_] for id_ in messages if id_ in said]
            case Text(run, text) if run in turns:
                turns[run].text.append(text)
            case Finished(run) if run in turns:
                turns[run].end = entry
            case _:
                pass
    return turns
