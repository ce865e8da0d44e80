"""Pictures, by their first bytes: which are sent, and how wide and high. Providers refuse others,
and those that are too large."""

from __future__ import annotations

import struct

PICTURES = {  # that every provider's client takes, and how each begins
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
_NO_FRAME = (0xC4, 0xC8, 0xCC)  # marks in a JPEG among those of frames that are none


def widest(kind: str, data: bytes) -> int:
    """The longer side, in pixels; 0 if it cannot be told."""
    try:
        match kind:
            case "image/png":
                sides = struct.unpack(">II", data[16:24])
            case "image/gif":
                sides = struct.unpack("<HH", data[6:10])
            case "image/webp":
                sides = _webp(data)
            case "image/jpeg":
                sides = _jpeg(data)
            case _:
                return 0
    except struct.error:
        return 0
    return max(sides)


def _webp(data: bytes) -> tuple[int, ...]:
    match data[12:16]:
        case b"VP8X":
            return tuple(int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
        case b"VP8L":
            (bits,) = struct.unpack("<I", data[21:25])
            return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
        case b"VP8 ":
            return tuple(side & 0x3FFF for side in struct.unpack("<HH", data[26:30]))
        case _:
            return (0,)


def _jpeg(data: bytes) -> tuple[int, ...]:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        mark = data[at + 1]
        if 0xC0 <= mark <= 0xCF and mark not in _NO_FRAME:
            return struct.unpack(">HH", data[at + 5 : at + 9])
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return (0,)
