"""Whether a request failed for what was in it, so that less is to be asked the next time.

A provider's status decides, and the type and the code of its error. Its message may quote what it
was sent, so of that only the beginning counts, where it speaks for itself. In doubt it was what
was in it: then less is tried, and what does not help is not left out.
"""

from __future__ import annotations

import re
from typing import Any, cast

from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError

from lastword.engines.pydantic_ai.trouble import ModelFailed

_FOR_WHAT_IS_IN_IT = (400, 413, 422)
_ANOTHER_KIND = re.compile(
    r"context|quota|billing|credit|balance|api_?key|authenti|unauthori|permission|rate_?limit|"
    r"overload|server_error|timeout|not_found",
    re.IGNORECASE,
)
_OF_CONTENT = re.compile(  # inside a stream, where there is no status
    r"invalid|content|prompt|image|policy|safety|moderation|unprocessable|too_large|too_long",
    re.IGNORECASE,
)
_ANOTHER_REASON = re.compile(  # said by those who have no code for it
    r"(this model's )?maximum context length|prompt is too long|too many tokens|max_\w*tokens|"
    r"input length and `?max_tokens|(your |the )?(input|request|prompt)( token count)?[ \d(),]*"
    r"exceeds? the (context|maximum|available)|please reduce the length|"
    r"(your )?credit balance|api key|you exceeded your current quota",
    re.IGNORECASE,
)
# the framework's, of any model: where it is asked, and where its answer is read
_ASKING, _READING = "request_stream", {"_process_streamed_response", "_get_event_iterator"}


class Unsendable(ModelFailed):
    """No request could be made of what there is to show."""


def declined(error: Exception) -> int:
    """The status with which a provider did not take what was in a request; 0 if it is not that.

    It is not that a key is wrong, the account has run out or the conversation is too long. What
    cannot even be put into a request is a status 400 that was never sent.
    """
    if isinstance(error, NotImplementedError | Unsendable) or str(error).startswith("Unsupported"):
        return 400
    if not isinstance(error, ModelAPIError):
        return 0
    status = error.status_code if isinstance(error, ModelHTTPError) else 0
    kinds, message = _structured(error)
    if any(map(_ANOTHER_KIND.search, kinds)) or _ANOTHER_REASON.match(message):
        return 0
    if status >= 400:
        return status if status in _FOR_WHAT_IS_IN_IT else 0
    return 400 if any(map(_OF_CONTENT.search, kinds)) else 0


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
    while isinstance(body, dict) and isinstance(cast("dict[str, Any]", body).get("error"), dict):
        body = cast("dict[str, Any]", body)["error"]
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    named = [fields.get(name) for name in ("type", "code", "status")]
    named += [getattr(error, f"provider_error_{name}", None) for name in ("type", "code")]
    message = fields.get("message") or (body if isinstance(body, str) else error.message)
    return [kind for kind in named if isinstance(kind, str)], str(message).strip()
