"""`lastword serve`: the server and the page, for the agent that comes with it or a team's own."""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import ipaddress
import logging
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple, cast

from lastword.cells import engine as with_cells
from lastword.cli import logs, running, secret, settings
from lastword.core.model import DEFAULTS
from lastword.errors import LastwordError
from lastword.runtime.run import Engine
from lastword.runtime.runtime import Runtime
from lastword.surfaces import GRACE

if TYPE_CHECKING:
    from lastword.agent.permission import Questions
    from lastword.core.model import Policy
    from lastword.server.desk import ServerState
    from lastword.server.who import ApiToken

ABOUT = """\
Serve an agent over HTTP, with a page for people, on this machine.

It prints a link that opens the page, once; press Enter for another. Programs ask with the token
that `lastword token` prints. Without --engine it is the agent that comes with lastword, as in
`lastword chat`: without any key a rehearsal, which is no language model and needs none."""
PORT = 8420
_SHARED = """\
  All who have a token share one agent, which works as you do. Who may `approve` lets it run
  commands, and with them sees what others said here. Who may not lets nothing run; but your own
  `allow` rules and --yes approve for everybody. To keep people apart, give no token `approve`, or
  each of them a server of their own, as a user of their own."""
_EVERYWHERE = """\
  It listens on every address of this machine, without encryption: whoever can reach it can try
  tokens, and hear those of others. Put a proxy with TLS in front. The link is for this machine."""
_A_MOMENT = 1.0  # seconds that what was cancelled has to end


class _Served(NamedTuple):
    """What is served."""

    engine: Engine
    questions: Questions | None
    model: str
    mode: Policy
    store: str


def options(parser: argparse.ArgumentParser) -> None:
    """What can be said behind `lastword serve`."""
    for name, shown, about in (
        ("--engine", "MODULE:FUNCTION", "serve this engine instead of lastword's own agent"),
        ("--host", "ADDRESS", "where to listen (127.0.0.1); any other needs --tokens"),
        ("--port", "PORT", f"({PORT}, or a free one if it is taken)"),
        (
            "--store",
            "ADDRESS",
            f"where sessions are kept ({settings.STORE}, or what LASTWORD_STORE says)",
        ),
        ("--tokens", "FILE", "who may ask what: a TOML file of [NAME] token, rights, principal"),
    ):
        parser.add_argument(name, metavar=shown, help=about)
    settings.lease_option(parser)
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer to this name too, as a proxy in front of it says it",
    )
    settings.options(parser)
    logs.options(parser)


def main(asked: argparse.Namespace) -> int:
    """Serve until a signal comes; the exit code."""
    gc.disable()  # what is imported stays, and need not be looked through, now or later
    try:
        host, port = _address(asked)
        tokens = _tokens(asked.tokens, needed=None if _loopback(host) else host)
        served = _engine(asked) if asked.engine else _agent(asked)
        with logs.written(asked.log_level, asked.log_format):
            asyncio.run(_serve(served, host, port, tokens, asked))
    except ModuleNotFoundError as error:
        why = f"{error.name} is not installed; pip install '.[server,agent]' brings it"
        print(f"lastword serve: {why}", file=sys.stderr)
        return 1
    except (LastwordError, ValueError, OSError) as error:
        print(f"lastword serve: {error}", file=sys.stderr)
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
    name, _, attribute = cast("str", asked.engine).partition(":")
    if not name or not attribute:
        raise ValueError(f"--engine is MODULE:FUNCTION; it is {asked.engine!r}")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0] and error.name != name:
            why = f"{name!r} needs {error.name}, which is not installed"
            raise ValueError(f"--engine: {why}") from error
        raise ValueError(f"--engine: there is no module {name!r} here") from error
    engine = getattr(found, attribute, None)
    if engine is None:
        raise ValueError(f"--engine: the module {name!r} has no {attribute!r}")
    if not callable(engine):
        why = "is no function, so it cannot be an engine"
        raise ValueError(f"--engine: {asked.engine} {why}")  # noqa: TRY004 - a mistake in typing
    named = asked.store or os.environ.get("LASTWORD_STORE")
    store = named or settings.store_here(settings.STORE, lambda _: asked.trust)
    return _Served(
        with_cells(cast("Engine", engine)), None, "", asked.mode or DEFAULTS.on_message, store
    )


