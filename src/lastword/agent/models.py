"""Which model answers: by name, by what the environment has a key for, or the rehearsal."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider_class

from lastword.agent.rehearsal import Rehearsal
from lastword.errors import LastwordError

_BY_KEY = {
    "OPENAI_API_KEY": "openai:gpt-5.2",
    "ANTHROPIC_API_KEY": "anthropic:claude-opus-5-5",
    "GOOGLE_API_KEY": "google:gemini-flash-latest",
    "GEMINI_API_KEY": "google:gemini-flash-latest",
}
_NAMELESS = _BY_KEY["OPENAI_API_KEY"]  # what is asked for where only an address is known
_KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "openai-chat": ("OPENAI_API_KEY",),
    "openai-responses": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}


class ModelUnavailable(LastwordError):
    """The model that was asked for cannot be had, and why."""


def model_named(
    name: str | None = None,
    *,
    base_url: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Model:
    """The model of that name, as `provider:model`; without one, what there is a key for.

    With `base_url`, or OPENAI_BASE_URL for what is called openai, whatever speaks OpenAI's chat
    completions there. With no name, no address and no key, the rehearsal, which is not a language
    model and says so.
    """
    if base_url:
        return _compatible(name, base_url, _key(_KEYS["openai"], environment))
    name = name or next(
        (model for key, model in _BY_KEY.items() if _key((key,), environment)), None
    )
    if (name or _NAMELESS).startswith("openai:") and (url := environment.get("OPENAI_BASE_URL")):
        return _compatible(name or _NAMELESS, url, _key(_KEYS["openai"], environment))
    if name in (None, "rehearsal"):
        return Rehearsal()
    if ":" not in name:
        raise ModelUnavailable(
            f"model {name!r} does not say whose it is; write openai:{name}, anthropic:{name} or "
            f"google:{name}, or give --base-url"
        )
    key = _key(_KEYS.get(name.partition(":")[0], ()), environment)
    try:
        return infer_model(name, partial(_provider, key)) if key else infer_model(name)
    except (UserError, ValueError, ImportError) as error:
        raise ModelUnavailable(f"model {name} cannot be used: {_why(error)}") from error


def _key(names: Sequence[str], environment: Mapping[str, str]) -> str:
    """The first of these keys that is set, as it can be sent: without what was pasted around it."""
    for name in names:
        if key := environment.get(name, "").strip():
            if not key.isascii() or not key.isprintable():
                raise ModelUnavailable(
                    f"{name} has a character that no key has, one that is not ASCII or not "
                    "printable; set it anew"
                )
            return key
    return ""


def _provider(key: str, name: str) -> Provider[Any]:
    return infer_provider_class(name)(api_key=key)  # pyright: ignore[reportCallIssue] - those in _KEYS take it


def _why(error: Exception) -> str:
    text = str(error)
    if key := re.search(r"[A-Z][A-Z_]*_API_KEY", text):
        return f"{key[0]} is not set"
    return text.partition("\n")[0] or type(error).__name__


def _compatible(name: str | None, base_url: str, key: str) -> Model:
    if not base_url.startswith(("http://", "https://")):
        raise ModelUnavailable(f"--base-url must begin with http:// or https://; it is {base_url}")
    if not name:
        raise ModelUnavailable(f"say which model to ask {base_url} for, with --model")
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - takes half a second
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    provider = OpenAIProvider(base_url=base_url, api_key=key or "none")
    return OpenAIChatModel(name.removeprefix("openai:"), provider=provider)
