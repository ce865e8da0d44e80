"""What went wrong with a provider, in one line that a person understands."""

from __future__ import annotations

from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError, UsageLimitExceeded

from lastword.errors import EngineFailed

_WHY = {
    400: "did not take the request",
    401: "refused the key",
    403: "does not allow this key to do that",
    404: "does not know this model, or there is nothing at this address",
    429: "is asked too often, or the account has run out",
}


class ModelFailed(EngineFailed):
    """The model could not be asked. What was said so far is kept."""


def in_words(error: ModelAPIError | UsageLimitExceeded) -> ModelFailed:
    """The same error, said so that somebody can do something about it."""
    if isinstance(error, UsageLimitExceeded):
        return ModelFailed(str(error))
    if isinstance(error, ModelHTTPError):
        status = error.status_code
        why = _WHY.get(status, "is in trouble itself" if status >= 500 else "refused")
        return ModelFailed(f"{error.model_name}: the provider {why} (HTTP {status}){_said(error)}")
    return ModelFailed(f"{error.model_name}: the provider cannot be reached ({error.message})")


def _said(error: ModelHTTPError) -> str:
    body = error.body
    while isinstance(body, dict) and "error" in body:
        body = body["error"]  # pyright: ignore[reportUnknownVariableType] - as it comes from outside
    text = body.get("message") if isinstance(body, dict) else body  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return f": {text[:300]}" if isinstance(text, str) and text else ""
