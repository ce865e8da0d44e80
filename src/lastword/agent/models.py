"""The model that was chosen, ready to be asked; or why it cannot be."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider_class

from lastword.agent.choice import REHEARSAL, ModelChoice, ModelUnavailable, chosen
from lastword.agent.rehearsal import Rehearsal
from lastword.extras import need


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
    choice = chosen(name, base_url=base_url, environment=environment)
    if choice.base_url:
        return _compatible(choice)
    if choice.name == REHEARSAL:
        return Rehearsal()
    if choice.provider.startswith("google"):
        need(f"model {choice.name}", "google")
    ours = partial(_provider, choice.key)
    try:
        return infer_model(choice.name, ours) if choice.key else infer_model(choice.name)
    except (UserError, ValueError, ImportError) as error:
        raise ModelUnavailable(f"model {choice.name} cannot be used: {_why(error)}") from error


def _provider(key: str, name: str) -> Provider[Any]:
    return infer_provider_class(name)(api_key=key)  # pyright: ignore[reportCallIssue] - those that have a key


def _why(error: Exception) -> str:
    text = str(error)
    if key := re.search(r"[A-Z][A-Z_]*_API_KEY", text):
        return f"{key[0]} is not set"
    return text.partition("\n")[0] or type(error).__name__


def _compatible(choice: ModelChoice) -> Model:
    url = choice.base_url
    if not url.startswith(("http://", "https://")):
        raise ModelUnavailable(f"--base-url must begin with http:// or https://; it is {url}")
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - takes half a second
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    provider = OpenAIProvider(base_url=url, api_key=choice.key or "none")
    return OpenAIChatModel(choice.name.removeprefix("openai:"), provider=provider)
