"""Which files a model is sent, and what stands in a request for those that it is not.

One file that a model cannot take would make every later request fail, because the log has it. So a
file is sent only if it is of a kind that providers take, if this model takes such files, and if it
is what it says it is; any other is shown by its name.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from lastword.core.model import Attachment, Message
from lastword.core.resume import ANSWERS
from lastword.core.shown import WORDLESS
from lastword.engines.kit.pictures import widest
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
_READ_BY_ALL = ("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf")
_TEXTS = ("application/json", "application/xml", "application/yaml", "application/toml")
_LARGEST = {"image": 3_900_000, "application": 20_000_000, "audio": 20_000_000, "video": 20_000_000}
_WIDEST = 8000  # pixels
LONGEST_ADDRESS = 500


class File(NamedTuple):
    """A file that is sent."""

    kind: str
    data: bytes
    title: str

    @property
    def base64(self) -> str:
        return base64.b64encode(self.data).decode()

    @property
    def url(self) -> str:
        """The whole file as an address."""
        return f"data:{self.kind};base64,{self.base64}"

    @property
    def is_pdf(self) -> bool:
        return self.kind == "application/pdf"

    @property
    def filename(self) -> str:
        """Its title, with the ending by which providers know a document."""
        return self.title if self.title.lower().endswith(".pdf") else f"{self.title}.pdf"


class PictureLink(NamedTuple):
    """A picture that the provider is to look up."""

    url: str


Content: TypeAlias = str | File | PictureLink
Reads: TypeAlias = Callable[[str], bool]
"""Whether a model takes files of a kind: `image/png`."""


def read_by_all(kind: str) -> bool:
    """Whether the models of all providers take such files, those that take any."""
    return kind in _READ_BY_ALL


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


def is_whole(kind: str, data: bytes) -> bool:
    """Whether it is of a kind that providers take, is what it says it is, and not too large."""
    family = kind.partition("/")[0]
    begins = _BEGINS.get(kind)
    if begins is None or not data.startswith(begins) or len(data) > _LARGEST[family]:
        return False
    if begins == _RIFF and data[8:12] != _INSIDE[kind]:
        return False
    return family != "image" or widest(kind, data) <= _WIDEST


def content_of(text: str, message: Message | None, reads: Reads) -> list[Content]:
    """What a person sent, with what came with it as far as the model can take it; never nothing."""
    brought = [
        attached(one, reads)
        for one in (message.attachments if message else ())
        if one.media_type != ANSWERS  # for a program, of which the model is told what came
    ]
    said: list[Content] = [encodable(text)] if text.strip() else []
    return [*said, *brought] or [WORDLESS]


def attached(one: Attachment, reads: Reads) -> Content:
    """What came with a message, for the model."""
    title = encodable(one.name or one.media_type)
    kind = media_type_of(one.media_type)
    if not one.data:
        return _linked(one, title, kind)
    if kind.startswith("text/"):
        return f"{title}:\n{encodable(one.data)}"
    try:
        data = base64.b64decode(one.data, validate=True)
    except (binascii.Error, ValueError):
        return f"[{title} cannot be read: its data is not base64]"
    return sent(data, kind, title, reads)


def sent(data: bytes, kind: str, title: str, reads: Reads) -> Content:
    """A file as it can be sent: itself, the text that it is, or its name."""
    if is_whole(kind, data) and reads(kind):
        return File(kind, data, title)
    if is_text(kind):
        try:
            return f"{title}:\n{data.decode()}"
        except UnicodeDecodeError:
            pass
    also = "" if title == kind else f"{kind}, "
    return f"[{title} ({also}{len(data)} bytes) is not shown: this model cannot read it]"


def _linked(one: Attachment, title: str, kind: str) -> Content:
    if kind in _BEGINS and kind.startswith("image/") and one.uri.startswith("https://"):
        return PictureLink(one.uri)
    if one.uri:
        return f"[{title}: {encodable(one.uri)[:LONGEST_ADDRESS]}]"
    return f"[{title}: it is empty]"
