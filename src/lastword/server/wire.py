"""What goes over the wire, as types: they decode what is asked, and the OpenAPI document is made
from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, get_type_hints

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, defstruct

from lastword.core.model import Origin, Outcome, Placement, Policy
from lastword.core.plain import written
from lastword.core.receipt import Receipt
from lastword.core.rows import Row

Text: TypeAlias = Annotated[str, Meta(max_length=1_000_000)]
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
State: TypeAlias = Literal["idle", "running", "asking", "stopping", "waiting"]


# what is asked


class AttachmentIn(Struct, forbid_unknown_fields=True):
    """Something that comes with a message: a text, base64 data, or only an address."""

    media_type: Name
    data: str = ""
    uri: Annotated[str, Meta(max_length=10_000)] = ""
    name: Annotated[str, Meta(max_length=1_000)] = ""


class MessageIn(Struct, forbid_unknown_fields=True):
    """A message. The same `id` again is the same message, whatever it says.

    With `heed_stop`, words that mean stop ("stop", "STOP!!", "/stop") are one, and no message.
    """

    text: Text
    id: Name | None = None
    on_message: Policy | None = None
    attachments: Annotated[list[AttachmentIn], Meta(max_length=20)] = []
    heed_stop: bool = False


class AgainIn(Struct, forbid_unknown_fields=True):
    """The last turn, asked anew: that of `run`, or it is refused. What is left out stays as it
    was said."""

    run: Name | None = None
    text: Text | UnsetType = UNSET
    id: Name | None = None
    attachments: Annotated[list[AttachmentIn], Meta(max_length=20)] | UnsetType = UNSET


class SessionChange(Struct, forbid_unknown_fields=True):
    """Another title (empty: how its first message begins), or whether it comes before others."""

    title: Annotated[str, Meta(max_length=10_000)] | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET


class StopIn(Struct, forbid_unknown_fields=True):
    """Stop everything that was accepted, or one run; the model is told the `reason`."""

    run: Name | None = None
    reason: Annotated[str, Meta(max_length=200)] = ""


class QueueChange(Struct, forbid_unknown_fields=True):
    """Another text for a message that waits, or another place, counted from 0."""

    text: Text | UnsetType = UNSET
    to: Annotated[int, Meta(ge=0, le=1_000_000)] | UnsetType = UNSET


class AnswerIn(Struct, forbid_unknown_fields=True):
    """The answer to a question, as it was seen at that generation; the first answer counts."""

    allow: bool
    generation: Annotated[int, Meta(ge=0)]
    always: bool = False
    scope: str = ""  # which of those that the question offers; the narrowest, if none is named


# what is answered


class Problem(Struct):
    """What went wrong (RFC 9457). `id` is also in the server's log."""

    type: str
    title: str
    status: int
    detail: str
    id: str


class Me(Struct):
    """Who is asking, with which rights; and the server, its agent, the folders that it works in,
    and how many tokens its model takes in before what was said is summarised, if that is known."""

    name: str
    principal: str
    rights: list[str]
    version: str
    agent: str
    level: str
    folders: list[str] = []
    window: int | None = None


class SignInLink(Struct):
    """A path that opens the page, once and within ten minutes, as `local`, with all rights."""

    path: str


class KeyIn(Struct, forbid_unknown_fields=True):
    """The code in the fragment of a link."""

    code: Name


class KeyOut(Struct):
    """A key for `Authorization: Bearer`, in place of a token."""

    key: str


class OwnerOut(Struct):
    """Another process that has a session."""

    process: int
    host: str
    since: float


class SessionOut(Struct):
    """A session and its state; `owner` if another process owns it."""

    id: str
    title: str
    generation: int
    busy: bool
    active: str | None
    state: State
    at: float
    owner: OwnerOut | None = None
    pinned: bool = False


class UsageOut(Struct):
    """What models were asked in a session, in tokens, as they counted. The one that answered last
    is `model`, and `filled` what that answer read and wrote of its window."""

    requests: int
    input_tokens: int
    output_tokens: int
    model: str
    filled: int


class SessionsOut(Struct):
    """A page of them, newest first."""

    sessions: list[SessionOut]
    next: str | None


class TicketOut(Struct):
    """A message was accepted, and is durable."""

    session: str
    message: str
    run: str
    placed: Placement
    generation: int
    outcome: Outcome | None


class AttachmentOut(Struct):
    """What came with a message, without its data."""

    media_type: str
    uri: str
    name: str
    size: int  # of its data, in characters


class MessageOut(Struct):
    """What somebody sent."""

    id: str
    text: str
    by: str
    origin: Origin
    attachments: list[AttachmentOut]


class MessageFate(Struct):
    """A message that had not had its turn, and what became of it."""

    message: MessageOut
    fate: Literal["dropped", "paused"]


if TYPE_CHECKING:

    class _OfReceipt(Struct):
        """What of a receipt's own fields is looked at here."""

        messages: list[MessageFate]
else:
    _KINDS = get_type_hints(Receipt) | {"messages": list[MessageFate]}
    _OfReceipt = defstruct("_OfReceipt", [(one.name, _KINDS[one.name]) for one in written(Receipt)])


class ReceiptOut(_OfReceipt, kw_only=True):
    """What a stop or a takeover ended, dropped, skipped, kept and could not confirm.

    It has every field of a receipt, and all there is to know of it in `rows`, in words.
    """

    idle: bool
    quiet: bool
    words: str
    rows: list[Row]


class Stopped(Struct):
    """The account of a stop."""

    receipt: ReceiptOut


class Receipts(Struct):
    """Newest first."""

    receipts: list[ReceiptOut]
    next: int | None


class QueuedOut(Struct):
    """A message that waits."""

    id: str
    text: str
    by: str
    run: str
    placed: Placement
    held: bool


class QueueOut(Struct):
    """What waits; `hushed` if a stop came last, so that nothing starts by itself."""

    messages: list[QueuedOut]
    hushed: bool


class EntryOut(Struct):
    """An entry of the log: what it tells of is its `kind`, and the rest of it depends on that."""

    number: int
    kind: str
    at: float


class Log(Struct):
    """What happened, oldest first; `more` lies before it, as does what was said in `messages`.

    Those are what the runs were asked that began in these entries.
    """

    entries: list[Raw]
    more: bool
    messages: list[MessageOut]


class ShownOut(Struct):
    """One piece of what a model would be shown."""

    role: str
    text: str
    name: str
    call: str
    status: str


class TranscriptOut(Struct):
    """What a model would be shown."""

    items: list[ShownOut]
    next: int | None


class Empty(Struct):
    """Done."""


class Health(Struct):
    """How the server is."""

    status: Literal["ok", "closing"]
