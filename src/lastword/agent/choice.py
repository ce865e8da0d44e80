"""Which model is meant: by name, by what the environment has a key for, or the rehearsal.

No client of a provider is imported to find out.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lastword.errors import LastwordError

REHEARSAL = "rehearsal"
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


class ModelChoice(NamedTuple):
    """A model by name, the key that it is asked with, and where, if that was said."""

    name: str
    key: str = ""
    base_url: str = ""

    @property
    def provider(self) -> str:
        """Whose it is."""
        return self.name.partition(":")[0]


def chosen(
    name: str | None = None,
    *,
    base_url: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> ModelChoice:
    """The model of that name; without one, what there is a key for; else the rehearsal.

    With `base_url`, or OPENAI_BASE_URL for what is called openai, it is asked there.
    """
    if base_url:
        if not name:
            raise ModelUnavailable(f"say which model to ask {base_url} for, with --model")
        return ModelChoice(name, _key(_KEYS["openai"], environment), base_url)
    name = name or next((model for key, model in _BY_KEY.items() if _key((key,), environment)), "")
    if (name or _NAMELESS).startswith("openai:") and (url := environment.get("OPENAI_BASE_URL")):
        return ModelChoice(name or _NAMELESS, _key(_KEYS["openai"], environment), url)
    if name in ("", REHEARSAL):
        return ModelChoice(REHEARSAL)
    if ":" not in name:
        raise ModelUnavailable(
            f"model {name!r} does not say whose it is; write openai:{name}, anthropic:{name} or "
            f"google:{name}, or give --base-url"
        )
    return ModelChoice(name, _key(_KEYS.get(name.partition(":")[0], ()), environment))


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
