"""For each rule of OpenAI's formats: a request that breaks it, and one beside it that does not."""

from collections.abc import Callable
from typing import Any, TypeAlias

from lastword.testing.provider import Format
from lastword.testing.provider.marks import seal
from tests.testing.histories import (
    FC,
    MSG,
    OGG,
    PDF,
    RS,
    ZIP,
    body,
    call,
    calls,
    chat_file,
    chat_image,
    fc,
    fco,
    function,
    input_file,
    input_image,
    jpeg,
    png,
    reasoning,
    result,
    said,
    text,
    user,
)

MB = 1024 * 1024
Made: TypeAlias = Callable[[], dict[str, Any]]
Breach: TypeAlias = tuple[Format, Made, Made]  # made when it is needed: some are large


def chat(*messages: Any, **more: Any) -> Made:
    return lambda: body("chat", list(messages), **more)


def responses(*items: Any, **more: Any) -> Made:
    return lambda: body("responses", list(items), **more)


def audio(format: str) -> dict[str, Any]:
    return {"type": "input_audio", "input_audio": {"data": "AAAA", "format": format}}


def used(name: str, arguments: Any = "{}") -> list[dict[str, Any]]:
    return [user(), calls(call(name=name, arguments=arguments)), result()]


def many(part: Callable[[], dict[str, Any]], n: int) -> Made:
    return lambda: body("chat", [user([part()] * n)])


SHARED: dict[str, Breach] = {
    "request.malformed": ("chat", lambda: {"model": "m"}, chat(user())),
    "request.no_model": ("chat", chat(user(), model=""), chat(user())),
    "request.half_character": ("chat", chat(user("\ud83d")), chat(user("\U0001f600"))),
    "openai.tool_name": ("chat", chat(*used("functions.act")), chat(*used("functions-act_2"))),
    "openai.too_many_tools": (
        "chat",
        chat(user(), tools=[function(f"t{n}") for n in range(129)]),
        chat(user(), tools=[function(f"t{n}") for n in range(128)]),
    ),
    "openai.double_tool": (
        "chat",
        chat(user(), tools=[function("a"), function("a")]),
        chat(user(), tools=[function("a"), function("b")]),
    ),
    "openai.tool_schema": (
        "chat",
        chat(user(), tools=[function(parameters={"type": "string"})]),
        chat(user(), tools=[function(parameters={"type": "object"})]),
    ),
    "openai.tool_description": (
        "chat",
        chat(user(), tools=[function(description="x" * 1025)]),
        chat(user(), tools=[function(description="x" * 1024)]),
    ),
    "openai.arguments": ("chat", chat(*used("read", '{"a')), chat(*used("read", '{"a": 1}'))),
    "openai.text_too_long": (
        "chat",
        lambda: body("chat", [user("x" * (10 * MB + 1))]),
        lambda: body("chat", [user("x" * 10 * MB)]),
    ),
    "openai.image_type": (
        "chat",
        chat(user([chat_image(b"BM bitmap", "image/bmp")])),
        chat(user([chat_image(png()), chat_image(jpeg(), "image/jpg")])),
    ),
    "openai.image_base64": (
        "chat",
        chat(user([{"type": "image_url", "image_url": {"url": "data:image/png;base64,%%"}}])),
        chat(user([{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}])),
    ),
    "openai.image_too_large": (
        "chat",
        lambda: body("chat", [user([chat_image(png(size=20 * MB + 1))])]),
        lambda: body("chat", [user([chat_image(png(size=20 * MB))])]),
    ),
    "openai.files_too_large": (
        "chat",
        lambda: body("chat", [user([chat_file(PDF + b"\0" * 50 * MB, "application/pdf")])]),
        lambda: body("chat", [user([chat_file(PDF + b"\0" * MB, "application/pdf")])]),
    ),
}

