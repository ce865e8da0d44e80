"""The requests to models that a run's process makes itself: told of here, counted and traced."""

from __future__ import annotations

from lastword.engines.isolated.line import Nonsense
from lastword.engines.isolated.shapes import Verb
from lastword.runtime.run import Run
from lastword.runtime.trace import ModelRequest
from lastword.runtime.tracing import RequestEnded

_MOST = 1000  # at a time
_LONGEST = 200  # letters of a name


class Models:
    """Those of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._asked = 0
        self._open: dict[int, ModelRequest] = {}
        number = int | None
        self.verbs = {
            "asks": Verb(self._asks, (int, str, str)),
            "answered": Verb(self._answered, (int, str, number, number, float | None, str, bool)),
            "used": Verb(self._used, (str, int, int)),
            "costs": Verb(self._costs, (str, int, int)),
        }

    def _asks(self, n: int, model: str, provider: str) -> None:
        if n != self._asked + 1 or len(self._open) >= _MOST:
            raise Nonsense(f"request {n} to a model, out of turn or one too many")
        self._asked = n
        self._open[n] = self._run.asks_model(model[:_LONGEST], provider[:_LONGEST])

    def _answered(
        self,
        n: int,
        model: str,
        input_tokens: int | None,
        output_tokens: int | None,
        first: float | None,
        error: str,
        cancelled: bool,
    ) -> None:
        if not 0 < n <= self._asked:
            raise Nonsense(f"an answer to request {n} to a model, which nobody made")
        if request := self._open.pop(n, None):
            told = RequestEnded(
                model[:_LONGEST], input_tokens, output_tokens, first, error[:_LONGEST], cancelled
            )
            request.over = told
            request.end()

    def _used(self, model: str, input_tokens: int, output_tokens: int) -> None:
        self._run.used(model[:_LONGEST], input_tokens, output_tokens)

    def _costs(self, model: str, input_tokens: int, output_tokens: int) -> None:
        self._run.costs(model[:_LONGEST], input_tokens, output_tokens)
