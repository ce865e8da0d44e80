"""Which files a model is sent, and what stands in a request for those that it is not.

One file that a model cannot take would make every later request fail, because the log has it. So a
file is sent only if it is of a kind that providers take, if this model takes such files, and if it
is what it says it is; any other is shown by its name.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from pydantic_ai.messages import (
    AudioUrl,
    BinaryContent,
    FileUrl,
    ImageUrl,
    UploadedFile,
    UserContent,
    VideoUrl,
)
from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel

from lastword.core.model import Attachment
from lastword.engines.pydantic_ai.pictures import widest
from lastword.runtime.checks import encodable

_ALIASES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "application/x-pdf": "application/pdf",
}
_RIFF = (b"RIFF",)  # which is of several kinds
_INSIDE = {"image/webp": b"WEBP", "audio/wav": b"WAVE"}
_BEGINS = {  # how files of the kinds that providers take begin
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": _RIFF,
    "application/pdf": (b"%PDF-",),
    "audio/wav": _RIFF,
    "audio/mpeg": (b"ID3", b"\xff"),
    "video/mp4": (b"\0\0\0",),
    "video/webm": (b"\x1a\x45\xdf\xa3",),
}
_FLAGS = {
    "image": "supports_image_input",
    "application": "supports_document_input",
    "audio": "supports_audio_file_input",
    "video": "supports_video_input",
}
_TEXTS = ("application/json", "application/xml", "application/yaml", "application/toml")
_LARGEST = {"image": 3_900_000, "application": 20_000_000, "audio": 20_000_000, "video": 20_000_000}
_WIDEST = 8000  # pixels
_LONGEST_ADDRESS = 500


def media_type_of(given: str) -> str:
    """A kind as providers spell it."""
    bare = given.partition(";")[0].strip().lower()
    return _ALIASES.get(bare, bare)


def is_text(media_type: str) -> bool:
    """Whether a file of that kind can be read as it is."""
    return media_type.startswith("text/") or media_type.endswith(("+json", "+xml", *_TEXTS))


def letters_of(one: Attachment) -> int:
    """How much of a request it takes up, about, if it is read as a text."""
    return len(one.data) if is_text(media_type_of(one.media_type)) else 0


def takes(model: Model | None, media_type: str, data: bytes) -> bool:
    """Whether the model can be sent such a file."""
    family = media_type.partition("/")[0]
    begins = _BEGINS.get(media_type)
    if begins is None or not data.startswith(begins) or len(data) > _LARGEST[family]:
        return False
    if begins == _RIFF and data[8:12] != _INSIDE[media_type]:
        return False
    if family == "image" and widest(media_type, data) > _WIDEST:
        return False
    return _reads(model, family)


def attached(one: Attachment, model: Model | None) -> Iterator[UserContent]:
    """What came with a message, for the model."""
    title = encodable(one.name or one.media_type)
    kind = media_type_of(one.media_type)
    if not one.data:
        yield from _linked(one, title, kind)
        return
    if kind.startswith("text/"):
        yield f"{title}:\n{one.data}"
        return
    try:
        data = base64.b64decode(one.data, validate=True)
    except (binascii.Error, ValueError):
        yield f"[{title} cannot be read: its data is not base64]"
        return
    yield sent(data, kind, title, model)


def sent(data: bytes, kind: str, title: str, model: Model | None) -> UserContent:
    """A file as it can be sent: itself, the text that it is, or its name."""
    if takes(model, kind, data):
        return BinaryContent(data, media_type=kind)
    if is_text(kind):
        try:
            return f"{title}:\n{data.decode()}"
        except UnicodeDecodeError:
            pass
    also = "" if title == kind else f"{kind}, "
    return f"[{title} ({also}{len(data)} bytes) is not shown: this model cannot read it]"


def sendable_file(item: UserContent, model: Model | None) -> UserContent:
    """What a tool gave the model to see, as it can be sent."""
    match item:
        case BinaryContent():
            kind = media_type_of(item.media_type)
            if takes(model, kind, item.data):
                same = kind == item.media_type
                return item if same else BinaryContent(item.data, media_type=kind)
            return sent(item.data, kind, kind or "a file", model)
        case FileUrl() if not (item.url.startswith("https://") and _reads(model, _of(item))):
            return f"[{named(item)} is not shown: this model cannot read it]"
        case _:
            return item


def named(item: BinaryContent | FileUrl | UploadedFile) -> str:
    """A file, by name."""
    match item:
        case BinaryContent():
            return f"{media_type_of(item.media_type)}, {len(item.data)} bytes"
        case FileUrl():
            return item.url[:_LONGEST_ADDRESS]
        case _:
            return f"file {item.file_id}"


def _linked(one: Attachment, title: str, kind: str) -> Iterator[UserContent]:
    if kind in _BEGINS and kind.startswith("image/") and one.uri.startswith("https://"):
        yield ImageUrl(one.uri)
    elif one.uri:
        yield f"[{title}: {encodable(one.uri)[:_LONGEST_ADDRESS]}]"
    else:
        yield f"[{title}: it is empty]"


def _of(item: FileUrl) -> str:
    match item:
        case ImageUrl():
            return "image"
        case AudioUrl():
            return "audio"
        case VideoUrl():
            return "video"
        case _:
            return "application"


def _reads(model: Model | None, family: str) -> bool:
    flag = _FLAGS[family]
    return all(dict[str, Any](one.profile).get(flag, True) for one in _models(model))


def _models(model: Model | None) -> Iterator[Model]:
    """The models that may be asked: one or, if some are for when others fail, many."""
    match model:
        case FallbackModel():
            for other in model.models:
                yield from _models(other)
        case WrapperModel():
            yield from _models(model.wrapped)
        case None:
            return
        case _:
            yield model
