"""What went wrong with a model or its provider, in one line that a person understands.

The person is told what the provider said. The model of a later turn is told only of what kind the
error was: a provider may quote what it refuses.
"""

from __future__ import annotations

from typing import Any, cast

from lastword.errors import EngineFailed

BROKE_OFF = "the answer broke off: the provider did not say that it was all"
UNSENDABLE = "no request can be made of what there is to show the model"
NO_ANSWER = "the provider sent something that is not an answer"
UNREACHED = "the provider failed, or could not be reached"
_WHY = {
    400: "did not take the request",
    401: "refused the key",
    403: "does not allow this key to do that",
    404: "does not know this model, or there is nothing at this address",
    429: "is asked too often, or the account has run out",
}
_LONGEST = 300  # letters of what a provider says


class ModelFailed(EngineFailed):
    """The model could not be asked, or did not answer. What was said so far is kept."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(" ".join(message.split()))
        self.kind = kind


def of_http(status: int, said: str = "", *, model: str = "", begun: bool = False) -> ModelFailed:
    """A provider's status, and what it said of it; `begun` if a part of the answer was told."""
    why = _WHY.get(status, "is in trouble itself" if status >= 500 else "refused")
    kind = f"the provider {why} (HTTP {status})"
    return _failed(f"{kind}: {quoted(said)}" if said else kind, kind, model, begun=begun)


def unreached(
    said: str = "", *, model: str = "", begun: bool = False, failed: bool = False
) -> ModelFailed:
    """A provider that could not be reached, or `failed` after it was."""
    why = "failed" if failed else "cannot be reached"
    return _failed(f"the provider {why} ({quoted(said)})", UNREACHED, model, begun=begun)


def no_answer(why: str = "", *, model: str = "", begun: bool = False) -> ModelFailed:
    """What came cannot be read as an answer."""
    return _failed(f"{NO_ANSWER} ({why})" if why else NO_ANSWER, NO_ANSWER, model, begun=begun)


def quoted(said: str) -> str:
    """As much of somebody else's words as can stand in a line."""
    return said[:_LONGEST]


def error_in(body: object) -> dict[str, Any]:
    """What a provider's body says of an error, however deep it lies; a text is its message."""
    while isinstance(body, dict) and "error" in body:
        body = cast("dict[str, Any]", body)["error"]
    if isinstance(body, str):
        return {"message": body}
    return cast("dict[str, Any]", body) if isinstance(body, dict) else {}


def _failed(line: str, kind: str, model: str, *, begun: bool) -> ModelFailed:
    named = f"{model}: {line}" if model else line
    return ModelFailed(f"the answer broke off: {named}" if begun else named, kind)
