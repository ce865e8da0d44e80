"""Long histories, made shorter before the model's window is full.

It is the run's own work: the request is the run's, and the summary is written down only if the run
still holds its session when it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, TextPart, UserPromptPart
from pydantic_ai.models import KnownModelName, Model

from lastword.core.transcript import Shown
from lastword.runtime.run import Run

_LETTERS = 4  # in a token, about
_ASK = (
    "Summarise this conversation for yourself: you will go on with the summary alone in its place. "
    "Keep what the person wants, what was decided, names, paths and numbers, what was done with "
    "which result, what was stopped and what may have executed. Write plainly, in at most "
    "{words} words.\n\n{conversation}"
)


@dataclass(frozen=True, slots=True)
class Compaction:
    """When to shorten, and to what."""

    window: int = 128_000  # tokens that the model can take in
    full: float = 0.75  # of it: then the older part is summarised
    keep: float = 0.25  # of it: what stays as it is, the newest
    words: int = 600  # of the summary

    async def __call__(self, run: Run, model: Model | KnownModelName | str) -> tuple[Shown, ...]:
        """What the model is to be shown, shortened if it has to be."""
        history = run.history
        if _size(history) < self.window * self.full * _LETTERS:
            return history
        older = self._older(history)
        if not older or older[-1].run is None:
            return history
        text = "\n".join(f"{item.role} {item.name}: {item.text}" for item in older)
        asked = UserPromptPart(_ASK.format(words=self.words, conversation=text))
        await run.progress("Summarising what was said so far.")
        run.must_hold("this request to the model")
        answer = await model_request(model, [ModelRequest([asked])])
        run.used(answer.model_name or "", answer.usage.input_tokens, answer.usage.output_tokens)
        summary = "".join(part.content for part in answer.parts if isinstance(part, TextPart))
        return await run.summarise(summary, upto=older[-1].run) if summary.strip() else history

    def _older(self, history: Sequence[Shown]) -> list[Shown]:
        """Whole turns, up to the oldest that fits into what is kept; never the one to answer."""
        runs = list(dict.fromkeys(item.run for item in history if item.run))
        kept, room = set(runs[-1:]), self.window * self.keep * _LETTERS
        for run in reversed(runs[:-1]):
            room -= _size([item for item in history if item.run == run])
            if room < 0:
                break
            kept.add(run)
        return [item for item in history if item.run and item.run not in kept]


def _size(history: Sequence[Shown]) -> int:
    return sum(len(item.text) + len(item.name) for item in history)
