"""What to show less of, when a provider refuses what a session has to show it.

Nothing in a log may make every later turn impossible. What was refused twice is asked again with
less, one step at a time: without attachments, then without natives, without calls, without the
turn, without what others say in its notes, without the summary; at first only of what no provider
has taken yet, then of all. What is left out is told, by name as long as names are taken; what tools
have done is always told, and the words to be answered are never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import get_args

from lastword.core.entries import LeftOut, Part
from lastword.core.model import Attachment, RunId, Status
from lastword.core.shown import UNTOLD, Shown, counted, named, note, taken_back

ALONE = RunId("")  # whose are the notes that stand on their own, and the summary
_PARTS: tuple[Part, ...] = get_args(Part)
_MADE = (Status.COMPLETED, Status.MAY_HAVE_EXECUTED)
_WHY = "the provider did not take it"
_LONGEST = 200
_UNSUMMARISED = f"The earlier conversation cannot be shown: {_WHY}."


def less(
    history: Sequence[Shown], suspects: AbstractSet[RunId], answering: RunId
) -> tuple[LeftOut, ...]:
    """What to leave out next of what was refused; nothing, if there is no more to leave out."""
    turns: dict[RunId, list[Shown]] = {}
    for item in history:
        turns.setdefault(item.run or ALONE, []).append(item)
    for scope in (suspects, turns.keys()):
        for part in _PARTS:
            found = [
                LeftOut(answering, run, part, _words(part, items))
                for run, items in turns.items()
                if run in scope and _has(part, items, answered=run != answering)
            ]
            if found:
                return tuple(found)
    return ()


def without(history: Iterable[Shown], left: Iterable[LeftOut]) -> tuple[Shown, ...]:
    """What is shown of a history when this is left out of it."""
    parts: dict[RunId, set[Part]] = {}
    for one in left:
        parts.setdefault(one.of, set()).add(one.part)
    shown: list[Shown] = []
    turn: list[Shown] = []
    for item in history:
        if turn and item.run != turn[-1].run:
            shown += _without(turn, parts)
            turn = []
        turn.append(item)
    return (*shown, *_without(turn, parts))


def _without(turn: list[Shown], parts: dict[RunId, set[Part]]) -> list[Shown]:
    if not turn:
        return turn  # nothing is shown of it as it is
    run = turn[-1].run or ALONE
    for part in _PARTS:
        if part in parts.get(run, ()):
            turn = _LEAVE[part](turn)
    return turn


def _has(part: Part, items: Sequence[Shown], *, answered: bool) -> bool:
    match part:
        case "attachments":
            return any(item.message and item.message.attachments for item in items)
        case "natives":
            return any(item.native or item.role == "thinking" for item in items)
        case "calls":
            return any(item.role == "call" for item in items)
        case "turn":
            return answered and any(item.role not in ("note", "summary") for item in items)
        case "notes":  # what is still to be said of the one to be answered is not known yet
            return answered and any(map(_quotes, items))
        case "summary" | "all":  # all of a turn is a person's to leave out
            said = (item for item in items if item.role == "summary" and part == "summary")
            return any(item.text != _UNSUMMARISED for item in said)


def _quotes(item: Shown) -> bool:
    """Whether it is a note that has somebody's words in it."""
    return item.role == "note" and item.text != (item.bare or UNTOLD)


def _no_attachments(turn: list[Shown]) -> list[Shown]:
    return [_unaccompanied(item) for item in turn]


def _unaccompanied(item: Shown) -> Shown:
    if item.message is None or not item.message.attachments:
        return item
    names = [f"[{_file(one)} is not shown: {_WHY}]" for one in item.message.attachments]
    said = [item.text] if item.text.strip() else []
    bare = replace(item.message, attachments=())
    return replace(item, text="\n".join([*said, *names]), message=bare)


def _no_natives(turn: list[Shown]) -> list[Shown]:
    return [replace(item, native=None) for item in turn if item.role != "thinking"]


def _no_calls(turn: list[Shown]) -> list[Shown]:
    return [
        _made_here(item) if item.role == "result" else item for item in turn if item.role != "call"
    ]


def _made_here(result: Shown) -> Shown:
    rest = f"here; it is not shown: {_WHY}."
    return note(f"{_did(result)} {rest}", f"a tool {_became(result)} {rest}", result.run)


def _no_turn(turn: list[Shown]) -> list[Shown]:
    results = [item for item in turn if item.role == "result"]
    noted = [item for item in turn if item.role == "note"]
    gone = f"A turn is not shown here: {_WHY}."
    if not results:
        return [note(gone, run=turn[0].run), *noted]
    did = f"{gone} In it, {'; '.join(map(_did, results))}."
    bare = f"{gone} It called {counted(map(_status, results))}."
    return [note(did, bare, turn[0].run), *noted]


def _no_notes(turn: list[Shown]) -> list[Shown]:
    return [
        note(item.bare or UNTOLD, run=item.run) if item.role == "note" else item for item in turn
    ]


def _nothing(turn: list[Shown]) -> list[Shown]:
    """A turn that was asked anew, as one that was rolled back; who asks it knows what it said."""
    results = [item for item in turn if item.role == "result"]
    made = [(named(one), _status(one)) for one in results if _status(one) in _MADE]
    return [taken_back(made, turn[0].run)] if made else []


def _no_summary(turn: list[Shown]) -> list[Shown]:
    return [replace(item, text=_UNSUMMARISED) if item.role == "summary" else item for item in turn]


_LEAVE: dict[Part, Callable[[list[Shown]], list[Shown]]] = {
    "attachments": _no_attachments,
    "natives": _no_natives,
    "calls": _no_calls,
    "turn": _no_turn,
    "notes": _no_notes,
    "summary": _no_summary,
    "all": _nothing,
}


def _did(result: Shown) -> str:
    return f"{named(result)} {_became(result)}"


def _became(result: Shown) -> str:
    what = {Status.COMPLETED: "was called", Status.NOT_STARTED: "was not called"}
    return what.get(_status(result), "may have executed")


def _status(result: Shown) -> Status:
    return result.status or Status.MAY_HAVE_EXECUTED


def _file(one: Attachment) -> str:
    return (one.name or one.uri or one.media_type or "a file")[:_LONGEST]


def _words(part: Part, items: Sequence[Shown]) -> str:
    """What is left out, for people."""
    match part:
        case "attachments":
            files = [one for item in items if item.message for one in item.message.attachments]
            what = ", ".join(_file(one) for one in files)
        case "natives":
            what = "what the model thought in an earlier turn"
        case "calls":
            names = dict.fromkeys(named(item) for item in items if item.role == "call")
            what = f"calls of an earlier turn ({', '.join(names)})"
        case "turn":
            what = "an earlier turn"
        case "notes":
            what = "what others said in notes of an earlier turn"
        case "summary":
            what = "the summary of the earlier conversation"
        case "all":
            what = "what was asked anew"
    return f"The model is no longer shown {what}: {_WHY}."
