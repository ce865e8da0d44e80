"""What went wrong with a provider, whose client a model of LangChain's is around.

The client's error comes to the graph as it is, so that a team's own retries and fallbacks see what
they know. What comes out of the graph is told in one line of words.
"""

from __future__ import annotations

from typing import Any

from langgraph.errors import GraphRecursionError

from lastword.engines.kit.declined import declined
from lastword.engines.kit.trouble import ModelFailed, error_in, no_answer, of_http, unreached
from lastword.errors import EngineFailed

_KINDS = ("type", "code", "status")
_CLIENTS = ("openai", "anthropic", "google", "httpx", "httpcore", "mistralai", "groq", "cohere")
_GARBLED = (AttributeError, TypeError, LookupError, ValueError)  # what reading a non-answer raises
_TOO_LONG = "the graph did not come to an end within its limit of steps (recursion_limit)"


def in_words(error: Exception, model: str, *, begun: bool) -> ModelFailed | None:
    """An error of asking a model, in words; None, if it is nothing that a provider did."""
    if isinstance(error, EngineFailed):
        return None
    status, fields, message = _read(error)
    if status >= 400:
        return of_http(status, message, model=model, begun=begun)
    if type(error).__module__.partition(".")[0] in _CLIENTS:
        if fields:  # it came inside of a stream
            return unreached(message, model=model, begun=begun, failed=True)
        why = str(error.__cause__ or error)
        return unreached(why, model=model, begun=begun, failed=begun)
    if isinstance(error, _GARBLED):
        return no_answer(type(error).__name__, model=model, begun=begun)
    return None


def declined_with(error: Exception) -> int:
    """The status with which a provider did not take what was in a request; 0, if it is not that."""
    status, fields, message = _read(error)
    kinds = [kind for name in _KINDS if isinstance(kind := fields.get(name), str)]
    if status < 400 and not fields:
        return 0
    return declined(status, kinds, message)


def of_graph(error: Exception) -> Exception:
    """What is told of an error that came out of a graph, and no provider made."""
    if isinstance(error, GraphRecursionError):
        failed = EngineFailed(_TOO_LONG)
        failed.kind = _TOO_LONG
        return failed
    return error


def _read(error: Exception) -> tuple[int, dict[str, Any], str]:
    """The status of a provider's answer, what it says of the error, and in which words."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    status = status if isinstance(status, int) else 0
    fields = error_in(getattr(error, "body", None))
    said = fields.get("message") or getattr(error, "message", "") or error
    return status, fields, str(said)
