"""Sessions: sending, stopping, and how they stand.

A message is answered once it is durable, a stop once its receipt is. Who may not stop takes nothing
over by sending.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import metadata

from msgspec import UNSET

from lastword.core.model import Attachment, Message, MessageId, Policy, SessionId
from lastword.core.resume import ANSWERS
from lastword.core.words import means_stop
from lastword.errors import Busy, Named, QueueFull, RuntimeClosed
from lastword.runtime.sending import sendable
from lastword.runtime.session import Session
from lastword.runtime.ticket import Stopping, Ticket
from lastword.server import wire
from lastword.server.desk import ApiRequest, Reply, ServerState, reply
from lastword.server.limits import STOP_WORDS
from lastword.server.problems import Trouble
from lastword.server.queue import fits
from lastword.server.who import LOCAL
from lastword.stores.contract import Overview, Place, SessionFilter

_AT_ONCE = 50  # sessions of a list that are looked at in one step
_WORDS = 1 << 20  # characters of messages that the answer to a stop has whole
_BEGINNING = 200  # and of each other
_SOUGHT = 200  # characters
_TAKES_OVER: tuple[Policy, ...] = ("takeover", "rollback")


async def me(asked: ApiRequest) -> Reply:
    """Who asks, and whom."""
    who, desk = asked.who, asked.desk
    version = metadata.version("lastword")
    level = desk.runtime.processes.level or ""
    me = wire.Me(who.name, who.principal, sorted(who.rights), version, desk.agent, level)
    if "read" in who.rights:
        me.folders, me.window = list(desk.folders), desk.window
    return reply(me)


async def link(asked: ApiRequest) -> Reply:
    """Another link to the page, for who has every right of the person's."""
    keys = asked.desk.keys
    if keys is None or asked.who.principal != LOCAL:
        raise Trouble("forbidden", "links open the page of whoever started the server")
    link, neighbours = linked(asked.desk), asked.desk.neighbours
    if neighbours:
        await neighbours.links_are_put()
    return reply(wire.SignInLink(f"/{link}"), 201)


def linked(desk: ServerState) -> str:
    """A new link to the page, behind its path: a fragment is told to nobody but the page."""
    makes = desk.neighbours or desk.keys
    return f"#key={makes.new_link()}" if makes else ""


async def key(asked: ApiRequest) -> Reply:
    """The key for a link: given to a script of the page, never to what only looks ahead."""
    told, keys = await asked.body(wire.KeyIn), asked.desk.keys
    if keys and (neighbours := asked.desk.neighbours):
        found = keys.page_key() if await neighbours.open_link(told.code) else None
    else:
        found = keys.open(told.code) if keys else None
    if found is None:
        raise Trouble(
            "used-link", "a link opens the page once, for ten minutes; `lastword link` is another"
        )
    return reply(wire.KeyOut(found), 201)


async def listed(asked: ApiRequest) -> Reply:
    """The sessions, newest first."""
    limit = asked.number("limit", 50, least=1)
    told = asked.request.query_params.get("pinned")
    pinned = None if told is None else asked.choice("pinned", "true", "false") == "true"
    wanted = SessionFilter(asked.request.query_params.get("words", "")[:_SOUGHT], pinned)
    runtime, space = asked.desk.runtime, asked.who.space
    found = await runtime.recent(space, limit + 1, _cursor(asked), wanted)
    page = found[:limit]
    more = _told(page[-1].place) if len(found) > limit else None
    asking, told = _asking(asked), list[wire.SessionOut]()
    for start in range(0, len(page), _AT_ONCE):
        if start:
            await asyncio.sleep(0)  # nobody is to wait until hundreds were looked at
        for one in page[start : start + _AT_ONCE]:
            session = asked.desk.runtime.session(one.session)
            told.append(session_out(asked, session, one, asking))
    return await asyncio.to_thread(reply, wire.SessionsOut(told, more))


def session_out(
    asked: ApiRequest,
    session: Session,
    known: Overview | None,
    asking: Collection[str] | None = None,
) -> wire.SessionOut:
    """A session, and how it stands; `asking` are those with open questions, if that is known."""
    one = known or Overview(session.id, session.generation)
    asking = _asking(asked) if asking is None else asking
    state = _state(session, asking) if session.known else one.state
    whose = None if session.known else one.owner
    return wire.SessionOut(
        id=asked.shapes.out(session.id),
        title=one.title,
        generation=max(session.generation, one.generation),
        busy=session.busy if session.known else state == "running",
        active=asked.shapes.out(session.active) if session.active else None,
        state=state,
        at=one.at,
        owner=wire.OwnerOut(whose.process, whose.host, whose.since) if whose else None,
        pinned=one.pinned,
    )


