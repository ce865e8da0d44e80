"""What a person says in an editor: text, files that were mentioned, pictures."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Any, cast

from lastword.acp.wire import INVALID_PARAMS, LIST, OBJECT, TEXT, Params, RpcError, take
from lastword.core.model import Attachment
from lastword.engines.kit.pictures import PICTURES

_BEGINNING = 16  # bytes by which a picture is known


def read(blocks: list[object]) -> tuple[str, tuple[Attachment, ...]]:
    """The words, and what came with them."""
    words: list[str] = []
    attached: list[Attachment] = []
    for block in blocks:
        if not isinstance(block, dict):
            raise RpcError(INVALID_PARAMS, "prompt must be a list of content blocks")
        _take(cast("Params", block), words, attached)
    if not words and not attached:
        raise RpcError(INVALID_PARAMS, "prompt is empty")
    return "\n".join(words), tuple(attached)


def _take(block: Params, words: list[str], attached: list[Attachment]) -> None:
    match block.get("type"):
        case "text":
            words.append(take(block, "text", TEXT))
        case "image":
            kind, data = take(block, "mimeType", TEXT), take(block, "data", TEXT)
            attached.append(_picture(kind, data, take(block, "uri", TEXT, "")))
        case "resource_link":
            name, uri = take(block, "name", TEXT), take(block, "uri", TEXT)
            words.append(f"[{name}]({uri})")
        case "resource":
            _embedded(take(block, "resource", OBJECT), words, attached)
        case kind:
            raise RpcError(
                INVALID_PARAMS,
                f"a content block of type {kind!r:.50} cannot be taken; only text, images, "
                "resources and links to them can",
            )


def _embedded(resource: Params, words: list[str], attached: list[Attachment]) -> None:
    uri = take(resource, "uri", TEXT)
    if "text" in resource:
        words.append(f'<file uri="{uri}">\n{take(resource, "text", TEXT)}\n</file>')
        return
    kind = take(resource, "mimeType", TEXT, "application/octet-stream")
    attached.append(_picture(kind, take(resource, "blob", TEXT), uri))


def _picture(kind: str, data: str, uri: str) -> Attachment:
    """One that every provider takes; any other would make the session unusable from here on."""
    try:
        start = base64.b64decode(data, validate=True)[:_BEGINNING]
    except (binascii.Error, ValueError) as error:
        raise RpcError(INVALID_PARAMS, f"data is not base64: {error}") from error
    if kind not in PICTURES or not start.startswith(PICTURES[kind]):
        known = ", ".join(PICTURES)
        why = f"a {kind:.50} cannot be taken, or is none; texts and {known} can"
        raise RpcError(INVALID_PARAMS, why)
    return Attachment(kind, data, uri)


def servers(params: Params) -> list[dict[str, Any]]:
    """The MCP servers that a client hands over, each by what it takes to reach it."""
    return [_server(cast("object", one)) for one in take(params, "mcpServers", LIST, [])]


def _server(said: object) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise RpcError(INVALID_PARAMS, "mcpServers must be a list of objects")
    server = cast("Params", said)
    name, kind = take(server, "name", TEXT), server.get("type", "stdio")
    if kind == "stdio":
        command = [take(server, "command", TEXT), *_texts(server, "args")]
        return {"name": name, "command": command, "env": _pairs(server, "env")}
    if kind == "http":
        url = take(server, "url", TEXT)
        if not url.startswith(("http://", "https://")):
            why = (
                f"the MCP server {name:.50} needs an address that begins with http; not {url:.100}"
            )
            raise RpcError(INVALID_PARAMS, why)
        return {"name": name, "url": url, "headers": _pairs(server, "headers")}
    why = f"the MCP server {name:.50} is of type {kind!r:.50}; stdio and http can be used"
    raise RpcError(INVALID_PARAMS, why)


def _texts(params: Params, name: str) -> list[str]:
    found = take(params, name, LIST, [])
    if not all(isinstance(one, str) for one in found):
        raise RpcError(INVALID_PARAMS, f"{name} must be a list of strings")
    return found


def _pairs(params: Params, name: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for one in take(params, name, LIST, []):
        if not isinstance(one, dict):
            raise RpcError(INVALID_PARAMS, f"{name} must be a list of names and values")
        pair = cast("Params", one)
        pairs[take(pair, "name", TEXT)] = take(pair, "value", TEXT)
    return pairs


def directories(params: Params) -> list[str]:
    """Where a session works: its directory first."""
    folders = [take(params, "cwd", TEXT), *_texts(params, "additionalDirectories")]
    for folder in folders:
        if not folder.startswith("/"):
            raise RpcError(INVALID_PARAMS, f"cwd must be an absolute path; it is {folder:.200}")
        try:
            is_there = Path(folder).is_dir()
        except (OSError, ValueError):  # too long, or holds what no path can
            is_there = False
        if not is_there:
            raise RpcError(INVALID_PARAMS, f"{folder:.200} is not a directory")
    return folders
