"""The scripted provider answers by conversation: each session has its own script."""

import asyncio
from typing import Any

import openai
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from lastword.testing.provider import Answer, Call, Provider, Request

NAMES = ["ada", "bob", "eve", "kim"]


class Talk:
    """One session, as a client of the provider has it: it sends all that was said so far."""

    def __init__(self, provider: Provider, format: str, name: str) -> None:
        self._provider = provider
        self._format = format
        self._history: list[Any] = []
        self.name = name

    async def say(self, text: str) -> str:
        self._history.append({"role": "user", "content": text})
        answer = await self._ask()
        self._history.append({"role": "assistant", "content": answer})
        return answer

    async def _ask(self) -> str:
        url = self._provider.url
        if self._format == "anthropic":
            async with AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as other:
                done = await other.messages.create(model="m", max_tokens=9, messages=self._history)
                return str(done.to_dict()["content"][0]["text"])  # pyright: ignore[reportIndexIssue, reportUnknownArgumentType] - as JSON has it
        async with AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
            if self._format == "responses":
                return (await client.responses.create(model="m", input=self._history)).output_text
            chat = await client.chat.completions.create(model="m", messages=self._history)
            return chat.choices[0].message.content or ""


@pytest.mark.parametrize("format", ["chat", "responses", "anthropic"])
async def test_sessions_side_by_side_each_get_their_own_answers(format: str) -> None:
    async with Provider() as provider:
        for name in NAMES:
            own = provider.conversation(name)
            for turn in range(3):
                own.say(f"{name} {turn}")
        provider.say("for whoever else asks")

        async def talks(name: str) -> list[str]:
            talk = Talk(provider, format, name)
            first = await talk.say(f"I am {name}")
            return [first, await talk.say("and then?"), await talk.say("and then?")]

        # the last to be scripted is the first to ask
        heard = await asyncio.gather(*(talks(name) for name in reversed(NAMES)))
        other = await Talk(provider, format, "").say("I am nobody")

    assert heard == [[f"{name} {turn}" for turn in range(3)] for name in reversed(NAMES)]
    assert other == "for whoever else asks"
    assert provider.refused == []


async def test_a_conversation_never_takes_what_was_meant_for_others() -> None:
    async with Provider() as provider:
        own = provider.conversation("ada")
        provider.say("for whoever else asks")
        with pytest.raises(openai.BadRequestError, match="nothing is scripted for request 1"):
            await Talk(provider, "chat", "ada").say("I am ada")
        assert await Talk(provider, "chat", "bob").say("I am bob") == "for whoever else asks"

    assert [request.number for request in own.requests] == [1]


async def test_a_conversation_is_told_by_a_function_of_the_request_and_answers_by_one() -> None:
    def has_tools(request: Request) -> bool:
        return "tools" in request.body

    def counted(request: Request) -> Answer:
        return Answer(f"{len(request.said)} so far, last: {request.prompt}")

    async with Provider() as provider:
        provider.conversation(has_tools).answer(Call("read"))
        provider.conversation(lambda request: "count" in request.said[0]).always(counted)
        talk = Talk(provider, "responses", "ada")
        heard = [await talk.say("count"), await talk.say("on")]

    assert heard == ["1 so far, last: count", "2 so far, last: on"]


async def test_who_waits_for_a_conversation_is_given_its_own_requests() -> None:
    async with Provider() as provider:
        ada, bob = provider.conversation("ada"), provider.conversation("bob")
        paced = ada.say("a", "b", paced=True)
        bob.say("at once")
        asking = asyncio.create_task(Talk(provider, "chat", "ada").say("I am ada"))
        assert await Talk(provider, "chat", "bob").say("I am bob") == "at once"
        request = await ada.asked()
        paced.free()
        assert await asking == "ab"

    assert (request.prompt, len(ada.requests), len(bob.requests)) == ("I am ada", 1, 1)


async def test_a_request_that_is_refused_takes_nothing_from_its_conversation() -> None:
    async with Provider() as provider:
        own = provider.conversation("ada")
        own.say("still there")
        with pytest.raises(openai.BadRequestError):
            await Talk(provider, "chat", "ada").say("")
        assert await Talk(provider, "chat", "ada").say("I am ada") == "still there"

    assert [request.number for request in own.requests] == [2]


async def test_a_function_that_fails_is_told_when_the_provider_closes() -> None:
    def wrong(request: Request) -> bool:
        raise LookupError(request.number)

    async def asked() -> None:
        async with Provider() as provider:
            provider.conversation(wrong)
            with pytest.raises(openai.BadRequestError, match="the script failed"):
                await Talk(provider, "chat", "ada").say("I am ada")

    with pytest.raises(LookupError):
        await asked()
