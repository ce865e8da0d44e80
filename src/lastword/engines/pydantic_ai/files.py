"""Files in the framework's words, and which of them a model of its takes (`kit.files` has why)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
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

from lastword.engines.kit.files import (
    LONGEST_ADDRESS,
    Content,
    File,
    PictureLink,
    Reads,
    is_whole,
    media_type_of,
    sent,
)

_FLAGS = {
    "image": "supports_image_input",
    "application": "supports_document_input",
    "audio": "supports_audio_file_input",
    "video": "supports_video_input",
}


def reader(model: Model | None) -> Reads:
    """Which kinds of files the model takes."""
    return partial(_reads, model)


def in_its_words(content: Content) -> UserContent:
    """What a person sent, as the framework has it."""
    match content:
        case File(kind, data):
            return BinaryContent(data, media_type=kind)
        case PictureLink(url):
            return ImageUrl(url)
        case _:
            return content


def sendable_file(item: UserContent, model: Model | None) -> UserContent:
    """What a tool gave the model to see, as it can be sent."""
    match item:
        case BinaryContent():
            kind, reads = media_type_of(item.media_type), reader(model)
            if kind == item.media_type and is_whole(kind, item.data) and reads(kind):
                return item
            return in_its_words(sent(item.data, kind, kind or "a file", reads))
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
            return item.url[:LONGEST_ADDRESS]
        case _:
            return f"file {item.file_id}"


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


def _reads(model: Model | None, kind: str) -> bool:
    flag = _FLAGS[kind.partition("/")[0]]
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
