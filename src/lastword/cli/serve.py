"""`lastword serve`: the server and the page, for the agent that comes with it or a team's own."""

from __future__ import annotations

import argparse
import asyncio
import gc
import ipaddress
import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple, cast

from lastword.cli import logs, nodes, notify, otel, own_engine, running, secret, settings
from lastword.errors import LastwordError
from lastword.extras import need
from lastword.runtime.run import Engine
from lastword.runtime.runtime import Runtime
from lastword.stores.opening import open_store
from lastword.surfaces import GRACE

if TYPE_CHECKING:
    from socket import socket

    from lastword.agent.permission import Questions
    from lastword.core.model import Policy
    from lastword.runtime.tracing import Tracer
    from lastword.server.desk import ServerState
    from lastword.server.limits import ServerLimits
    from lastword.server.who import ApiToken
    from lastword.stores.contract import Store

ABOUT = """\
Serve an agent over HTTP, with a page for people, on this machine.

At a terminal it prints a link that opens the page, once; press Enter for
another. Elsewhere `lastword link` prints one, so that no log has it. Programs
ask with the token that `lastword token` prints. Without --engine it is the
agent that comes with lastword, as in `lastword chat`: without any key a
rehearsal, which is no language model and needs none."""
PORT = 8420
_SHARED = """\
  All who have a token share one agent, which works as you do. Who may `approve` lets it run
  commands, and with them sees what others said here. Who may not lets nothing run; but your own
  `allow` rules and --yes approve for everybody. To keep people apart, give no token `approve`, or
  each of them a server of their own, as a user of their own."""
_EVERYWHERE = """\
  It listens on every address of this machine, without encryption: whoever can reach it can try
  tokens, and hear those of others. Put a proxy with TLS in front. A link is for this machine."""
log = logging.getLogger("lastword")
_A_MOMENT = 1.0  # seconds that what was cancelled has to end


class _Served(NamedTuple):
    """What is served."""

    engine: Engine
    questions: Questions | None
    model: str
    mode: Policy
    store: str
    folders: tuple[str, ...] = ()
    window: int | None = None
    own: own_engine.OwnEngine | None = None


def options(parser: argparse.ArgumentParser) -> None:
    """What can be said behind `lastword serve`."""
    own_engine.option(parser)
    own_engine.how(parser)
    for name, shown, about in (
        ("--host", "ADDRESS", "where to listen (127.0.0.1); any other needs --tokens"),
        ("--port", "PORT", f"on which port ({PORT}, or a free one if that is taken)"),
        ("--store", "ADDRESS", f"where sessions are kept ({settings.STORE}, or LASTWORD_STORE)"),
        ("--place", "URL", "where the other servers of the same database ask this one"),
        ("--tokens", "FILE", "who may ask what: a TOML file of [NAME] token, rights, principal"),
    ):
        parser.add_argument(name, metavar=shown, help=about)
    settings.lease_option(parser)
    parser.add_argument(
        "--drain",
        type=float,
        default=nodes.DRAIN,
        metavar="SECONDS",
        help=f"with --place: how long what goes on may take to end by itself ({nodes.DRAIN:g})",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer to this name too, as a proxy in front of it says it",
    )
    parser.add_argument(
        "--print-link",
        action="store_true",
        help="print a link that opens the page, also where no terminal shows it",
    )
    parser.add_argument("--otel", action="store_true", help=otel.ABOUT)
    settings.options(parser)
    logs.options(parser)


def main(asked: argparse.Namespace) -> int:
    """Serve until a signal comes; the exit code."""
    gc.disable()  # what is imported stays, and need not be looked through, now or later
    signal.signal(signal.SIGUSR1, lambda _, __: None)  # until the tokens can be read anew
    try:
        with logs.written(asked.log_level, asked.log_format):
            return _logged(asked)
    except (LastwordError, ValueError, OSError) as error:
        print(f"lastword serve: {error}", file=sys.stderr)
        return 1


def _logged(asked: argparse.Namespace) -> int:
    """The same; why it cannot be is in the log, if each line of that is an object."""
    told = notify.Supervisor.found()
    try:
        need("a server", *(["server"] if asked.engine else ["agent", "server"]))
        host, port = _address(asked)
        tokens = _tokens(asked.tokens, needed=None if _loopback(host) else host)
        served = _engine(asked) if asked.engine else _agent(asked)
        asyncio.run(_traced(served, host, port, tokens, asked, told))
    except (LastwordError, ValueError, OSError) as error:
        if asked.log_format != "json":
            raise
        log.error("not served: %s", error)  # noqa: TRY400 - it is told in words
        return 1
    return 0


