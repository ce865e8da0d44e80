"""Gemini, as Google's own client reads it."""
# pyright: reportUnknownMemberType=false
# its client's types name types of libraries that are not here

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from google.genai import Client, errors, types

from lastword.testing.provider import Answer, Call, Provider, Say, Think


@asynccontextmanager
async def asked() -> AsyncGenerator[tuple[Provider, Client]]:
    async with Provider() as provider:
        options = types.HttpOptions(base_url=provider.url)
        client = Client(api_key="no key", http_options=options)
        try:
            yield provider, client
        finally:
            await client.aio.aclose()


async def test_words_thoughts_and_calls_come_as_the_script_has_them() -> None:
    async with asked() as (provider, client):
        provider.answer(Think("hm"), Say("two ", "words"), Call("act", {"n": 1}))
        parts: list[types.Part] = []
        async for chunk in await client.aio.models.generate_content_stream(
            model="scripted", contents="go"
        ):
            content = chunk.candidates[0].content if chunk.candidates else None
            parts += (content.parts or []) if content else []

    assert "".join(one.text or "" for one in parts if one.thought) == "hm"
    assert "".join(one.text or "" for one in parts if not one.thought) == "two words"
    [call] = [one.function_call for one in parts if one.function_call]
    assert (call.name, call.args) == ("act", {"n": 1})
    assert provider.requests[0].format == "gemini"
    assert provider.requests[0].prompt == "go"


async def test_an_answer_in_one_piece_has_its_end_and_its_cost() -> None:
    async with asked() as (provider, client):
        provider.answer(Say("well"), finish="length")
        whole = await client.aio.models.generate_content(model="scripted", contents="go")

    assert whole.text == "well"
    assert whole.candidates
    assert whole.candidates[0].finish_reason == types.FinishReason.MAX_TOKENS
    assert whole.usage_metadata
    assert whole.usage_metadata.candidates_token_count


async def test_a_result_is_read_and_a_history_without_one_is_refused() -> None:
    call = types.Part.from_function_call(name="act", args={})
    given = types.Part.from_function_response(name="act", response={"gold": 1})
    turns: list[types.Content] = [
        types.Content(role="user", parts=[types.Part.from_text(text="go")]),
        types.Content(role="model", parts=[call]),
    ]
    async with asked() as (provider, client):
        provider.always(lambda request: Answer(Say(*request.results)))
        full = [*turns, types.Content(role="user", parts=[given])]
        answered = await client.aio.models.generate_content(model="scripted", contents=list(full))
        with pytest.raises(errors.ClientError, match="function response parts"):
            await client.aio.models.generate_content(
                model="scripted", contents=[*turns, *turns[:1]]
            )

    assert answered.text == '{"gold": 1}'
