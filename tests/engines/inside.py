"""The strict provider without a wire: real clients, whose requests are judged in the process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx2 as httpx
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from lastword.testing.provider import Answer, Failure, Format, Request, Say, judge
from lastword.testing.provider.formats import SPEECH
from lastword.testing.provider.marks import Marks
from lastword.testing.provider.strict import first_refused

URL = "http://inside"


class Strict(httpx.AsyncBaseTransport):
    """Judges each request, and answers what the function of it says."""

    def __init__(self, format: str, script: Callable[[Request], Answer | Failure | str]) -> None:
        self.format: Format = cast("Format", format)
        self.requests: list[Request] = []
        self.refused: list[str] = []
        self._script = script

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body: dict[str, Any] = json.loads(await request.aread())
        asked = Request(
            number=len(self.requests),
            method="POST",
            path=request.url.path,
            headers={},
            body=body,
            format=self.format,
            when=asyncio.get_running_loop().time(),
        )
        self.requests.append(asked)
        speech = SPEECH[self.format]
        if wrong := first_refused(judge(self.format, body)):
            self.refused.append(wrong.message)
            failure = Failure(wrong.rule.status, wrong.message)
            return httpx.Response(failure.status, json=speech.error(failure))
        says = self._script(asked)
        if isinstance(says, Failure):
            return httpx.Response(says.status, json=speech.error(says))
        answer = Answer(Say(says)) if isinstance(says, str) else says
        marks = Marks(f"r{asked.number}")
        if not body.get("stream"):
            return httpx.Response(200, json=speech.whole(answer, body, marks))
        told = speech.stream(answer, body, marks)
        return httpx.Response(
            200,
            content=b"".join([told.opening, *told.chunks, told.ending]),
            headers={"content-type": "text/event-stream"},
        )


@asynccontextmanager
async def strict(
    format: str, script: Callable[[Request], Answer | Failure | str] = lambda _: "fine"
) -> AsyncGenerator[tuple[Model, Strict]]:
    """A model behind such a provider, in one of the formats."""
    provider = Strict(format, script)
    async with httpx.AsyncClient(transport=provider) as http:
        if format == "anthropic":
            own = AsyncAnthropic(base_url=URL, api_key="k", max_retries=0, http_client=http)
            thinks = AnthropicModelSettings(anthropic_thinking={"type": "adaptive"})
            provided = AnthropicProvider(anthropic_client=own)
            yield AnthropicModel("claude-opus-4-8", provider=provided, settings=thinks), provider
            return
        client = AsyncOpenAI(base_url=f"{URL}/v1", api_key="k", max_retries=0, http_client=http)
        kind = OpenAIChatModel if format == "chat" else OpenAIResponsesModel
        yield kind("gpt-5", provider=OpenAIProvider(openai_client=client)), provider
