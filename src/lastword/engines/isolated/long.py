"""Long texts in what a run's process says: each goes ahead, as it is, and is put in its place.

To read much JSON takes long, and holds up whoever waits for the same event loop; to read a text
that is nothing else does not. So whatever is long is said apart, in pieces, and the message that
follows says where each belongs. No more is taken than one message may have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias, cast

from lastword.engines.isolated.line import LONGEST, Nonsense

Path: TypeAlias = tuple[int | str, ...]
MUCH = LONGEST >> 1  # bytes of JSON, from which on long texts go apart
_MOST = 16 << 20  # bytes that go apart with one message
_LONG = 1 << 14  # letters of one that does
_DEEP = 20  # places within places
WITH = "with"  # how a message begins that has some


class Apart(NamedTuple):
    """A message, in which long texts are missing."""

    texts: tuple[bytes, ...]
    places: list[tuple[Path, int]]  # where each belongs, and how many bytes it has
    rest: object


def taken_apart(message: object) -> Apart:
    """What goes ahead, and what is left. Raises ValueError if that is more than can be said."""
    texts: list[bytes] = []
    places: list[tuple[Path, int]] = []
    rest = _without(message, (), texts, places)
    if sum(map(len, texts)) > _MOST:
        raise ValueError(f"at most {_MOST:,} bytes can be said at once in an isolated run")
    return Apart(tuple(texts), places, rest)


def _without(
    value: Any,  # noqa: ANN401 - whatever JSON takes
    path: Path,
    texts: list[bytes],
    places: list[tuple[Path, int]],
) -> object:
    if isinstance(value, str) and len(value) > _LONG:
        text = value.encode(errors="surrogatepass")
        texts.append(text)
        places.append((path, len(text)))
        return None
    if isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        return {n: _without(v, (*path, n), texts, places) for n, v in named.items()}
    if isinstance(value, list | tuple):
        many = cast("list[Any]", value)
        return [_without(v, (*path, n), texts, places) for n, v in enumerate(many)]
    return value


class Texts:
    """Those that have come, and whose message has not."""

    def __init__(self) -> None:
        self._come = bytearray()

    def add(self, body: bytes) -> None:
        """Another piece."""
        self._come += body
        if len(self._come) > _MOST:
            raise Nonsense(f"a text of more than {_MOST:,} bytes")

    def put_in(self, message: list[Any]) -> list[Any]:
        """The message, whole."""
        if message[0] != WITH:
            if self._come:
                raise Nonsense("a text that belongs nowhere")
            return message
        match message:
            case [_, [*places], [*rest]] if rest:
                whole: list[Any] = rest
            case _:
                raise Nonsense("texts that belong nowhere")
        begin = 0
        for path, length in _places(places):
            end = begin + length
            _put(whole, path, self._text(begin, end))
            begin = end
        if begin != len(self._come):
            raise Nonsense("a text that belongs nowhere")
        self._come.clear()
        return whole

    def _text(self, begin: int, end: int) -> str:
        if not begin <= end <= len(self._come):
            raise Nonsense("a text that is not there")
        try:
            return bytes(memoryview(self._come)[begin:end]).decode(errors="surrogatepass")
        except UnicodeDecodeError:
            raise Nonsense("a text that is none") from None


def _places(places: list[Any]) -> Iterator[tuple[list[Any], int]]:
    for place in places:
        match place:
            case [[*path], int(length)] if 0 < len(path) <= _DEEP:
                yield path, length
            case _:
                raise Nonsense("a place that is none")


def _put(whole: Any, path: list[Any], text: str) -> None:  # noqa: ANN401 - whatever JSON gives
    *way, last = path
    try:
        for step in way:
            whole = whole[step]
        if whole[last] is not None:
            raise Nonsense("a place that is taken")
        whole[last] = text
    except (KeyError, IndexError, TypeError):
        raise Nonsense("a place that is none") from None