def _address(asked: argparse.Namespace) -> tuple[str, int | None]:
    port: str | None = asked.port
    if port is not None and not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise ValueError(f"--port must be a number up to 65535; it is {port!r}")
    host = cast("str", asked.host or "127.0.0.1")
    return ("127.0.0.1" if host == "localhost" else host), None if port is None else int(port)


def _loopback(host: str) -> bool:
    return _address_like(host) and ipaddress.ip_address(host).is_loopback


def _address_like(host: str) -> bool:
    with suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return False


def _tokens(path: str | None, needed: str | None) -> list[ApiToken]:
    if path is None:
        if needed:
            why = "can be reached from other machines, so it takes tokens: --tokens FILE"
            raise ValueError(f"{needed} {why}")
        return []
    from lastword.cli.tokens import tokens_in  # noqa: PLC0415 - only when asked for

    return tokens_in(Path(path))


def _engine(asked: argparse.Namespace) -> _Served:
    """A team's own."""
    own, mode = own_engine.found(asked), own_engine.mode_of(asked)
    return _Served(own.engine, None, "", mode, own_engine.store_of(asked), own=own)


def _agent(asked: argparse.Namespace) -> _Served:
    config = settings.settled(asked, "lastword serve")
    store = settings.store_of(config, asked, settings.STORE)
    agent = settings.maker(config, asked, store)(config.roots, ())
    mode, folders = settings.mode_of(config), tuple(map(os.path.abspath, config.roots))
    what = agent.engine, agent.questions, agent.model
    return _Served(*what, mode, store, folders, config.window)


async def _traced(
    served: _Served,
    host: str,
    port: int | None,
    tokens: list[ApiToken],
    asked: argparse.Namespace,
    supervisor: notify.Supervisor,
) -> None:
    async with otel.traced(wanted=asked.otel) as tracer:
        store = open_store(served.store, **({} if asked.lease is None else {"lease": asked.lease}))
        runtime = _runtime(served, store, tracer)
        await _serve(runtime, store, served, host, port, tokens, asked, supervisor)
    await _leave(asked)


async def _serve(
    runtime: Runtime,
    store: Store,
    served: _Served,
    host: str,
    port: int | None,
    tokens: list[ApiToken],
    asked: argparse.Namespace,
    supervisor: notify.Supervisor,
) -> None:
    from lastword.cli.tokens import Rereading  # noqa: PLC0415 - needs an extra
    from lastword.server.desk import ServerState  # noqa: PLC0415 - needs an extra
    from lastword.server.serve import listen, serve  # noqa: PLC0415
    from lastword.server.who import ApiToken, Keys, page_secret, token_from  # noqa: PLC0415

    key = secret.ours()
    listening = listen(host, PORT if port is None else port, otherwise=port is None)
    number = listening.getsockname()[1]
    own = ApiToken(token_from(key, start := token_hex(16)))
    peers = nodes.placed(store, asked, tokens, served.model)
    async with runtime:
        limits, where = await _ready(served, listening), (served.folders, served.window)
        neighbours = await nodes.neighbours(peers, store) if peers else None
        signs = page_secret(await peers.secret(), 0) if peers else page_secret(key, number)
        keys = Keys([*tokens, own], signs)
        desk = ServerState(
            runtime, served.questions, keys, limits, served.model, *where, neighbours
        )
        search_rarely()
        welcome = _Welcome(
            desk, asked, host, number, moved=port is None and number != PORT, shared=bool(tokens)
        )
        path = Path(asked.tokens) if asked.tokens else None
        rereading = Rereading(path, lambda found: desk.replace_tokens([*found, own]))

        def ready() -> None:
            welcome.show()
            supervisor.tell("READY=1")

        try:
            with running.told(welcome.root, start):
                await serve(
                    desk,
                    listening,
                    hosts=_hosts(host, [*asked.allow_host, *nodes.names(asked.place)]),
                    ready=ready,
                    reread=rereading.ask,
                    drain=asked.drain,
                )
        finally:
            rereading.close()
            welcome.close()


async def _ready(served: _Served, listening: socket) -> ServerLimits:
    """What cannot be had is found out before anybody is told where to ask. What it bears."""
    from lastword.server.limits import ServerLimits  # noqa: PLC0415 - needs an extra

    try:
        if served.own and (note := await served.own.ready()):
            print(note, file=sys.stderr)
    except BaseException:
        listening.close()
        raise
    return ServerLimits().within_reach()


