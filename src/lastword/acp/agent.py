"""What `lastword acp` answers: every method of the protocol that it offers, over many sessions.

Each has taken its first step before the next line is looked at: a cancel that stands right behind a
prompt finds it accepted. What takes time is answered later.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

from lastword.acp import prompts, updates
from lastword.acp.agents import Agents
from lastword.acp.asking import OpenAsks
from lastword.acp.cards import Card, Cards, new_id
from lastword.acp.editor import EditorFiles
from lastword.acp.outbox import Outbox
from lastword.acp.peer import ClientRequest, Method, Peer
from lastword.acp.plan import planning
from lastword.acp.talk import Talk
from lastword.acp.wire import (
    INVALID_PARAMS,
    LIST,
    NOT_FOUND,
    OBJECT,
    TEXT,
    Field,
    Params,
    RpcError,
    take,
)
from lastword.agent.tools.files import Files
from lastword.core.model import DEFAULTS, Policy
from lastword.errors import LastwordError, UnknownSession
from lastword.extras import is_installed
from lastword.runtime.runtime import Runtime
from lastword.surfaces.commands import mode_of

log = logging.getLogger("lastword")

_VERSION = 1
_PAGE = 50  # sessions in a list
_LONGEST_CURSOR = 9  # digits
_CAPABILITIES: Params = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": is_installed("mcp"), "sse": False},
    "sessionCapabilities": {
        "list": {},
        "resume": {},
        "close": {},
        "delete": {},
        "additionalDirectories": {},
    },
}


class AcpAgent:
    """One client, and its sessions."""

    def __init__(
        self,
        runtime: Runtime,
        agents: Agents,
        shelf: Cards,
        outbox: Outbox,
        *,
        mode: Policy = DEFAULTS.on_message,
        window: int = 128_000,
    ) -> None:
        self._runtime = runtime
        self._agents = agents
        self._shelf = shelf
        self._mode: Policy = mode
        self._window = window
        self._open: dict[str, Talk] = {}
        self._offers = {"reads": False, "writes": False}  # what the client does with files
        methods: Mapping[str, Method] = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/prompt": self._prompt,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_option,
        }
        self.peer = Peer(outbox, methods, {"session/cancel": self._cancel})

    async def stop(self) -> None:
        """The client has gone: stop every run, and wait until all is quiet or the time is up."""
        await self._runtime.stop_all()

    # the connection

    def _initialize(self, asked: ClientRequest) -> Params:
        take(asked.params, "protocolVersion", Field(int, "a number"))
        offered = take(take(asked.params, "clientCapabilities", OBJECT, {}), "fs", OBJECT, {})
        self._offers = {
            "reads": offered.get("readTextFile") is True,
            "writes": offered.get("writeTextFile") is True,
        }
        return {
            "protocolVersion": _VERSION,  # the newest that is spoken here; the client decides
            "agentCapabilities": _CAPABILITIES,
            "agentInfo": {"name": "lastword", "title": "lastword", "version": version("lastword")},
            "authMethods": [],
        }

    def _authenticate(self, asked: ClientRequest) -> Params:
        take(asked.params, "methodId", TEXT)
        raise RpcError(INVALID_PARAMS, "there is no way to authenticate, and no need to")

    # sessions

    async def _new(self, asked: ClientRequest) -> Params:
        id_, folders = new_id(), prompts.directories(asked.params)
        talk = self._opened(id_, asked.params, folders)
        try:
            self._shelf.put(id_, folders)
            return await self._ready(talk, asked, {"sessionId": id_})
        except BaseException:
            self._shelf.remove(id_)  # nobody was told its name
            raise

    async def _load(self, asked: ClientRequest) -> Params:
        return await self._ready(self._reopened(asked.params), asked, told_again=True)

    async def _resume(self, asked: ClientRequest) -> Params:
        return await self._ready(self._reopened(asked.params), asked)

    def _reopened(self, params: Params) -> Talk:
        card = self._card(params)
        folders = prompts.directories(params) if "cwd" in params else list(card.folders)
        talk = self._opened(card.id, params, folders)
        talk.title = card.title
        return talk

    def _opened(self, id_: str, params: Params, folders: list[str]) -> Talk:
        """Known from here on, so that what stands behind it in the same breath finds it."""
        servers = prompts.servers(params)
        if id_ in self._open:
            talk = self._open[id_]
            if talk.session.busy or (tuple(folders), servers) == (talk.folders, talk.servers):
                return talk  # with its open questions, and what was allowed for good
            talk.asking.close()
            talk.folders, talk.servers = tuple(folders), servers
        else:
            talk = Talk(
                self.peer,
                self._runtime.session(id_),
                folders=folders,
                servers=servers,
                mode=self._mode,
                window=self._window,
            )
        plan, files = planning(lambda: talk.teller.tell_in_turn), self._files(id_)
        made = self._agents.open(id_, folders, servers, plan, files)
        talk.frontiers.questions = made.questions
        talk.asking = OpenAsks(self.peer, folders[0], talk)
        self._open[id_] = talk
        return talk

    def _files(self, id_: str) -> Callable[..., Files]:
        """Where a session's files are held: in the editor, too, if it offers that."""
        if not any(self._offers.values()):
            return Files
        return partial(EditorFiles, peer=self.peer, session=id_, **self._offers)

    async def _ready(
        self,
        talk: Talk,
        asked: ClientRequest,
        more: Params | None = None,
        *,
        told_again: bool = False,
    ) -> Params:
        try:
            await talk.session.loaded()
            talk.loaded = True
            if told_again:
                await talk.teller.tell_again()
        except BaseException as error:
            # what stands behind it would wait for ever; one that was open before can go on
            if isinstance(error, LastwordError) or not talk.ready.is_set():
                await self._put_away(talk)
            raise
        talk.ready.set()
        result = {**(more or {}), **_options(talk)}
        asked.answer(result)
        talk.teller.tell(updates.commands())  # the client has to know the session first
        return result

    def _list(self, asked: ClientRequest) -> Params:
        folder = take(asked.params, "cwd", TEXT, None)
        cursor = take(asked.params, "cursor", TEXT, "0")
        if not cursor.isdecimal() or len(cursor) > _LONGEST_CURSOR:
            raise RpcError(INVALID_PARAMS, f"cursor {cursor:.50} was not given out here")
        cards = [card for card in self._shelf.all() if folder in (None, card.folders[0])]
        first, last = int(cursor), int(cursor) + _PAGE
        page: Params = {"sessions": [_shown(card) for card in cards[first:last]]}
        return page | {"nextCursor": str(last)} if last < len(cards) else page

    def _close(self, asked: ClientRequest) -> Awaitable[Params]:
        asked.on_cancel = _to_the_end
        return self._closed(self._talk(asked.params))

    async def _closed(self, talk: Talk) -> Params:
        await self._put_away(talk)
        for kept in talk.session.processes:  # nobody could see them any more
            await kept.end()
        return {}

    def _delete(self, asked: ClientRequest) -> Awaitable[Params]:
        asked.on_cancel = _to_the_end
        card = self._card(asked.params)
        self._shelf.remove(card.id)  # at once: what stands behind it must not open it again
        return self._deleted(card)

    async def _deleted(self, card: Card) -> Params:
        if card.id in self._open:
            await self._put_away(self._open[card.id])
        try:
            await self._runtime.delete(card.id)
        except UnknownSession:  # nothing was ever said in it
            pass
        except LastwordError:
            self._shelf.put(card.id, card.folders, card.title)
            raise
        return {}

    async def _put_away(self, talk: Talk) -> None:
        id_ = talk.session.id
        if id_ not in self._open or self._open[id_] is not talk:
            return  # it was put away meanwhile
        del self._open[id_]
        await talk.close()
        talk.asking.close()
        if id_ not in self._open:  # and was not opened again meanwhile
            self._agents.close(id_)

    def _talk(self, params: Params) -> Talk:
        id_ = take(params, "sessionId", TEXT)
        if id_ not in self._open:
            raise RpcError(NOT_FOUND, f"session {id_:.100} is not open; session/load opens it")
        return self._open[id_]

    def _card(self, params: Params) -> Card:
        id_ = take(params, "sessionId", TEXT)
        card = self._shelf.get(id_)
        if card is None:
            raise RpcError(NOT_FOUND, f"there is no session {id_:.100}")
        return card

    # what is said

    def _prompt(self, asked: ClientRequest) -> None:
        talk = self._talk(asked.params)
        text, attachments = prompts.read(take(asked.params, "prompt", LIST))
        talk.prompt(asked, text, attachments)
        try:
            self._shelf.put(talk.session.id, talk.folders, talk.title)
        except OSError as error:  # it is accepted, and only its place in the list is not kept
            log.warning("card not written session=%s errno=%s", talk.session.id, error.errno)

    def _cancel(self, params: Params) -> None:
        self._talk(params).cancel()

    def _set_mode(self, asked: ClientRequest) -> Params:
        talk = self._talk(asked.params)
        talk.set_mode(_mode(take(asked.params, "modeId", TEXT)))
        return {}

    def _set_option(self, asked: ClientRequest) -> Params:
        talk = self._talk(asked.params)
        option = take(asked.params, "configId", TEXT)
        if option != updates.ON_MESSAGE:
            raise RpcError(INVALID_PARAMS, f"there is no option {option:.50}")
        talk.set_mode(_mode(take(asked.params, "value", TEXT)))
        return {"configOptions": updates.options(talk.mode)}


def _to_the_end() -> None:
    """What has begun to be closed is closed, whoever has lost interest."""


def _mode(word: str) -> Policy:
    mode = mode_of(word)
    if mode is None:
        raise RpcError(INVALID_PARAMS, f"there is no mode {word:.50}")
    return mode


def _options(talk: Talk) -> dict[str, Any]:
    return {"modes": updates.modes(talk.mode), "configOptions": updates.options(talk.mode)}


def _shown(card: Card) -> Params:
    shown: Params = {"sessionId": card.id, "cwd": card.folders[0], "updatedAt": card.changed}
    if len(card.folders) > 1:
        shown["additionalDirectories"] = list(card.folders[1:])
    return shown | {"title": card.title} if card.title else shown
