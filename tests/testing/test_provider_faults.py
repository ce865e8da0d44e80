"""The scripted provider, when things go wrong or slowly: faults, pacing, and who left when."""

import asyncio
from typing import Any

import anthropic
import openai
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from lastword.testing.provider import Answer, Call, Provider, Say, Think

USER: Any = [{"role": "user", "content": "hi"}]
FORMATS = ["chat", "responses", "anthropic"]
STATUSES: dict[int, tuple[type[Exception], type[Exception]]] = {
    400: (openai.BadRequestError, anthropic.BadRequestError),
    401: (openai.AuthenticationError, anthropic.AuthenticationError),
    404: (openai.NotFoundError, anthropic.NotFoundError),
    429: (openai.RateLimitError, anthropic.RateLimitError),
    500: (openai.InternalServerError, anthropic.InternalServerError),
    529: (openai.InternalServerError, anthropic.InternalServerError),
}


class Client:
    """A real client of each format, with one way to ask."""

    def __init__(self, provider: Provider, format: str, retries: int = 0) -> None:
        self.openai = AsyncOpenAI(
            base_url=f"{provider.url}/v1", api_key="k", max_retries=retries, timeout=20
        )
        self.anthropic = AsyncAnthropic(
            base_url=provider.url, api_key="k", max_retries=retries, timeout=20
        )
        self.format = format

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.openai.close()
        await self.anthropic.close()

    async def ask(self, *, stream: bool = False) -> Any:
        match self.format:
            case "chat":
                chat: Any = self.openai.chat.completions.create
                return await chat(model="m", messages=USER, stream=stream)
            case "responses":
                responses: Any = self.openai.responses.create
                return await responses(model="m", input=USER, stream=stream)
            case _:
                messages: Any = self.anthropic.messages.create
                return await messages(model="m", messages=USER, max_tokens=9, stream=stream)

    def text(self, event: Any) -> str:
        """What a stream's event says."""
        match self.format:
            case "chat":
                return (event.choices[0].delta.content or "") if event.choices else ""
            case "responses":
                return event.delta if event.type == "response.output_text.delta" else ""
            case _:
                return event.delta.text if event.type == "content_block_delta" else ""


async def next_text(client: Client, stream: Any) -> str:
    while True:
        if text := client.text(await anext(stream)):
            return text


async def all_of(stream: Any) -> list[Any]:
    return [event async for event in stream]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("status", STATUSES)
async def test_a_failure_is_the_clients_own_error(format: str, status: int) -> None:
    async with Provider() as provider, Client(provider, format) as client:
        provider.fail(status, "that went wrong")
        with pytest.raises(STATUSES[status][format == "anthropic"], match="that went wrong"):
            await client.ask()


@pytest.mark.parametrize("format", FORMATS)
async def test_a_client_that_tries_again_gets_the_next_answer(format: str) -> None:
    async with Provider() as provider, Client(provider, format, retries=1) as client:
        provider.fail(429, "slow down", retry_after=0.001)
        provider.say("there")
        stream = await client.ask(stream=True)
        texts = [text for event in await all_of(stream) if (text := client.text(event))]

    assert texts == ["there"]
    assert len(provider.requests) == 2


async def test_a_client_is_told_when_to_come_back() -> None:
    async with Provider() as provider, Client(provider, "chat") as client:
        provider.fail(429, "slow down", retry_after=7)
        with pytest.raises(openai.RateLimitError) as caught:
            await client.ask()

    assert caught.value.response.headers["retry-after"] == "7"


@pytest.mark.parametrize("format", FORMATS)
async def test_a_stream_can_fail_in_the_middle(format: str) -> None:
    async with Provider() as provider, Client(provider, format) as client:
        provider.fail(529, "overloaded", after=[Say("a", "b")])
        stream = await client.ask(stream=True)
        assert await next_text(client, stream) == "a"
        try:
            events = await all_of(stream)
        except (openai.APIError, anthropic.APIError) as error:
            assert "overloaded" in str(error)
        else:
            assert events[-1].type == "error"
            assert events[-1].message == "overloaded"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("format", FORMATS)
async def test_a_connection_can_break_in_the_middle(format: str, stream: bool) -> None:
    async with Provider() as provider, Client(provider, format) as client:
        provider.cut("a", "b")
        with pytest.raises(Exception, match=r"(?i)connection|incomplete|closed"):
            await all_of(await client.ask(stream=stream))

    assert not provider.requests[0].finished.is_set()


@pytest.mark.parametrize("format", FORMATS)
async def test_a_provider_that_hangs_learns_that_the_client_gave_up(format: str) -> None:
    async with Provider() as provider, Client(provider, format) as client:
        provider.hang()
        asking = asyncio.create_task(client.ask(stream=True))
        request = await provider.asked()
        asking.cancel()
        await asyncio.wait([asking])
        await request.closed.wait()

    assert request.sent == 0
    assert not request.finished.is_set()


async def test_what_nobody_scripted_is_refused_without_being_tried_again() -> None:
    async with Provider() as provider, Client(provider, "chat", retries=3) as client:
        with pytest.raises(openai.BadRequestError, match="nothing is scripted for request 1"):
            await client.ask()

    assert len(provider.requests) == 1


@pytest.mark.parametrize("format", FORMATS)
async def test_a_paced_answer_leaves_chunk_by_chunk_as_the_test_says(format: str) -> None:
    async with Provider() as provider, Client(provider, format) as client:
        answer = provider.say("a", "b", "c", paced=True)
        stream = await client.ask(stream=True)
        request = await provider.asked()
        assert request.sent == 0

        await answer.release()
        assert (await next_text(client, stream), request.sent) == ("a", 1)
        await answer.release(2)
        assert [await next_text(client, stream) for _ in "bc"] == ["b", "c"]
        assert (request.sent, request.finished.is_set()) == (3, False)
        await answer.release()
        assert request.finished.is_set()
        await all_of(stream)

    assert request.sent == 3


