"""Images and documents in Anthropic's messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from lastword.testing.provider.strict.media import IMAGES, MB, decoded, kind_of, pixels
from lastword.testing.provider.strict.offence import Offence, Rule

Item: TypeAlias = Mapping[str, Any]

_LARGEST_IMAGE = 10 * MB  # as base64
_HEAVY_IMAGE = 5 * MB
_WIDEST = 8000
_WIDEST_OF_MANY = 2000
_MANY_IMAGES = 20
_MOST_IMAGES = 100
_WIDEST_WISE = 1568

IMAGE_TYPE = Rule("anthropic.image_type", "Vision: jpeg, png, gif or webp")
IMAGE_EMPTY = Rule("anthropic.image_empty", "met: image cannot be empty")
IMAGE_BASE64 = Rule("anthropic.image_base64", "met: invalid base64 data")
IMAGE_UNREADABLE = Rule("anthropic.image_unreadable", "met: Could not process image")
IMAGE_LABEL = Rule("anthropic.image_label", "met: the image appears to be of another media type")
IMAGE_TOO_LARGE = Rule("anthropic.image_too_large", "Vision: 10 MB of base64 each")
IMAGE_HEAVY = Rule("anthropic.image_heavy", "Vision: 5 MB each where others serve it", "advice")
IMAGE_TOO_WIDE = Rule("anthropic.image_too_wide", "Vision: 8000 pixels, 2000 if more than 20")
IMAGE_WIDE = Rule("anthropic.image_wide", "Vision: resized above 1568 pixels", "advice")
TOO_MANY_IMAGES = Rule(
    "anthropic.too_many_images", "Vision: 100 a request, some models more", "advice"
)
DOCUMENT_TYPE = Rule("anthropic.document_type", "PDF support: application/pdf, or text/plain")
DOCUMENT_INVALID = Rule("anthropic.document_invalid", "met: The PDF specified was not valid")

RULES = (
    IMAGE_TYPE,
    IMAGE_EMPTY,
    IMAGE_BASE64,
    IMAGE_UNREADABLE,
    IMAGE_LABEL,
    IMAGE_TOO_LARGE,
    IMAGE_HEAVY,
    IMAGE_TOO_WIDE,
    IMAGE_WIDE,
    TOO_MANY_IMAGES,
    DOCUMENT_TYPE,
    DOCUMENT_INVALID,
)


def judged(blocks: Sequence[tuple[Item, str]]) -> Iterator[Offence]:
    """The files among all blocks of a request, each with where it stands."""
    images = [(block, at) for block, at in blocks if block["type"] == "image"]
    if len(images) > _MOST_IMAGES:
        yield TOO_MANY_IMAGES.broken(f"messages: {len(images)} images, {_MOST_IMAGES} at most")
    for block, at in images:
        yield from _image(block["source"], f"{at}.image.source", many=len(images) > _MANY_IMAGES)
    for block, at in blocks:
        if block["type"] == "document":
            yield from _document(block["source"], f"{at}.document.source")


def _image(source: Item, at: str, *, many: bool) -> Iterator[Offence]:
    if source["type"] != "base64":
        return
    label, encoded = source["media_type"], source["data"]
    if label not in IMAGES:
        known = "'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
        yield IMAGE_TYPE.broken(f"{at}.base64.media_type: Input should be {known}")
        return
    if not encoded:
        yield IMAGE_EMPTY.broken(f"{at}.base64: image cannot be empty")
        return
    data = decoded(encoded)
    if data is None:
        yield IMAGE_BASE64.broken(f"{at}.base64.data: invalid base64 data")
        return
    kind = kind_of(data)
    if kind not in IMAGES:
        yield IMAGE_UNREADABLE.broken(f"{at}: Could not process image")
    elif kind != label:
        why = f"The image was specified using the {label} media type, but appears to be {kind}"
        yield IMAGE_LABEL.broken(f"{at}.base64.data: {why}")
    yield from _size(encoded, pixels(data), f"{at}.base64.data", many=many)


def _size(
    encoded: str, measured: tuple[int, int] | None, at: str, *, many: bool
) -> Iterator[Offence]:
    if len(encoded) > _LARGEST_IMAGE:
        why = f"image exceeds 10 MB maximum: {len(encoded)} bytes > {_LARGEST_IMAGE} bytes"
        yield IMAGE_TOO_LARGE.broken(f"{at}: {why}")
    elif len(encoded) > _HEAVY_IMAGE:
        yield IMAGE_HEAVY.broken(f"{at}: {len(encoded)} bytes; others take 5 MB")
    widest = max(measured or (0,))
    if widest > (_WIDEST_OF_MANY if many else _WIDEST):
        limit = f" for many-image requests: {_WIDEST_OF_MANY}" if many else f": {_WIDEST}"
        dimensions = "At least one of the image dimensions exceed max allowed size"
        yield IMAGE_TOO_WIDE.broken(f"{at}: {dimensions}{limit} pixels")
    elif widest > _WIDEST_WISE:
        yield IMAGE_WIDE.broken(f"{at}: {widest} pixels; resized to {_WIDEST_WISE}")


def _document(source: Item, at: str) -> Iterator[Offence]:
    if source["type"] == "base64":
        if source["media_type"] != "application/pdf":
            yield DOCUMENT_TYPE.broken(f"{at}.base64.media_type: Input should be 'application/pdf'")
        elif kind_of(decoded(source["data"]) or b"") != "application/pdf":
            yield DOCUMENT_INVALID.broken(f"{at}.base64.data: The PDF specified was not valid.")
    elif source["type"] == "text" and source["media_type"] != "text/plain":
        yield DOCUMENT_TYPE.broken(f"{at}.text.media_type: Input should be 'text/plain'")