def _agent(asked: argparse.Namespace) -> _Served:
    config = settings.settled(asked, "lastword serve")
    store = settings.store_of(config, asked, settings.STORE)
    agent = settings.maker(config, asked, store)(config.roots, ())
    return _Served(agent.engine, agent.questions, agent.model, settings.mode_of(config), store)


async def _serve(
    served: _Served, host: str, port: int | None, tokens: list[ApiToken], asked: argparse.Namespace
) -> None:
    from lastword.server.desk import ServerState  # noqa: PLC0415 - needs an extra
    from lastword.server.front import LOOPBACK  # noqa: PLC0415
    from lastword.server.limits import ServerLimits  # noqa: PLC0415
    from lastword.server.serve import listen, serve  # noqa: PLC0415
    from lastword.server.who import ApiToken, Keys, page_secret, token_from  # noqa: PLC0415

    asks = served.questions.as_before_tool() if served.questions else None
    runtime = Runtime(
        served.engine,
        store=served.store,
        lease=asked.lease,
        on_message=served.mode,
        before_tool=asks,
        grace=GRACE,
    )
    key = secret.ours()
    listening = listen(host, PORT if port is None else port, otherwise=port is None)
    number = listening.getsockname()[1]
    start = token_hex(16)
    keys = Keys([*tokens, ApiToken(token_from(key, start))], page_secret(key, number))
    hosts = {*LOOPBACK, host, *(name.lower() for name in asked.allow_host)}
    if not _loopback(host):
        hosts.add("*")  # any address: only a name can be somebody else's
    async with runtime:
        limits = ServerLimits().within_reach()
        desk = ServerState(runtime, served.questions, keys, limits, served.model)
        search_rarely()
        moved = port is None and number != PORT
        welcome = _Welcome(desk, host, number, moved=moved, shared=bool(tokens))
        try:
            with running.told(welcome.root, start):
                await serve(desk, listening, hosts=hosts, ready=welcome.show)
        finally:
            welcome.close()
    await _leave()


def search_rarely() -> None:
    """Have Python look for cycles from now on, and never through what is there already.

    A search stops everything. So those among what is new, which are frequent, are small: a thousand
    objects, ten thousand at most, some milliseconds. One through all that lives takes a second with
    a thousand sessions, and comes only after twenty million objects more.
    """
    gc.freeze()
    gc.set_threshold(1_000, 10, 2_000)
    gc.enable()


async def _leave() -> None:
    """All is ended and written down; what an engine has left that cannot be cancelled, a task or a
    thread of its own, must not keep the process."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    deaf = (await asyncio.wait(left, timeout=_A_MOMENT))[1] if left else set[object]()
    how = "What could not be ended ends now" if deaf else "Everything is stopped"
    print(f"{how}. Goodbye.", flush=True)
    others = (one for one in threading.enumerate() if one is not threading.main_thread())
    if deaf or any(not one.daemon for one in others):
        logging.shutdown()
        os._exit(0)


class _Welcome:
    """What whoever started it is shown: one address, and another for who presses Enter."""

    def __init__(
        self, desk: ServerState, host: str, port: int, *, moved: bool, shared: bool
    ) -> None:
        self._desk = desk
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
        print(f"Open {self._link()}", flush=True)
        model = self._desk.agent or "your engine"
        another = "Enter" if sys.stdin.isatty() else "lastword link"
        words = f"It talks to {model}. Ctrl-C stops everything. {another} prints another link."
        print(f"  {words}", flush=True)
        if self._everywhere:
            print(_EVERYWHERE, flush=True)
        if self._shared:
            print(_SHARED, flush=True)
        if self._moved:
            print(f"  {PORT} is taken, so it listens on another port.", flush=True)
        if sys.stdin.isatty():
            asyncio.get_running_loop().add_reader(sys.stdin, self._enter)
            self._reading = True

    def close(self) -> None:
        if self._reading:
            asyncio.get_running_loop().remove_reader(sys.stdin)

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

        keys = self._desk.keys
        return f"{self.root}/{linked(keys) if keys else ''}"
