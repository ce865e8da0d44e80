"""What an AG-UI client asks with: its conversation, or its answers to what interrupted a run.

It sends all that it has. Of that, only the last words of the person can be new; instructions, state
and context of the client are its own. What cannot be understood is refused before anything is done.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

from msgspec import Meta, Struct, ValidationError, convert

from lastword.server import wire
from lastword.server.problems import Trouble

_SHOWN = 200  # characters of an id, which may be too long to be one
_MOST = 100  # new messages in one request: each is stored, and known by its id, for itself


class ResumeEntry(Struct, rename="camel"):
    """The answer to an interrupt."""

    interrupt_id: wire.Name
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class Approval(Struct):
    """What it says, if it is no refusal."""

    approved: bool
    always: bool = False
    scope: str = ""


class AguiMessage(Struct):
    """A message, of which only the person's are read."""

    id: str
    role: str
    content: Any = None


class RunAgentInput(Struct, rename="camel"):
    """A request for a run, as AG-UI 1.0 has it."""

    thread_id: wire.Name
    run_id: wire.Name
    messages: list[AguiMessage]
    protocol_version: str = ""
    tools: list[dict[str, Any]] | None = None
    resume: Annotated[list[ResumeEntry], Meta(max_length=100)] | None = None

    @property
    def knows_cancelled(self) -> bool:
        """Whether the client understands that a run was cancelled."""
        return self.protocol_version.partition(".")[0] not in ("", "0")


def last_words(messages: Sequence[AguiMessage]) -> list[AguiMessage]:
    """The person's, after all that the agent said."""
    found = list[AguiMessage]()
    for one in reversed(messages):
        if one.role == "user":
            found.append(one)
        elif one.role not in ("system", "developer"):
            break
    return found[::-1]


def to_send(said: Sequence[AguiMessage]) -> dict[str, wire.MessageIn]:
    """Those as they are sent, by their ids."""
    if len(said) > _MOST:
        why = f"{len(said)} messages are new, and at most {_MOST} can be sent at once"
        raise Trouble("bad-request", f"{why}; nothing was done")
    found = dict[str, wire.MessageIn]()
    for one in said:
        if one.id in found:
            raise Trouble("bad-request", f"two new messages have the id {one.id}")
        try:
            found[one.id] = _message(one)
        except ValueError as error:
            why = f"message {one.id[:_SHOWN]} cannot be sent: {error}; nothing was done"
            raise Trouble("bad-request", why) from error
    return found


def _message(said: AguiMessage) -> wire.MessageIn:
    """Raises ValueError with what is wrong."""
    texts, attachments, whole = list[str](), list[dict[str, str]](), said.content
    parts = [{"type": "text", "text": whole}] if isinstance(whole, str) else whole
    for part in cast("list[Any]", parts) if isinstance(parts, list) else [parts]:
        match part:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "image" | "audio" | "video" | "document", "source": source}:
                attachments.append(_attachment(source))
            case _:
                raise ValueError("it has a part that is not known")
    if not any(texts) and not attachments:
        raise ValueError("it says nothing")
    told = {"text": "\n\n".join(texts), "id": said.id, "attachments": attachments}
    return convert(told, wire.MessageIn)


def _attachment(source: object) -> dict[str, str]:
    match source:
        case {"type": "data", "value": str(data), "mimeType": str(media)}:
            return {"media_type": media, "data": _text(data) if media[:5] == "text/" else data}
        case {"type": "url", "value": str(uri), "mimeType": str(media)}:
            return {"media_type": media, "uri": uri}
        case {"type": "url", "value": str(uri)}:
            return {"media_type": "application/octet-stream", "uri": uri}
        case _:
            raise ValueError("an attachment has neither data nor an address")


def _text(data: str) -> str:
    try:
        return b64decode(data, validate=True).decode()
    except UnicodeDecodeError:
        raise ValueError("the data of an attachment is text, and not UTF-8") from None
    except ValueError:
        raise ValueError("the data of an attachment is not base64") from None


def answers(resume: Sequence[ResumeEntry]) -> dict[str, wire.AnswerIn]:
    """What they say, by the question that each is to."""
    found = dict[str, wire.AnswerIn]()
    for one in resume:
        id_, told = _answer(one)
        if id_ in found:  # and which of them is meant?
            why = f"{one.interrupt_id} is answered twice; nothing was done"
            raise Trouble("bad-request", why)
        found[id_] = told
    return found


def _answer(one: ResumeEntry) -> tuple[str, wire.AnswerIn]:
    id_, _, generation = one.interrupt_id.rpartition("@")
    plain = generation.isascii() and generation.isdigit() and len(generation) < 20
    at = int(generation) if plain else -1  # never one
    try:
        told = convert(one.payload, Approval) if one.status == "resolved" else Approval(False)
    except ValidationError as error:
        why = f"the answer to {one.interrupt_id} is not one: {error}; nothing was done"
        raise Trouble("bad-request", why) from error
    return id_ or one.interrupt_id, wire.AnswerIn(told.approved, at, told.always, told.scope)
