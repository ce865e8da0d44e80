"""The scripted provider, as the real clients see it: what they parse is what was scripted."""

import json
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI, BadRequestError

from lastword.testing.provider import Call, Provider, Request, Say, Think

TEXT = "Hello wörld"
PARTS = (Think("hm, ", "yes"), Say("a", "b"), Call("read", {"path": "x"}, pieces=3), Call("list"))


def openai(provider: Provider) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="k", max_retries=0)


def anthropic(provider: Provider) -> AsyncAnthropic:
    return AsyncAnthropic(base_url=provider.url, api_key="k", max_retries=0)


def user(text: str = "hi") -> Any:
    return [{"role": "user", "content": text}]


async def test_chat_in_one_piece() -> None:
    async with Provider() as provider, openai(provider) as client:
        provider.say("Hello ", "wörld")
        done = await client.chat.completions.create(model="m", messages=user())

    [choice] = done.choices
    assert (choice.message.content, choice.finish_reason) == (TEXT, "stop")
    assert done.usage
    assert done.usage.total_tokens == done.usage.prompt_tokens + done.usage.completion_tokens > 0
    assert (done.id[:9], done.model) == ("chatcmpl-", "m")


async def test_chat_chunk_by_chunk() -> None:
    async with Provider() as provider, openai(provider) as client:
        provider.say("Hello ", "wörld")
        options: Any = {"include_usage": True}
        stream = await client.chat.completions.create(
            model="m", messages=user(), stream=True, stream_options=options
        )
        chunks = [chunk async for chunk in stream]

    texts = [chunk.choices[0].delta.content for chunk in chunks[:-1]]
    assert texts == ["", "Hello ", "wörld", None]
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage
    assert [chunk.usage for chunk in chunks[:-1]] == [None] * 4


async def test_chat_thinks_and_calls_tools_in_parallel() -> None:
    async with Provider() as provider, openai(provider) as client:
        provider.answer(*PARTS)
        provider.answer(*PARTS)
        done = await client.chat.completions.create(model="m", messages=user())
        async with client.chat.completions.stream(model="m", messages=user()) as stream:
            chunks = [event.chunk async for event in stream if event.type == "chunk"]
            streamed = await stream.get_final_completion()

    extra = [chunk.choices[0].delta.model_extra or {} for chunk in chunks]
    assert [one["reasoning_content"] for one in extra if one] == ["hm, ", "yes"]
    assert done.choices[0].message.model_extra == {"reasoning_content": "hm, yes"}
    for completion in (done, streamed):
        [choice] = completion.choices
        assert (choice.message.content, choice.finish_reason) == ("ab", "tool_calls")
        calls = choice.message.tool_calls or []
        given = [(c.function.name, c.function.arguments) for c in calls if c.type == "function"]
        assert given == [("read", '{"path": "x"}'), ("list", "{}")]
        assert len({call.id for call in calls}) == 2


async def test_responses_in_one_piece() -> None:
    async with Provider() as provider, openai(provider) as client:
        provider.say("Hello ", "wörld")
        done = await client.responses.create(model="m", input="hi")

    assert (done.output_text, done.status) == (TEXT, "completed")
    assert done.usage
    assert done.usage.total_tokens > 0


