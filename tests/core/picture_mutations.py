"""Ways to break a picture, each of which the histories of its world have to find."""

from __future__ import annotations

import ast

from tests.mutations.changes import Change, always, compared, dropped, instead, never
from tests.mutations.mutation import Mutation


def picture(name: str, function: str, change: Change, found: str) -> Mutation:
    """A mistake in the fold."""
    return Mutation(name, f"core.picture:Picture.{function}", change, found)


def turns(name: str, function: str, change: Change, found: str) -> Mutation:
    """A mistake in what stands below one another."""
    return Mutation(name, f"core.turns:Turns.{function}", change, found)


PICTURE_MUTATIONS = (
    picture("what was heard is heard again", "hear", compared("number", ast.Lt), "words"),
    picture("a fence is not looked at", "_holds", never("is_silenced"), "words"),
    picture(
        "what follows what was held overtakes it",
        "_holds",
        instead("run in self._held", "False"),
        "calls",
    ),
    picture("what a run that was kept asks is fenced", "_holds", never("is_elsewhere"), "kept"),
    picture(
        "what a run that was kept asks is told as this session's",
        "_asked",
        instead("AskOpened(told.question, not elsewhere)", "AskOpened(told.question, True)"),
        "kept",
    ),
    picture(
        "a call of a run that was kept waits in this session",
        "_asked",
        instead("told.call not in self.waits and not elsewhere", "told.call not in self.waits"),
        "kept",
    ),
    picture("what another process has is told with its end", "hear", dropped("clear"), "words"),
    picture("what another process has is told", "hear", never("is_effect"), "words"),
    picture("what was held is never told", "_release", never("on"), "words"),
    picture(
        "what was held is told as if it happened",
        "_release",
        instead(
            "self._take(event.fact, event.generation, event.at, live=False)",
            "self._take(event.fact, event.generation, event.at, live=True)",
        ),
        "words",
    ),
    picture(
        "what waited with what was taken back is hidden",
        "_finished",
        always("started"),
        "collected",
    ),
    picture("a mark outlives its run", "_finished", never("active"), "words"),
    picture("a question outlives its run", "_take", dropped("_closed"), "calls"),
    picture("a wait has no end", "_unasked", instead("not one.until", "False"), "calls"),
    picture("what ended is still ending", "stands", dropped("settle"), "beside"),
    picture("a call that is made is about to be", "stands", dropped("being_made"), "calls"),
    picture("what was lost goes on", "_take", dropped("_lost"), "restart"),
    picture("what was lost is not doubted", "_lost", never("made"), "restart"),
    picture("what was lost is held for ever", "_release", instead("end.lost", "()"), "restart"),
    picture("a program that ended stays", "_program", always("ending"), "beside"),
    turns("a message waits when its turn has come", "_take", never("pending"), "words"),
    turns("what joins a run does not", "began", never("_turns"), "queue"),
    turns("two texts are never one", "uttered", never("last"), "words"),
    turns("what was dropped stands beside its receipt", "receipted", never("fate"), "queue"),
    turns("a receipt stands twice", "receipted", never("new", 0), "beside"),
    turns(
        "a stop at the same generation replaces another's receipt",
        "receipted",
        instead("item.key == new.key", "item.receipt.generation == receipt.generation"),
        "waiting",
    ),
    turns(
        "a receipt stands after what came later",
        "_place_of",
        instead("head.run in receipt.runs", "False"),
        "waiting",
    ),
    turns(
        "a receipt of what only waited stands where it was heard",
        "_place_of",
        instead("_is_later(head, receipt)", "False"),
        "waiting",
    ),
    turns(
        "a receipt stands between a message and its answer",
        "_place_of",
        instead("_is_answered(self.items[place - 1])", "False"),
        "waiting",
    ),
    turns(
        "a later receipt overtakes an earlier one",
        "_place_of",
        instead("isinstance(self.items[place], ReceiptItem)", "False"),
        "waiting",
    ),
    turns("what a person took back is said again", "_never_began", never("WITHDRAWN"), "queue"),
    turns("when it was fenced is forgotten", "receipted", dropped("_fenced"), "words"),
)