def _asking(asked: ApiRequest) -> set[str]:
    """The sessions with open questions, their own or of those below them."""
    questions = asked.desk.questions
    every = questions.open() if questions else ()
    return {name for question in every for name in (question.session, *question.above)}


def _state(session: Session, asking: Collection[str]) -> wire.State:
    if session.id in asking:
        return "asking"
    if session.active:
        return "running"
    if session.ending:
        return "stopping"
    if session.asks:
        return "asking"
    return "waiting" if session.waiting.messages else "idle"


async def one(asked: ApiRequest) -> Reply:
    """One session, and how it stands."""
    session = await asked.known()
    return reply(session_out(asked, session, await session.overview()))


async def change(asked: ApiRequest) -> Reply:
    """Have it listed in another way."""
    session, told = await asked.known(), await asked.body(wire.SessionChange)
    if told.title is not UNSET:
        await session.rename(told.title)
    if told.pinned is not UNSET:
        await session.pin(on=told.pinned)
    return await one(asked)


async def delete(asked: ApiRequest) -> Reply:
    """Stop a session, and forget what was said in it."""
    await asked.known()
    receipt = await asked.desk.runtime.delete(asked.shapes.inside(asked.name))
    for names in (asked.desk.known, asked.desk.named):
        names.get(asked.who.principal, set()).discard(asked.name)
    return reply(wire.Stopped(asked.shapes.receipt(receipt)))


async def is_stop(asked: ApiRequest) -> bool:
    """Whether a message is words that are heeded as a stop."""
    if await asked.arrive() > STOP_WORDS:
        return False
    said = await asked.body(wire.MessageIn)
    return said.heed_stop and means_stop(said.text)


async def send(asked: ApiRequest) -> Reply:
    """Send a message; it is answered once it is durable."""
    said = await asked.body(wire.MessageIn)
    if said.heed_stop and means_stop(said.text):
        return await _stopped(asked, await asked.named(), None)
    ticket = await accepted(asked, said)
    return reply(asked.shapes.ticket(ticket, asked.name, asked.session.generation), 202)


async def accepted(asked: ApiRequest, said: wire.MessageIn) -> Ticket:
    """A message of whoever asks, as far as they may and there is room: durable from here on."""
    policy = await _admitted(asked, [said], said.on_message)
    with _fitting(asked, [said], policy):
        return await asked.session.send(
            said.text,
            id=said.id,
            by=asked.who.name,
            attachments=_attachments(said.attachments),
            on_message=policy,
        )


async def again(asked: ApiRequest) -> Reply:
    """Ask the last turn anew. It takes something back, so whoever asks may stop."""
    told, session = await asked.body(wire.AgainIn), await asked.known()
    if "stop" not in asked.who.rights:
        raise Trouble("forbidden", f"{asked.who.name} has no right to stop, nor to take back")
    came = None if told.attachments is UNSET else _attachments(told.attachments)
    text = None if told.text is UNSET else told.text
    said = wire.MessageIn(text or "", attachments=told.attachments or [])
    await _admitted(asked, [said], None)
    run = None if told.run is None else asked.shapes.inside(told.run)
    ticket = await session.again(text, run=run, id=told.id, by=asked.who.name, attachments=came)
    return reply(asked.shapes.ticket(ticket, asked.name, session.generation), 202)


async def all_accepted(
    asked: ApiRequest,
    said: Mapping[str, wire.MessageIn],
    first: Callable[[], Awaitable[object]] | None = None,
) -> tuple[Ticket, ...]:
    """Several, by their ids, as one turn: all of them, or none.

    What is to be done `first` is done once nothing is known that would have them refused, in the
    same step. If something comes in between there, they are refused and it stays done.
    """
    by = asked.who.name
    messages = [
        Message(MessageId(id_), one.text, by, attachments=_attachments(one.attachments))
        for id_, one in said.items()
    ]
    sendable(messages)
    policy = await _admitted(asked, said.values(), None)
    with _fitting(asked, said.values(), policy):
        if first:
            _must_be_free(asked, policy or asked.desk.runtime.settings.on_message, len(said))
            await first()
        return await asked.session.send(messages, on_message=policy)


async def _admitted(
    asked: ApiRequest, said: Iterable[wire.MessageIn], wanted: Policy | None
) -> Policy | None:
    """Whether whoever asks may send this at all; and what it does then."""
    if asked.desk.closing:
        raise RuntimeClosed("the server is being shut down, so this was not accepted")
    for one in said:
        _must_be_words(asked, one)
    await _must_have_room(asked, asked.name)
    return _policy(asked, wanted)


