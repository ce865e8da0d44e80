"""What must hold of a picture, whatever happens: each law raises what was broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from lastword.core.entries import Answered, Began, Finished, Result, Said, Text, Thinking
from lastword.core.model import SessionId, Status
from lastword.core.picture import Picture
from lastword.core.receipt import Receipt
from lastword.core.recovery import Recovery
from lastword.core.scene import (
    CallPart,
    Change,
    Joined,
    MessageItem,
    NoteItem,
    Phase,
    ReceiptItem,
    TurnItem,
    Words,
    is_live,
)
from lastword.core.story import Begun, FeedEvent, Progress, Settled
from tests.core.explorer import must
from tests.core.picture_doings import Moment
from tests.core.picture_world import SESSION, World
from tests.core.screen import Screen, seen_in

NOT_OURS = {"below", "kept"}  # whose questions are other runs'
_FOUND = "After a restart: "
Make: TypeAlias = Callable[[SessionId], Picture]


def prompt(world: World, make: Make = Picture) -> Picture:
    """Who heard everything as it happened; and whoever draws what it was told is different."""
    picture, screen = make(SESSION), Screen()
    for event in world.events:
        changes = picture.hear(event, event.generation)
        screen.draw(changes)
        must(picture.hear(event, event.generation) == [], "a fact heard twice changes nothing")
        asks = {one.run for one in picture.questions.values() if one.id not in NOT_OURS}
        must(asks <= {picture.phase.active}, "nobody is asked for a run that is over")
    must(seen_in(screen) == seen_in(picture), "the changes, applied, are the picture")
    return picture


def from_the_log(
    moment: Moment, then: World, whole: dict[str, object], make: Make = Picture
) -> None:
    """Who came at that moment read the log, and was told how all else stood; and then the rest."""
    picture = make(SESSION)
    picture.record(moment.log)
    picture.stands(
        seen=moment.seen,
        phase=moment.phase,
        queue=moment.queue,
        questions=moment.questions,
        programs=moment.programs,
        processes=moment.processes,
        begun=moment.begun,
    )
    for event in then.events:
        picture.hear(event, event.generation)
    must(lasting(picture) == whole, "the log at any fact, and the rest, are all of it")


def lagging(world: World, behind: int, whole: dict[str, object], make: Make = Picture) -> None:
    """Who heard so many facts in time, and the rest after the last fence."""
    picture = make(SESSION)
    fenced = max((e.generation for e in world.events), default=0)
    changes: list[tuple[FeedEvent, Change]] = []
    screen = Screen()
    for event in world.events[:behind]:
        screen.draw(picture.hear(event, event.generation))
    for event in world.events[behind:]:
        different = picture.hear(event, fenced)
        screen.draw(different)
        changes += [(event, change) for change in different]
    must(seen_in(screen) == seen_in(picture), "the changes, applied late, are the picture")
    late = [c for event, c in changes if is_live(c) and event.generation < fenced]
    must(not late, "no live change follows the fence of its generation")
    kept = {"kept"} if world.kept else set[str]()
    must(kept <= set(picture.questions), "what a run that was kept asks is open, late or not")
    if world.active is None:  # else some of it may wait for its end
        must(lasting(picture) == whole, "what was let out before a fence is on record")


def taken(world: World, behind: int, make: Make = Picture) -> None:
    """Who was behind when another process took the session: what had not left is not told."""
    picture = make(SESSION)
    fenced = max((e.generation for e in world.events), default=0)
    late = (behind + len(world.events)) // 2
    for number, event in enumerate(world.events[:late]):
        picture.hear(event, event.generation if number < behind else fenced)
    before = _uttered(picture)
    for event in world.events[late:]:
        picture.hear(event, fenced, taken=True)
    must(_uttered(picture) == before, "what another process has by now is not told here")


def _uttered(picture: Picture) -> list[object]:
    turns = [item for item in picture.items if isinstance(item, TurnItem)]
    parts = [(turn.head.run, part) for turn in turns for part in turn.parts]
    return [
        (run, part.text if isinstance(part, Words) else part.name)
        for run, part in parts
        if isinstance(part, Words) or (isinstance(part, CallPart) and part.name)
    ]


def lasting(picture: Picture) -> dict[str, object]:
    """All but what only passes: what a call wrote, when it began if it has ended, what a run told
    of its doing, that something was found after a restart (the log has what became of it)."""
    seen = seen_in(picture)
    items: list[object] = []
    for item in picture.items:
        if isinstance(item, TurnItem):
            parts = [
                replace(
                    part,
                    output="",
                    began=part.began if part.status is Status.BEGUN else 0.0,
                )
                if isinstance(part, CallPart)
                else replace(part, at=0.0, until=0.0)
                if isinstance(part, Words)
                else part
                for part in item.parts
                if not (isinstance(part, Words) and part.kind == "progress")
            ]
            items.append((item.head, _joined(parts)))
        elif isinstance(item, ReceiptItem):
            items.append((item.key, item.settled or item.receipt.quiet))
        elif not isinstance(item, NoteItem):
            items.append(item)
        elif not item.text.startswith(_FOUND):
            items.append(item.text)  # what it is known by counts all that was noted
    phase = picture.phase
    return seen | {"items": items, "phase": Phase(phase.generation, phase.active, phase.typing)}


def _joined(parts: Sequence[object]) -> list[object]:
    """Words between which something passed are the same words."""
    found: list[object] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, Words) and isinstance(last, Words) and last.kind == part.kind:
            found[-1] = Words(last.kind, [last.text + part.text])
        elif isinstance(part, Words):
            found.append(Words(part.kind, [part.text]))
        else:
            found.append(part)
    return found


def true_to(world: World, picture: Picture) -> None:
    """What is seen is what happened: told from the facts by another way than by folding them."""
    facts = [event.fact for event in world.events]
    phase = picture.phase
    must(
        Phase(phase.generation, phase.active, phase.typing, phase.ending) == world.phase,
        "what goes on is known",
    )
    must(picture.queue == world.queue, "what waits is known")
    open_ = {question.id for question in world.questions}
    must(set(picture.questions) == open_, "a question is open until it is answered or withdrawn")
    waits = {wait.call for wait in picture.waits.values() if not wait.until}
    asked = {question.call for question in world.questions if question.id != "kept"}
    must(waits == asked, "a call waits while its question is open")
    said = {f.call: f.allowed for f in facts if isinstance(f, Answered)}
    must(
        all(
            w.answer is None or w.answer.allowed == said.get(w.call) for w in picture.waits.values()
        ),
        "an answer is a person's",
    )
    must(tuple(picture.processes.values()) == world.spans, "every process is known, and no other")
    programs = [world.program] if world.program else []
    must(list(picture.programs.values()) == programs, "a program is known until it has ended")
    _messages(world, picture)
    _turns(world, picture)
    _receipts(world, picture)


def _messages(world: World, picture: Picture) -> None:
    facts = [event.fact for event in world.events]
    parts = [p for item in picture.items if isinstance(item, TurnItem) for p in item.parts]
    shown = [item.message for item in picture.items if isinstance(item, MessageItem)]
    shown += [part.message for part in parts if isinstance(part, Joined)]
    shown += picture.pending
    gone = {m for f in facts if isinstance(f, Finished) and not f.started for m in f.messages}
    told = [f.message.id for f in facts if isinstance(f, Said)]
    must(sorted(shown) == sorted(set(told) - gone), "every message stands in one place")
    begins = [f for f in facts if isinstance(f, Began)]
    runs = [f.run for f in begins]
    later = [f for place, f in enumerate(begins) if f.run in runs[:place]]
    joined = {part.message for part in parts if isinstance(part, Joined)}
    must(joined == {m for f in later for m in f.messages}, "what joined a run stands in it")
    waiting = {one.message.id for one in world.queue.messages}
    must(waiting == set(picture.pending), "what waits has no place yet")


def _turns(world: World, picture: Picture) -> None:
    facts = [event.fact for event in world.events]
    turns = {item.head.run: item for item in picture.items if isinstance(item, TurnItem)}
    began = dict.fromkeys(f.run for f in facts if isinstance(f, Began))
    must(
        [item.head.run for item in picture.items if isinstance(item, TurnItem)] == list(began),
        "each run once",
    )
    ended = {f.run: f.outcome.value for f in facts if isinstance(f, Finished) and f.started}
    ended |= {run: "lost" for f in facts if isinstance(f, Recovery) for run in f.lost}
    fenced = {run: f.fenced_at for f in facts if isinstance(f, Receipt) for run in f.runs}
    for run, turn in turns.items():
        for kind, told in (("text", Text), ("thinking", Thinking), ("progress", Progress)):
            words = [p for p in turn.parts if isinstance(p, Words) and p.kind == kind]
            said = [
                f.text
                for f in facts
                if isinstance(f, told) and f.run == run and not getattr(f, "call", None)
            ]
            must("".join(w.text for w in words) == "".join(said), "what was said is shown once")
        for a, b in zip(turn.parts, turn.parts[1:], strict=False):
            same = isinstance(a, Words) and isinstance(b, Words) and a.kind == b.kind
            must(not same, "what was said in one go is one")
        results = {f.call: f.status for f in facts if isinstance(f, Result)}
        doubts = [report for f in facts if isinstance(f, Recovery) for report in f.calls]
        results |= {report.call: report.status for report in doubts}
        begun = {f.call for f in facts if isinstance(f, Begun)}
        for part in turn.parts:
            if isinstance(part, CallPart):
                before = Status.BEGUN if part.call in begun else Status.INTENDED
                must(part.status is results.get(part.call, before), "how a call stands is known")
        must(turn.head.outcome == ended.get(run, ""), "how a run ended is known")
        must(turn.head.fenced_at == fenced.get(run, 0.0), "when a run was fenced is known")


def _receipts(world: World, picture: Picture) -> None:
    facts = [event.fact for event in world.events]
    told = [(f.fenced_at, f.runs, f.messages) for f in facts if isinstance(f, Receipt)]
    items = [item for item in picture.items if isinstance(item, ReceiptItem)]
    shown = [(i.receipt.fenced_at, i.receipt.runs, i.receipt.messages) for i in items]
    must(shown == told, "each receipt once")
    for item, begun in zip(items, world.fences, strict=True):
        above = picture.items[: picture.items.index(item)]
        turns = [one for one in above if isinstance(one, TurnItem)]
        must(len(turns) == begun, "a receipt stands after what had begun, before what had not")
        below = picture.items[len(above) + 1 :]
        must(not isinstance(next(iter(below), None), TurnItem), "no receipt parts what belongs")
        others = [one for one in above if not isinstance(one, ReceiptItem)]
        after = others[-1:] == turns[-1:]
        must(after or not item.receipt.runs, "a receipt stands after what it ended")
    settled = sum(isinstance(f, Settled) for f in facts)
    must(sum(item.settled for item in items) == settled, "what has ended since is known")