CHAT: dict[str, Breach] = {
    "chat.no_messages": ("chat", chat(), chat(user())),
    "chat.role": ("chat", chat({"role": "robot", "content": "x"}, user()), chat(user())),
    "chat.first": ("chat", chat(said(), user()), chat(user(), said(), user())),
    "chat.last": ("chat", chat(user(), said()), chat(user(), said(), user())),
    "chat.blank": ("chat", chat(user(), said(""), user()), chat(user(" "))),
    "chat.part": (
        "chat",
        chat(user([text(), {"type": "video_url", "video_url": {"url": "x"}}])),
        chat(user([text(), chat_image(png())])),
    ),
    "chat.file_type": (
        "chat",
        chat(user([chat_file(ZIP, "application/zip")])),
        chat(user([chat_file(PDF, "application/pdf")])),
    ),
    "chat.audio_format": ("chat", chat(user([audio("ogg")])), chat(user([audio("mp3")]))),
    "chat.audio_model": (
        "chat",
        chat(user([audio("wav")]), model="gpt-5"),
        chat(user([audio("wav")]), model="gpt-audio-mini"),
    ),
    "chat.empty_calls": ("chat", chat(user(), said(tool_calls=[]), user()), chat(*used("read"))),
    "chat.call_id": (
        "chat",
        chat(user(), calls(call("x" * 41)), result("x" * 41)),
        chat(user(), calls(call("x" * 40)), result("x" * 40)),
    ),
    "chat.double_call": (
        "chat",
        chat(user(), calls(call("a")), result("a"), calls(call("a")), result("a")),
        chat(user(), calls(call("a")), result("a"), calls(call("b")), result("b")),
    ),
    "chat.no_result": ("chat", chat(user(), calls(call()), user()), chat(*used("read"))),
    "chat.orphan_result": ("chat", chat(user(), result()), chat(*used("read"))),
    "chat.user_after_tool": ("chat", chat(*used("read"), user()), chat(*used("read"))),
}

RESPONSES: dict[str, Breach] = {
    "responses.no_input": ("responses", responses(), responses(user())),
    "responses.first": ("responses", responses(said(), user()), responses(user())),
    "responses.last": ("responses", responses(user(), said()), responses(user())),
    "responses.role": (
        "responses",
        responses(user(), {"role": "robot", "content": "x"}, user()),
        responses({"role": "developer", "content": "x"}, user()),
    ),
    "responses.blank": ("responses", responses(user(), said(""), user()), responses(user(" "))),
    "responses.part": (
        "responses",
        responses(user([audio("wav")])),
        responses(user([input_image(png())])),
    ),
    "responses.file_type": (
        "responses",
        responses(user([input_file(OGG, "audio/ogg")])),
        responses(user([input_file(b"{}", "application/json"), input_file(b"x", "text/x-c")])),
    ),
    "responses.item_id": (
        "responses",
        responses(user(), said(id="fc_1"), user()),
        responses(user(), said(id="msg_1"), user()),
    ),
    "responses.long_item_id": (
        "responses",
        responses(user(), said(id="msg_" + "1" * 61), user()),
        responses(user(), said(id="msg_" + "1" * 60), user()),
    ),
    "responses.double_item": (
        "responses",
        responses(user(), fc("a", id="fc_1"), fc("b", id="fc_1"), fco("a"), fco("b")),
        responses(user(), fc("a", id="fc_1"), fc("b", id="fc_2"), fco("a"), fco("b")),
    ),
    "responses.call_id": (
        "responses",
        responses(user(), fc("x" * 65), fco("x" * 65)),
        responses(user(), fc("x" * 64), fco("x" * 64)),
    ),
    "responses.double_call": (
        "responses",
        responses(user(), fc("a"), fco("a"), fc("a"), fco("a")),
        responses(user(), fc("a"), fco("a"), fc("b"), fco("b")),
    ),
    "responses.no_output": ("responses", responses(user(), fc(), user()), responses(user())),
    "responses.orphan_output": (
        "responses",
        responses(user(), fco()),
        responses(user(), fc(), fco()),
    ),
    "responses.output": (
        "responses",
        responses(user(), fc(), fco(output=None)),
        responses(user(), fc(), fco(output=[{"type": "input_text", "text": "x"}])),
    ),
    "responses.reasoning": (
        "responses",
        responses(user(), reasoning(""), said(), user()),
        responses(user(), reasoning(), said(), user()),
    ),
    "responses.lone_reasoning": (
        "responses",
        responses(user(), reasoning(), user()),
        responses(user(), reasoning(), fc(id=FC), fco()),
    ),
    "responses.lost_reasoning": (
        "responses",
        responses(user(), said(id=MSG), user()),
        responses(user(), reasoning(), said(id=MSG), user()),
    ),
    "responses.not_stored": (
        "responses",
        responses(user(), reasoning(), said(), user(), store=False),
        responses(user(), reasoning(encrypted_content=seal(RS)), said(), user(), store=False),
    ),
    "responses.seal": (
        "responses",
        responses(user(), reasoning(encrypted_content="x"), said(), user()),
        responses(user(), reasoning(encrypted_content=seal(RS)), said(), user()),
    ),
}

OPENAI = SHARED | CHAT | RESPONSES
