"""What is in a file that a request carries: whether it can be read, of what kind, how large.

Providers look at the bytes, not only at the label.
"""

from __future__ import annotations

import base64
import binascii
import struct
from dataclasses import dataclass

IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
MB = 1024 * 1024

_BEGINS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"%PDF-": "application/pdf",
}
_LONGEST_PDF_HEAD = 1024  # readers look for the mark within so many bytes
_NO_FRAME = (0xC4, 0xC8, 0xCC)  # markers of JPEG among those of frames that are none


@dataclass(frozen=True, slots=True)
class DataUrl:
    """A file that stands in the request itself, as a URL."""

    media_type: str
    encoded: str


def data_url(url: str) -> DataUrl | None:
    """What a data URL has; None if it is another kind of URL, or broken."""
    head, comma, encoded = url.partition(",")
    if not head.startswith("data:") or not comma or not head.endswith(";base64"):
        return None
    return DataUrl(head[5:-7].partition(";")[0].strip().lower(), encoded)


def decoded(encoded: str) -> bytes | None:
    """The bytes; None if that is no base64."""
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None


def kind_of(data: bytes) -> str | None:
    """The media type, by the bytes; None if it is none of those that providers read."""
    for mark, kind in _BEGINS.items():
        if data.startswith(mark):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return "application/pdf" if b"%PDF-" in data[:_LONGEST_PDF_HEAD] else None


def pixels(data: bytes) -> tuple[int, int] | None:
    """Width and height of an image; None if they cannot be read."""
    try:
        match kind_of(data):
            case "image/png":
                return struct.unpack(">II", data[16:24])
            case "image/gif":
                return struct.unpack("<HH", data[6:10])
            case "image/webp":
                return _webp(data)
            case "image/jpeg":
                return _jpeg(data)
            case _:
                return None
    except struct.error:
        return None


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            wide, high = (int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
            return wide + 1, high + 1
        case b"VP8L":
            (bits,) = struct.unpack("<I", data[21:25])
            return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
        case b"VP8 ":
            wide, high = struct.unpack("<HH", data[26:30])
            return wide & 0x3FFF, high & 0x3FFF
        case _:
            return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME:
            high, wide = struct.unpack(">HH", data[at + 5 : at + 9])
            return wide, high
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None
