"""A server that runs, asked from a shell: `lastword stop`, `lastword token`."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import sys
import urllib.error
import urllib.request
from typing import Any, cast
from urllib.parse import quote, urlsplit

from lastword.cli import running, secret

ABOUT_STOP = """\
Stop a session of a server that runs, and print the receipt.

The exit code is 0 if something was stopped and all is quiet, 3 if there was
nothing to stop, 4 if something had not ended when the receipt was written."""
ABOUT_KEY = """\
Print the token with which programs of yours may ask your server that runs here:

  url=http://127.0.0.1:8420/v1/sessions
  curl -H "Authorization: Bearer $(lastword token)" $url

It is good until that server ends; one that lasts is in a file for
`lastword serve --tokens`."""
ABOUT_LINK = "Print a link that opens the page of your server that runs, once."
_URL = "http://127.0.0.1:8420"
_IDLE, _LEFT = 3, 4
_PATIENCE = 60.0  # seconds: longer than any stop takes


class RemoteFailed(Exception):
    """A server that does not answer, or says no; what it says is for the person to read."""


def options(parser: argparse.ArgumentParser) -> None:
    """What can be said behind `lastword stop`."""
    parser.add_argument("session", metavar="SESSION", help="the session's id")
    parser.add_argument("--run", metavar="RUN", help="only this run, and only if it is that one")
    address(parser)


def server_option(parser: argparse.ArgumentParser) -> None:
    """Which server is asked."""
    found = running.here()
    parser.add_argument(
        "--url",
        default=os.environ.get("LASTWORD_URL") or (found.url if found else _URL),
        metavar="URL",
        help=f"where the server is (that of this folder, or {_URL}; or what LASTWORD_URL says)",
    )


def address(parser: argparse.ArgumentParser) -> None:
    """Which server is asked, and by whom."""
    server_option(parser)
    parser.add_argument(
        "--token",
        default=os.environ.get("LASTWORD_TOKEN"),
        metavar="TOKEN",
        help="what LASTWORD_TOKEN says, or, on this machine, your own",
    )


def link(asked: argparse.Namespace) -> int:
    """Print another link to the page; the exit code."""
    try:
        found = ask(asked, "POST", "/v1/links")
    except RemoteFailed as error:
        print(f"lastword link: {error}", file=sys.stderr)
        return 1
    print(f"{asked.url.rstrip('/')}{found['path']}")
    return 0


def token(asked: argparse.Namespace) -> int:
    """Print it; the exit code."""
    try:
        print(_own(asked.url)[1])
    except (RemoteFailed, OSError, ValueError) as error:
        print(f"lastword token: {error}", file=sys.stderr)
        return 1
    return 0


def _own(url: str) -> tuple[str, str]:
    """The address of a server of the person's own, and its token. Whoever else listens there
    is sent nothing: only what a server of theirs has written down is believed. Raises
    RemoteFailed."""
    from lastword.server.who import token_from  # noqa: PLC0415 - only when asked for

    found = running.at(url)
    if found is None:
        raise RemoteFailed(
            f"no server of yours runs at {url}, so no token of yours was sent there; start one "
            "with lastword serve, or say --token or LASTWORD_TOKEN"
        )
    return found.url, token_from(secret.ours(), found.start)


def stop(asked: argparse.Namespace) -> int:
    """Stop a session; the exit code."""
    name = quote(asked.session, safe="")
    told = {"run": asked.run} if asked.run else {}
    try:
        answer = ask(asked, "POST", f"/v1/sessions/{name}/stop", told)
    except RemoteFailed as error:
        print(f"lastword stop: {error}", file=sys.stderr)
        return 1
    receipt = cast("dict[str, Any]", answer["receipt"])
    print(receipt["words"])
    return _IDLE if receipt["idle"] else 0 if receipt["quiet"] else _LEFT


def ask(
    asked: argparse.Namespace, method: str, path: str, told: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What the server answers. Raises RemoteFailed."""
    try:
        return _ask(asked, method, path, told)
    except urllib.error.HTTPError as error:
        raise RemoteFailed(_problem(error)) from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        why = getattr(error, "reason", error)
        raise RemoteFailed(f"{asked.url} does not answer: {why}") from error


def _ask(
    asked: argparse.Namespace, method: str, path: str, told: dict[str, Any] | None
) -> dict[str, Any]:
    where = urlsplit(cast("str", asked.url))
    if where.scheme not in {"http", "https"} or not where.netloc:
        raise ValueError(f"--url is the address of a server, not {asked.url!r}")
    here = where.hostname in {"localhost", "127.0.0.1", "::1"}
    url, token = cast("tuple[str, str | None]", (asked.url, asked.token or None))
    if token is None and here:
        url, token = _own(url)
    if token is None:
        raise ValueError("it is not on this machine, so say --token, or LASTWORD_TOKEN")
    request = urllib.request.Request(  # noqa: S310 - the scheme was looked at
        f"{url.rstrip('/')}{path}",
        data=None if told is None else json.dumps(told).encode(),
        headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
        method=method,
    )
    no_proxy = (urllib.request.ProxyHandler({}),) if here else ()
    opener = urllib.request.build_opener(_Here, *no_proxy)
    with opener.open(request, timeout=_PATIENCE) as answer:
        return cast("dict[str, Any]", json.load(answer))


class _Here(urllib.request.HTTPRedirectHandler):
    """A token is for whom it was meant for, and for nobody that they name."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def _problem(error: urllib.error.HTTPError) -> str:
    try:
        told = cast("dict[str, Any]", json.load(error))
        return f"{told['title']}: {told['detail']}"
    except (ValueError, KeyError, TypeError):
        return f"the server answered {error.code}"