def _runtime(served: _Served, store: Store, tracer: Tracer | None) -> Runtime:
    return Runtime(
        served.engine,
        store=store,
        on_restart="run" if nodes.are_several(store) else "wait",
        on_message=served.mode,
        before_tool=served.questions.as_before_tool() if served.questions else None,
        grace=GRACE,
        tracer=tracer,
    )


def _hosts(host: str, allowed: list[str]) -> set[str]:
    """The names that it answers to."""
    from lastword.server.asgi import LOOPBACK  # noqa: PLC0415 - needs an extra

    any_address = set[str]() if _loopback(host) else {"*"}  # only a name can be somebody else's
    return {*LOOPBACK, host, *(name.lower() for name in allowed), *any_address}


def search_rarely() -> None:
    """Have Python look for cycles from now on, and never through what is there already.

    A search stops everything. So those among what is new, which are frequent, are small: a thousand
    objects, ten thousand at most, some milliseconds. One through all that lives takes a second with
    a thousand sessions, and comes only after twenty million objects more.
    """
    gc.freeze()
    gc.set_threshold(1_000, 10, 2_000)
    gc.enable()


def _at_a_terminal(asked: argparse.Namespace) -> bool:
    """Whether a person reads what is printed; else it may be kept, and others may read it."""
    return asked.print_link or sys.stdout.isatty()


def _say(asked: argparse.Namespace, words: str) -> None:
    """To whoever started it: in the log, where each line is an object for a program."""
    if asked.log_format == "json" and not _at_a_terminal(asked):
        log.info("%s", " ".join(words.split()))
    else:
        print(words, flush=True)


async def _leave(asked: argparse.Namespace) -> None:
    """All is ended and written down; what an engine has left that cannot be cancelled, a task or a
    thread of its own, must not keep the process."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    deaf = (await asyncio.wait(left, timeout=_A_MOMENT))[1] if left else set[object]()
    how = "What could not be ended ends now" if deaf else "Everything is stopped"
    _say(asked, f"{how}. Goodbye.")
    others = (one for one in threading.enumerate() if one is not threading.main_thread())
    if deaf or any(not one.daemon for one in others):
        logging.shutdown()
        os._exit(0)


class _Welcome:
    """What whoever started it is shown: one address, and another for who presses Enter."""

    def __init__(
        self,
        desk: ServerState,
        asked: argparse.Namespace,
        host: str,
        port: int,
        *,
        moved: bool,
        shared: bool,
    ) -> None:
        self._desk = desk
        self._asked = asked
        self._moved = moved
        self._shared = shared  # with those who have tokens
        self._everywhere = (
            ipaddress.ip_address(host).is_unspecified if _address_like(host) else False
        )
        reached = ("::1" if ":" in host else "127.0.0.1") if self._everywhere else host
        shown = f"[{reached}]" if ":" in reached else reached
        self.root = f"http://{shown}:{port}"
        self._reading = False

    def show(self) -> None:
        """It can be asked now."""
        linked = _at_a_terminal(self._asked)
        self._say(f"Open {self._link()}" if linked else f"Listening at {self.root}/")
        model = self._desk.agent or "your engine"
        by = "Enter" if sys.stdin.isatty() else "lastword link"
        a_link = "another link" if linked else "a link that opens the page"
        self._say(f"  It talks to {model}. Ctrl-C stops everything. {by} prints {a_link}.")
        if self._everywhere:
            self._say(_EVERYWHERE)
        if self._shared:
            self._say(_SHARED)
        if self._moved:
            self._say(f"  {PORT} is taken, so it listens on another port.")
        if sys.stdin.isatty():
            asyncio.get_running_loop().add_reader(sys.stdin, self._enter)
            self._reading = True

    def close(self) -> None:
        if self._reading:
            asyncio.get_running_loop().remove_reader(sys.stdin)

    def _say(self, words: str) -> None:
        _say(self._asked, words)

    def _enter(self) -> None:
        if sys.stdin.readline():
            told = f"Open {self._link()}"  # by a thread: the terminal may have been told to wait
            threading.Thread(
                target=print, args=(told,), kwargs={"flush": True}, daemon=True
            ).start()
        else:
            self.close()

    def _link(self) -> str:
        from lastword.server.sessions import linked  # noqa: PLC0415 - needs an extra

        return f"{self.root}/{linked(self._desk)}"