def _fitting(
    asked: ApiRequest, said: Iterable[wire.MessageIn], policy: Policy | None
) -> AbstractContextManager[None]:
    waits = (policy or asked.desk.runtime.settings.on_message) not in _TAKES_OVER
    return fits(asked, asked.session, said) if waits else nullcontext()


def _must_be_free(asked: ApiRequest, policy: Policy, many: int) -> None:
    """What the session would refuse as it stands. It is asked again when they are sent."""
    session, most = asked.session, asked.desk.runtime.settings.queue_limit
    if policy == "refuse" and session.busy:
        why = " is busy and refuses messages; nothing was done"
        raise Busy("session ", Named(session.id), why)
    waits = policy not in _TAKES_OVER and (session.active if policy == "steer" else session.busy)
    if waits and len(session.waiting.messages) + many > most:
        why = f" has room for {most} messages to wait, and this would be more; nothing was done"
        raise QueueFull("session ", Named(session.id), why)


def _must_be_words(asked: ApiRequest, said: wire.MessageIn) -> None:
    """Answers to a program are a message inside; to send one is to let the program go on."""
    answers = any(one.media_type.strip().lower() == ANSWERS for one in said.attachments)
    if answers and "approve" not in asked.who.rights:
        raise Trouble("forbidden", f"{asked.who.name} has no right to approve here")


def _policy(asked: ApiRequest, wanted: Policy | None) -> Policy | None:
    """Who has no right to stop takes nothing over: it follows what is going."""
    if "stop" in asked.who.rights:
        return wanted
    usual = wanted or asked.desk.runtime.settings.on_message
    return "queue" if usual in _TAKES_OVER else wanted


def _attachments(given: Sequence[wire.AttachmentIn]) -> tuple[Attachment, ...]:
    return tuple(Attachment(a.media_type, a.data, a.uri, a.name) for a in given)


async def _must_have_room(asked: ApiRequest, name: str) -> None:
    """A principal has only so many sessions."""
    desk, principal = asked.desk, asked.who.principal
    if principal not in desk.known:
        every = await desk.runtime.recent(asked.who.space, desk.limits.sessions)
        desk.known.setdefault(principal, {asked.shapes.out(one.session) for one in every})
    known = desk.known[principal]
    if name not in known and len(known) >= desk.limits.sessions:
        most = desk.limits.sessions
        raise Trouble("too-many", f"there are {most} sessions, which is the limit; delete some")
    known.add(name)


async def stop(asked: ApiRequest) -> Reply:
    """Stop everything that was accepted, or one run; answered with the receipt."""
    told = await asked.body(wire.StopIn) if await _has_body(asked) else wire.StopIn()
    session = await asked.named()
    run = None if told.run is None else asked.shapes.inside(told.run)
    return await _stopped(asked, session, run, told.reason)


async def _has_body(asked: ApiRequest) -> bool:
    headers = asked.request.headers
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


async def _stopped(asked: ApiRequest, session: Session, run: str | None, reason: str = "") -> Reply:
    if "stop" not in asked.who.rights:
        raise Trouble("forbidden", f"{asked.who.name} has no right to stop")
    wait = asked.choice("wait", "quiet", "fence")
    answer: Stopping = session.stop(run=run, by=asked.who.name, said=reason)
    receipt = await (answer.fenced() if wait == "fence" else answer)
    told = _short(asked.seen(receipt))
    if not receipt and await asked.desk.runtime.overview(session.id) is None:
        told.words += f" There is no session {asked.name} of yours here."
    return reply(wire.Stopped(told))


def _short(told: wire.ReceiptOut) -> wire.ReceiptOut:
    """Without long words of messages that were dropped, as far as they are many: nobody is to wait
    for them who stops. The log and the receipts have them whole."""
    size = 0
    for one in told.messages:
        size += len(one.message.text)
        if size > _WORDS:
            one.message.text = f"{one.message.text[:_BEGINNING]}…"
    return told


def _told(place: Place) -> str:
    return base64.urlsafe_b64encode(f"{place[0]!r} {place[1]}".encode()).decode().rstrip("=")


def _cursor(asked: ApiRequest) -> Place | None:
    told = asked.request.query_params.get("before")
    if told is None:
        return None
    try:
        at, _, name = base64.urlsafe_b64decode(told + "==").decode().partition(" ")
        return float(at), SessionId(name)
    except ValueError:
        raise Trouble(
            "bad-request", f"before must be a `next` of an earlier page; it is {told!r}"
        ) from None