@pytest.mark.parametrize("format", FORMATS)
async def test_every_part_is_as_many_chunks_in_every_format(format: str) -> None:
    async with Provider() as provider, Client(provider, format) as client:
        parts = Think("a", "b"), Think(), Say("c"), Call("x", {"y": 1}, pieces=2)
        provider.answer(*parts)
        await all_of(await client.ask(stream=True))

    assert provider.requests[0].sent == 2 + 1 + 1 + 3


async def test_a_paced_answer_can_be_let_go() -> None:
    async with Provider() as provider, Client(provider, "chat") as client:
        answer = provider.say("a", "b", paced=True)
        answer.step()
        stream = await client.ask(stream=True)
        assert await next_text(client, stream) == "a"
        answer.free()
        assert await next_text(client, stream) == "b"
        await answer.release()


async def test_a_paced_answer_in_one_piece_is_one_step() -> None:
    async with Provider() as provider, Client(provider, "chat") as client:
        answer = provider.say("a", "b", paced=True)
        asking = asyncio.create_task(client.ask())
        request = await provider.asked()
        assert not request.finished.is_set()

        await answer.release()
        assert (await asking).choices[0].message.content == "ab"


async def test_an_answer_can_take_its_time() -> None:
    async with Provider() as provider, Client(provider, "chat") as client:
        provider.say("a", "b", every=0.05)
        await all_of(await client.ask(stream=True))
        took = asyncio.get_running_loop().time() - provider.requests[0].when

    assert took >= 0.14  # two chunks and the end


@pytest.mark.parametrize("format", FORMATS)
async def test_a_client_that_leaves_is_noticed_and_gets_nothing_more(format: str) -> None:
    async with Provider() as provider, Client(provider, format) as client:
        answer = provider.say("a", "b", "c", paced=True)
        stream = await client.ask(stream=True)
        request = await provider.asked()
        await answer.release()
        assert await next_text(client, stream) == "a"
        left = asyncio.get_running_loop().time()
        await stream.close()
        await request.closed.wait()

        assert (request.sent, request.sent_after_close) == (1, 0)
        await answer.release(2)
        await answer.release()

    assert (request.sent, request.sent_after_close) == (1, 2)
    assert request.closed_at
    assert request.closed_at >= left
    assert not request.finished.is_set()


@pytest.mark.parametrize("format", FORMATS)
async def test_an_answer_stops_by_itself_when_the_client_leaves(format: str) -> None:
    async with Provider() as provider, Client(provider, format) as client:
        answer = provider.say(*"abcdefgh" * 1000, every=0.001)
        stream = await client.ask(stream=True)
        assert await next_text(client, stream) == "a"
        await stream.close()
        request = await provider.asked()
        await request.closed.wait()
        sent = request.sent
        await answer.release()  # returns when the answer is over

    assert answer.over
    assert (request.sent, request.sent_after_close) == (sent, 0)
    assert sent < 8000


@pytest.mark.parametrize("format", FORMATS)
async def test_a_cancelled_reader_closes_the_connection(format: str) -> None:
    async with Provider() as provider, Client(provider, format) as client:
        answer = provider.say("a", "b", paced=True)

        async def read() -> None:
            async with await client.ask(stream=True) as stream:
                await all_of(stream)

        reading = asyncio.create_task(read())
        request = await provider.asked()
        await answer.release()
        reading.cancel()
        await asyncio.wait([reading])
        await request.closed.wait()

    assert request.sent == 1


async def test_one_connection_serves_many_requests() -> None:
    async with Provider() as provider, Client(provider, "chat") as client:
        for n in range(20):
            provider.say(str(n))
            provider.say(str(n))
            assert (await client.ask()).choices[0].message.content == str(n)
            await all_of(await client.ask(stream=True))

    assert len(provider.requests) == 40
    assert [request for request in provider.requests if request.closed.is_set()] == []


async def test_a_client_that_leaves_after_the_answer_has_closed_nothing() -> None:
    async with Provider() as provider, Client(provider, "chat") as other:
        provider.say("a")
        provider.say("b")
        async with Client(provider, "chat") as client:
            await client.ask()
        await other.ask()  # by then, the server has heard that the first one left

    assert provider.requests[0].finished.is_set()
    assert not provider.requests[0].closed.is_set()


async def test_a_provider_that_closes_leaves_nothing_behind() -> None:
    before = asyncio.all_tasks()
    async with Provider() as provider, Client(provider, "chat") as client:
        provider.hang()
        paced = provider.say("a", paced=True)
        never = provider.say("never asked for", paced=True)
        hanging = asyncio.create_task(client.ask())
        await provider.asked(1)
        stream = await client.ask(stream=True)
        await provider.asked(2)
        await provider.__aexit__(None, None, None)

        with pytest.raises(openai.APIConnectionError):
            await hanging
        with pytest.raises(Exception, match=r"(?i)connection|incomplete|closed"):
            await all_of(stream)
        await asyncio.gather(paced.release(), never.release())

    assert asyncio.all_tasks() == before


async def test_many_clients_are_answered_at_once_each_with_its_own_script() -> None:
    async with Provider() as provider, Client(provider, "chat") as client:
        provider.always(lambda request: Answer(f"{request.number}", every=0.001))
        streams = [await client.ask(stream=True) for _ in range(20)]
        told = await asyncio.gather(*(next_text(client, stream) for stream in streams))
        for stream in streams:
            await stream.close()

    assert sorted(told, key=int) == [str(n) for n in range(1, 21)]
