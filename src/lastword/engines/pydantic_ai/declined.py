"""Whether the framework's errors tell of a request that failed for what was in it."""

from __future__ import annotations

from typing import Any

from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError

from lastword.engines.kit import declined as kit
from lastword.engines.kit.trouble import ModelFailed, error_in

# the framework's, of any model: where it is asked, and where its answer is read
_ASKING, _READING = "request_stream", {"_process_streamed_response", "_get_event_iterator"}


class Unsendable(ModelFailed):
    """No request could be made of what there is to show."""


def declined(error: Exception) -> int:
    """The status with which a provider did not take what was in a request; 0 if it is not that.

    What cannot even be put into a request is a status 400 that was never sent.
    """
    if isinstance(error, NotImplementedError | Unsendable) or str(error).startswith("Unsupported"):
        return kit.UNSENT
    if not isinstance(error, ModelAPIError):
        return 0
    status = error.status_code if isinstance(error, ModelHTTPError) else 0
    kinds, message = _structured(error)
    return kit.declined(status, kinds, message)


def was_sent(error: Exception) -> bool:
    """Whether what went wrong did so while an answer was read, not while a request was made."""
    trace, read = error.__traceback__, False
    while trace:
        name = trace.tb_frame.f_code.co_name
        read = name != _ASKING and (read or name in _READING)
        trace = trace.tb_next
    return read


def _structured(error: ModelAPIError) -> tuple[list[str], str]:
    """What an error is called by its provider, and what is said of it."""
    body: Any = getattr(error, "body", None) or getattr(error.__cause__, "body", None)
    fields = error_in(body)
    named = [fields.get(name) for name in ("type", "code", "status")]
    named += [getattr(error, f"provider_error_{name}", None) for name in ("type", "code")]
    message = fields.get("message") or error.message
    return [kind for kind in named if isinstance(kind, str)], str(message)