async def test_responses_event_by_event() -> None:
    async with Provider() as provider, openai(provider) as client:
        provider.say("Hello ", "wörld")
        stream = await client.responses.create(model="m", input="hi", stream=True)
        events = [event async for event in stream]

    assert [event.type.removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert [event.sequence_number for event in events] == list(range(10))
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == TEXT


async def test_responses_reason_and_call_tools_in_parallel() -> None:
    include: Any = ["reasoning.encrypted_content"]
    async with Provider() as provider, openai(provider) as client:
        provider.answer(*PARTS)
        provider.answer(*PARTS)
        done = await client.responses.create(model="m", input="hi", include=include)
        async with client.responses.stream(model="m", input="hi", include=include) as stream:
            deltas = [event async for event in stream if event.type.endswith(".delta")]
            streamed = await stream.get_final_response()

    assert len(deltas) == 2 + 2 + 3 + 1
    for response in (done, streamed):
        reasoning, message, first, second = response.output
        assert reasoning.type == "reasoning"
        assert [part.text for part in reasoning.summary] == ["hm, yes"]
        assert reasoning.encrypted_content
        assert (message.type, response.output_text) == ("message", "ab")
        assert (first.type, second.type) == ("function_call", "function_call")
        assert first.type == "function_call"
        assert (first.name, first.arguments) == ("read", '{"path": "x"}')


async def test_a_reasoning_is_sealed_only_for_who_asked_for_that() -> None:
    async with Provider() as provider, openai(provider) as client:
        provider.answer(Think(), "x")
        done = await client.responses.create(model="m", input="hi")

    [reasoning, _] = done.output
    assert reasoning.type == "reasoning"
    assert (reasoning.summary, reasoning.encrypted_content) == ([], None)


async def test_anthropic_in_one_piece() -> None:
    async with Provider() as provider, anthropic(provider) as client:
        provider.say("Hello ", "wörld")
        done = await client.messages.create(model="m", messages=user(), max_tokens=9)

    [block] = done.content
    assert block.type == "text"
    assert (block.text, done.stop_reason) == (TEXT, "end_turn")
    assert done.usage.input_tokens > 0


async def test_anthropic_event_by_event() -> None:
    async with Provider() as provider, anthropic(provider) as client:
        provider.say("Hello ", "wörld")
        stream = await client.messages.create(model="m", messages=user(), max_tokens=9, stream=True)
        events = [event async for event in stream]

    assert [event.type for event in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


async def test_anthropic_thinks_and_uses_tools_in_parallel() -> None:
    async with Provider() as provider, anthropic(provider) as client:
        provider.answer(*PARTS)
        provider.answer(*PARTS)
        done = await client.messages.create(model="m", messages=user(), max_tokens=9)
        async with client.messages.stream(model="m", messages=user(), max_tokens=9) as stream:
            streamed = await stream.get_final_message()

    for message in (done, streamed):
        thinking, text, first, second = message.content
        assert thinking.type == "thinking"
        assert thinking.thinking == "hm, yes"
        assert thinking.signature
        assert (text.type, message.stop_reason) == ("text", "tool_use")
        assert (first.type, second.type) == ("tool_use", "tool_use")
        assert first.type == "tool_use"
        assert (first.name, first.input) == ("read", {"path": "x"})


async def test_thinking_that_is_not_shown_is_redacted() -> None:
    async with Provider() as provider, anthropic(provider) as client:
        provider.answer(Think(), "x")
        async with client.messages.stream(model="m", messages=user(), max_tokens=9) as stream:
            done = await stream.get_final_message()

    assert [block.type for block in done.content] == ["redacted_thinking", "text"]


async def test_arguments_may_be_broken() -> None:
    broken = Call("other", raw='{"broken')
    async with Provider() as provider, openai(provider) as client:
        provider.answer(broken)
        provider.answer(broken)
        done = await client.chat.completions.create(model="m", messages=user())
        responded = await client.responses.create(model="m", input="hi")

    [call] = done.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert call.function.arguments == '{"broken'
    assert responded.output[0].type == "function_call"
    assert responded.output[0].arguments == '{"broken'


async def test_an_answer_may_have_run_out_of_tokens() -> None:
    async with Provider() as provider, openai(provider) as client, anthropic(provider) as other:
        for _ in range(3):
            provider.answer("so far", finish="length")
        chat = await client.chat.completions.create(model="m", messages=user())
        response = await client.responses.create(model="m", input="hi")
        message = await other.messages.create(model="m", messages=user(), max_tokens=9)

    assert chat.choices[0].finish_reason == "length"
    assert response.status == "incomplete"
    assert response.incomplete_details
    assert response.incomplete_details.reason == "max_output_tokens"
    assert message.stop_reason == "max_tokens"


async def test_both_clients_can_list_the_models() -> None:
    async with (
        Provider(models=["one", "two"]) as provider,
        openai(provider) as client,
        anthropic(provider) as other,
    ):
        names = [model.id async for model in client.models.list()]
        others = [model.id async for model in other.models.list()]

    assert names == others == ["one", "two"]


async def test_a_function_of_the_request_can_play_an_agent_loop() -> None:
    def script(request: Request) -> Say | Call:
        if request.results:
            return Say(f"{request.prompt}: {', '.join(request.results)}")
        return Call("read", {"path": "x"})

    async with Provider() as provider, openai(provider) as client, anthropic(provider) as other:
        provider.always(script)
        messages = user("what is in x?")
        chat = await client.chat.completions.create(model="m", messages=messages)
        [call] = chat.choices[0].message.tool_calls or []
        result: Any = {"role": "tool", "tool_call_id": call.id, "content": "gold"}
        asked: Any = chat.choices[0].message.model_dump(exclude_none=True)
        chat = await client.chat.completions.create(model="m", messages=[*messages, asked, result])

        response = await client.responses.create(model="m", input=messages)
        made: Any = [item.model_dump(exclude_none=True) for item in response.output]
        call_id = made[0]["call_id"]
        output: Any = {"type": "function_call_output", "call_id": call_id, "output": "gold"}
        response = await client.responses.create(model="m", input=[*messages, *made, output])

        used = await other.messages.create(model="m", messages=messages, max_tokens=9)
        uses: Any = {"role": "assistant", "content": [block.model_dump() for block in used.content]}
        block = {"type": "tool_result", "tool_use_id": uses["content"][0]["id"], "content": "gold"}
        messages += [uses, {"role": "user", "content": [block]}]
        message = await other.messages.create(model="m", messages=messages, max_tokens=9)

    assert chat.choices[0].message.content == response.output_text == "what is in x?: gold"
    assert json.loads(message.model_dump_json())["content"][0]["text"] == "what is in x?: gold"
    assert provider.refused == []


async def test_what_the_function_raises_is_raised_to_the_test() -> None:
    def script(request: Request) -> str:
        raise LookupError(f"no answer to {request.prompt}")

    async def story() -> None:
        async with Provider() as provider, openai(provider) as client:
            provider.always(script)
            with pytest.raises(BadRequestError, match="the script failed on request 1"):
                await client.chat.completions.create(model="m", messages=user())

    with pytest.raises(LookupError, match="no answer to hi"):
        await story()


async def test_every_request_is_kept() -> None:
    async with Provider() as provider, openai(provider) as client, anthropic(provider) as other:
        provider.say("a")
        provider.say("b")
        await client.chat.completions.create(model="m", messages=user("one"))
        await other.messages.create(model="m", messages=user("two"), max_tokens=9)
        first, second = await provider.asked(1), await provider.asked(2)

    assert provider.requests == [first, second]
    assert (first.path, first.format, first.prompt) == ("/v1/chat/completions", "chat", "one")
    assert (second.path, second.format, second.prompt) == ("/v1/messages", "anthropic", "two")
    assert first.headers["authorization"] == second.headers["authorization"] == "Bearer k"
    assert "anthropic-version" in second.headers
    assert first.when <= second.when
    assert first.finished.is_set()
    assert not first.closed.is_set()
