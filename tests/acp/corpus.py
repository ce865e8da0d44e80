"""Lines that a client may write, and everything that can be wrong with them."""

import json
import random
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, TypeAlias, cast

from tests.acp.client import Message

_Way: TypeAlias = tuple[str | int, ...]

_PIXEL = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
_FILE = {"type": "resource", "resource": {"uri": "file:///b.py", "text": "print()"}}
_LINK = {"type": "resource_link", "name": "a.py", "uri": "file:///a.py"}
_SERVER = {
    "name": "server",
    "command": "/bin/false",
    "args": ["-v"],
    "env": [{"name": "A", "value": "b"}],
}
_REMOTE: Message = {"type": "http", "name": "far", "url": "http://127.0.0.1:9/", "headers": []}
_WORDS = ("count to 3", "hello", "/mode queue", "/mode takeover", "/receipt", "/stop", "stop")

_ODD: list[Any] = [
    *(None, True, False, 0, -1, 1 << 63, 10**4000, 1.5, 1e308, float("nan")),
    *("", "\x00", "\ud800", "\u202e\U0001f600", "a" * 10_000, "../../etc/passwd", "-1", "1" * 5000),
    *([], {}, [[]], [{}], [None], {"": None}, json.loads("[" * 100 + "]" * 100)),
]


def requests(session: str, folder: str) -> list[Message]:
    """One of each kind that is right, or nearly: what they ask for may be gone."""
    here = {"sessionId": session, "cwd": folder}
    return [
        _request("initialize", protocolVersion=1, clientCapabilities={"fs": {}}),
        _request("authenticate", methodId="none"),
        _request("session/new", cwd=folder, mcpServers=[_SERVER, _REMOTE]),
        _request("session/new", cwd=folder, additionalDirectories=[folder], mcpServers=[]),
        _request("session/load", **here, mcpServers=[]),
        _request("session/resume", **here, mcpServers=[], additionalDirectories=[]),
        _request("session/list", cwd=folder, cursor="0"),
        *(_request("session/prompt", sessionId=session, prompt=[_text(words)]) for words in _WORDS),
        _request("session/prompt", sessionId=session, prompt=[_text("hi"), _PIXEL, _FILE, _LINK]),
        _request("session/set_mode", sessionId=session, modeId="queue"),
        _request(
            "session/set_config_option", sessionId=session, configId="on_message", value="takeover"
        ),
        _request("session/close", sessionId=session),
        _request("session/delete", sessionId=session),
        _request("no/such", any="thing"),
        _note("session/cancel", sessionId=session),
        _note("$/cancel_request", requestId=1),
        _note("no/such", any="thing"),
        {"jsonrpc": "2.0", "id": "lastword-1", "result": {"outcome": {"outcome": "cancelled"}}},
        {"jsonrpc": "2.0", "id": "lastword-1", "error": {"code": -32000, "message": "no"}},
    ]


def _text(words: str) -> Message:
    return {"type": "text", "text": words}


def _request(method: str, **params: object) -> Message:
    return {"jsonrpc": "2.0", "id": 0, "method": method, "params": params}


def _note(method: str, **params: object) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params}


# at every key, what does not belong there


def wrong_everywhere(message: Message) -> Iterator[Message]:
    """A message with each of its parts gone, and with each odd thing in the place of each part."""
    for path in _paths(message):
        yield _changed(message, path, lambda holder, key: holder.pop(key))
        for odd in _ODD:
            yield _changed(message, path, lambda holder, key, odd=odd: holder.__setitem__(key, odd))


def _paths(within: object, so_far: _Way = ()) -> Iterator[_Way]:
    match within:
        case dict():
            parts = list(cast("dict[str, object]", within).items())
        case list():
            parts = list(enumerate(cast("list[object]", within)))
        case _:
            return
    for key, part in parts:
        yield (*so_far, key)
        yield from _paths(part, (*so_far, key))


def _changed(message: Message, path: _Way, change: Callable[[Any, Any], object]) -> Message:
    copy: Any = deepcopy(message)
    holder = copy
    for key in path[:-1]:
        holder = holder[key]
    change(holder, path[-1])
    return copy


# bytes


def line(message: object) -> bytes:
    return json.dumps(message).encode()


def mangled(lines: list[bytes], chance: random.Random) -> bytes:
    """A line to which something has happened on its way."""
    one, other = chance.choice(lines), chance.choice(lines)
    at, to = sorted((chance.randrange(len(one)), chance.randrange(len(one))))
    happened = chance.choice(
        (
            lambda: _flipped(one, chance),
            lambda: one[:at],
            lambda: one[:at] + one[to:],
            lambda: one[:at] + other + one[at:],
            lambda: one + other,
            lambda: b"[" + b",".join(chance.choices(lines, k=chance.randrange(4))) + b"]",
            lambda: b"[" * at + one + b"]" * to,
            lambda: one[:at] + chance.choice(_STRAY) + one[at:],
        )
    )
    return happened().replace(b"\n", b" ")


_STRAY = (b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\x00", b"\r", b"1e999", b"9" * 5000)


def _flipped(line: bytes, chance: random.Random) -> bytes:
    changed = bytearray(line)
    for _ in range(chance.randrange(1, 6)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


# what is owed


def owed(line: bytes) -> list[object]:
    """The ids under which JSON-RPC wants something answered to it, be it a result or an error."""
    if not line.strip():
        return []
    try:
        said: object = json.loads(line.decode())
    except (ValueError, RecursionError):
        return [None]
    if isinstance(said, list):
        batch = cast("list[object]", said)
        return [id_ for one in batch for id_ in _owed(one)] if batch else [None]
    return _owed(said)


def _owed(said: object) -> list[object]:
    if not isinstance(said, dict):
        return [None]
    message = cast("Message", said)
    id_ = message.get("id")
    if isinstance(id_, bool) or not isinstance(id_, int | str | None):
        return [None]
    if message.get("jsonrpc") == "2.0" and _wants_nothing(message):
        return []
    return [_SURROGATES.sub("\ufffd", id_) if isinstance(id_, str) else id_]


_SURROGATES = re.compile("[\ud800-\udfff]")


def _wants_nothing(message: Message) -> bool:
    """It is a notification, whatever it tells, or an answer."""
    if "id" not in message:
        return isinstance(message.get("method"), str)
    return message.get("method") is None and ("result" in message or "error" in message)
