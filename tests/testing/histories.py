"""Histories as the three formats have them: what the tests of the strict judge are made of."""

import base64
import struct
from typing import Any

from lastword.testing.provider import Format
from lastword.testing.provider.marks import Marks, sign

MARKS = Marks("a seed")
RS, FC, MSG = MARKS.item("rs", 0), MARKS.item("fc", 1, 0), MARKS.item("msg", 2, 0)


def user(text: Any = "hi") -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(content: Any = "hello", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def call(id: str = "c1", arguments: Any = "{}", name: str = "read") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: dict[str, Any]) -> dict[str, Any]:
    return said(None, tool_calls=list(made))


def result(id: str = "c1", content: Any = "gold") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def fc(call: str = "c1", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    called = {"type": "function_call", "call_id": call, "name": "read", "arguments": arguments}
    return {**called, **more}


def fco(id: str = "c1", output: Any = "gold") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": output}


def reasoning(id: str = RS, **more: Any) -> dict[str, Any]:
    return {"type": "reasoning", "id": id, "summary": [], **more}


def text(text: str = "well") -> dict[str, Any]:
    return {"type": "text", "text": text}


def use(id: str = "u1", input: Any = None, name: str = "read") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": {} if input is None else input}


def used(id: str = "u1", content: Any = "gold") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def thought(words: str = "hm", signature: str | None = None) -> dict[str, Any]:
    signature = sign(words) if signature is None else signature
    return {"type": "thinking", "thinking": words, "signature": signature}


def body(format: Format, items: Any, **more: Any) -> dict[str, Any]:
    where = "input" if format == "responses" else "messages"
    needed: dict[str, Any] = {"max_tokens": 9} if format == "anthropic" else {}
    return {"model": "m", where: items, **needed, **more}


def png(wide: int = 8, high: int = 8, *, size: int = 64) -> bytes:
    """As much of an image as can be told from its first bytes, of so many in all."""
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", wide, high)
    return head + b"\0" * (size - len(head))


def jpeg(wide: int = 8, high: int = 8) -> bytes:
    """The same, with something of the camera's before the frame."""
    camera = b"\xff\xe1" + struct.pack(">H", 10) + b"exifdata"
    return b"\xff\xd8" + camera + b"\xff\xc0" + struct.pack(">HBHH", 17, 8, high, wide) + b"\0" * 9


PDF = b"%PDF-1.7\n%%EOF"
OGG, ZIP, MP4 = b"OggS\0\2", b"PK\3\4", b"\0\0\0\x18ftypmp42"


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def data_url(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{b64(data)}"


def chat_image(data: bytes, media_type: str = "image/png") -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": data_url(data, media_type)}}


def chat_file(data: bytes, media_type: str) -> dict[str, Any]:
    file = {"filename": "a", "file_data": data_url(data, media_type)}
    return {"type": "file", "file": file}


def input_image(data: bytes, media_type: str = "image/png") -> dict[str, Any]:
    return {"type": "input_image", "image_url": data_url(data, media_type)}


def input_file(data: bytes, media_type: str) -> dict[str, Any]:
    return {"type": "input_file", "filename": "a", "file_data": data_url(data, media_type)}


def image(data: bytes, media_type: str = "image/png") -> dict[str, Any]:
    source = {"type": "base64", "media_type": media_type, "data": b64(data)}
    return {"type": "image", "source": source}


def document(data: bytes, media_type: str = "application/pdf") -> dict[str, Any]:
    return image(data, media_type) | {"type": "document"}


def function(name: str = "read", **more: Any) -> dict[str, Any]:
    """A tool that is offered, in chat completions."""
    return {"type": "function", "function": {"name": name, **more}}


def tool(name: str = "read", **schema: Any) -> dict[str, Any]:
    """A tool that is offered, in Anthropic's messages."""
    return {"name": name, "input_schema": {"type": "object", **schema}}
