"""Servers over one database: how this one is found by the others."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lastword.errors import LastwordError
from lastword.extras import need
from lastword.stores.lease import Tenure
from lastword.stores.peers import PeeredStore, Peers

if TYPE_CHECKING:
    from lastword.server.neighbours import Neighbours
    from lastword.server.who import ApiToken
    from lastword.stores.contract import Store
    from lastword.stores.peers import NodePeer

ABOUT = """\
List the servers over a PostgreSQL database, and other processes that have it
open: where each is asked, how many sessions it has, and whether it renews its
lease. That is seen by looking twice, a few seconds apart.

The exit code is 1 if one of them is silent, or if they do not agree in their
tokens, agent and settings."""
_LOOKS = 0.5  # of the longest lease; it is renewed at every fifth

DRAIN = 30.0  # seconds


def are_several(store: Store) -> bool:
    """Whether others may have the same sessions, and go on with what one left."""
    return isinstance(store, PeeredStore)


def placed(
    store: Store, asked: argparse.Namespace, tokens: Iterable[ApiToken], model: str
) -> Peers | None:
    """The servers of a store, of which this one is asked at its place. None: it is alone."""
    url: str | None = asked.place
    if url is None:
        return None
    if not isinstance(store, PeeredStore):
        raise ValueError(  # noqa: TRY004 - a mistake in typing
            "--place is for servers over one PostgreSQL database: --store postgresql://…"
        )
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/"):
        raise ValueError(
            f"--place is where others ask this server, as http://HOST:PORT; it is {url!r}"
        )
    store.peers.url, store.peers.digest = url.rstrip("/"), digest(asked, tokens, model)
    return store.peers


def names(url: str | None) -> list[str]:
    """By which the others call this one."""
    return [urlsplit(url).hostname or ""] if url else []


async def neighbours(peers: Peers, store: Store) -> Neighbours:
    """What asks the others. The store is open."""
    from lastword.server.neighbours import Neighbours  # noqa: PLC0415 - needs an extra

    return Neighbours(peers, await peers.secret(), store.tenure or Tenure())


def digest(asked: argparse.Namespace, tokens: Iterable[ApiToken], model: str) -> str:
    """Of what has to be the same at every server; it tells nobody what that is."""
    known = [[one.name, one.principal, sorted(one.rights), one.secret] for one in tokens]
    told = [sorted(known), asked.engine, model, asked.mode, asked.lease, asked.allow, asked.yes]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def options(parser: argparse.ArgumentParser, store: str | None) -> None:
    """Of which database."""
    parser.add_argument(
        "--store",
        default=store,
        metavar="ADDRESS",
        help="postgresql://HOST/DATABASE (what LASTWORD_STORE says)",
    )


def main(asked: argparse.Namespace) -> int:
    """Print them; the exit code."""
    try:
        need("a store in PostgreSQL", "postgres")
        first, then = asyncio.run(_looked(asked.store or ""))
    except LastwordError as error:
        print(f"lastword nodes: {error}", file=sys.stderr)
        return 1
    before = {one.epoch: one.beats for one in first}
    silent = [one for one in then if before.get(one.epoch) == one.beats]
    for one in then:
        print(_line(one, silent=one in silent))
    print(f"{len(then)} in all." if then else "Nobody has it open.")
    differ = len({one.digest for one in then if one.url}) > 1
    if differ:
        print("They do not agree: tokens, agent or settings are not the same at all of them.")
    return 1 if silent or differ else 0


async def _looked(address: str) -> tuple[tuple[NodePeer, ...], tuple[NodePeer, ...]]:
    if not address.startswith(("postgres:", "postgresql:")):
        raise LastwordError("name the database: --store postgresql://HOST/DATABASE")
    from lastword.stores.postgres.peers import listed  # noqa: PLC0415 - needs an extra

    first = await listed(address)
    if first:
        await asyncio.sleep(_LOOKS * max(one.lease for one in first))
    return first, await listed(address)


def _line(one: NodePeer, *, silent: bool) -> str:
    state = "silent" if silent else "leaving" if one.leaving else "alive"
    many = "1 session" if one.sessions == 1 else f"{one.sessions} sessions"
    since = f"{datetime.fromtimestamp(one.since, UTC):%Y-%m-%d %H:%M:%S}"
    where = one.url or "(no --place)"
    who = f"process {one.process} on {one.host}, {one.version}, since {since} UTC"
    return f"{state:8} {where:32} {many:14} lease {one.lease:g} s  {who}"
