"""What happened in one run of a story, in order: for whoever wants to see it and not be told."""

from __future__ import annotations

from typing import Any

from lastword.check.round import Round
from lastword.check.stage import Stage

_MOST = 200  # moments of one run


def timeline(stage: Stage, began: float) -> list[dict[str, Any]]:
    """The moments of a run, in seconds since it began; the words that came in between are one."""
    moments = [*stage.moments]
    for one in stage.rounds:
        moments += _of_round(one)
        for request in stage.model.requests(one.run):
            moments.append((request.when, "the model is asked", one.run))
            if request.closed_at is not None:
                moments.append((request.closed_at, "the model is hung up on", one.run))
        beats: set[str] = set()
        for deed in stage.deeds.of(one.run):
            if deed["what"] != "beat":
                what = f"{deed['tool']} {deed['n']}: {deed['what']}"
                moments.append((deed["t"], what, f"{one.run}, pid {deed['pid']}"))
            elif deed["part"] not in beats:
                beats.add(deed["part"])
                last = max(d["t"] for d in stage.beating_deeds(one, deed["part"]))
                of = f"{one.run}, pid {deed['pid']}"
                moments.append((deed["t"], f"process {deed['part']} begins", of))
                moments.append((last, f"process {deed['part']}: last sign", of))
    told = sorted(moments, key=lambda moment: moment[0])
    return [{"at": round(at - began, 3), "what": what, "of": of} for at, what, of in told][:_MOST]


def _of_round(one: Round) -> list[tuple[float, str, str]]:
    found = [(one.sent_at, "message", one.run)]
    if one.answered_at is not None:
        found.append((one.answered_at, "ANSWER", f"{one.run}: {one.outcome}"[:200]))
    for what, pieces in (("word", one.heard), ("thought", one.thoughts)):
        for side, these in _sides(one, pieces).items():
            if these:
                found.append((these[0], f"first {what} {side}", one.run))
                found.append((these[-1], f"last {what} {side} ({len(these)} pieces)", one.run))
    return found


def _sides(one: Round, pieces: list[tuple[float, str]]) -> dict[str, list[float]]:
    end = one.answered_at
    before = [at for at, _ in pieces if end is None or at <= end]
    return {
        "before the answer": before,
        "AFTER the answer": [at for at, _ in pieces][len(before) :],
    }
