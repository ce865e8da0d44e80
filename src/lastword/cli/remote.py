"""`lastword stop` and `lastword token`: a server of this machine, asked from a shell."""

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

from lastword.cli import secret

ABOUT_STOP = """\
Stop a session of a server that runs, and print the receipt.

The exit code is 0 if something was stopped and all is quiet, 3 if nothing was going on, 4 if
something had not ended when the receipt was written."""
ABOUT_KEY = """\
Print the token with which programs of yours may ask your server on this machine:
curl -H "Authorization: Bearer $(lastword token)" http://127.0.0.1:8420/v1/sessions"""
_URL = "http://127.0.0.1:8420"
_IDLE, _LEFT = 3, 4
_PATIENCE = 60.0  # seconds: longer than any stop takes


def options(parser: argparse.ArgumentParser) -> None:
    """What can be said behind `lastword stop`."""
    parser.add_argument("session", metavar="SESSION", help="the session's id")
    parser.add_argument(
        "--url",
        default=os.environ.get("LASTWORD_URL", _URL),
        metavar="URL",
        help=f"where the server is ({_URL}, or what LASTWORD_URL says)",
    )
    parser.add_argument("--run", metavar="RUN", help="only this run, and only if it is that one")
    parser.add_argument(
        "--token",
        default=os.environ.get("LASTWORD_TOKEN"),
        metavar="TOKEN",
        help="what LASTWORD_TOKEN says, or, on this machine, your own",
    )


def token() -> int:
    """Print it; the exit code."""
    print(_own())
    return 0


def _own(port: int | None = None) -> str:
    from lastword.server.who import token_from  # noqa: PLC0415 - only when asked for

    return token_from(secret.ours(), port)


def stop(asked: argparse.Namespace) -> int:
    """Stop a session; the exit code."""
    try:
        answer = _ask(asked)
    except urllib.error.HTTPError as error:
        print(f"lastword stop: {_problem(error)}", file=sys.stderr)
        return 1
    except (OSError, ValueError, http.client.HTTPException) as error:
        why = getattr(error, "reason", error)
        print(f"lastword stop: {asked.url} does not answer: {why}", file=sys.stderr)
        return 1
    receipt = cast("dict[str, Any]", answer["receipt"])
    print(receipt["words"])
    return _IDLE if receipt["idle"] else 0 if receipt["quiet"] else _LEFT


def _ask(asked: argparse.Namespace) -> dict[str, Any]:
    address = urlsplit(cast("str", asked.url))
    if address.scheme not in {"http", "https"} or not address.netloc:
        raise ValueError(f"--url is the address of a server, not {asked.url!r}")
    here = address.hostname in {"localhost", "127.0.0.1", "::1"}
    usual = 443 if address.scheme == "https" else 80
    token = asked.token or (_own(address.port or usual) if here else None)
    if token is None:
        raise ValueError("it is not on this machine, so say --token, or LASTWORD_TOKEN")
    name = quote(asked.session, safe="")
    request = urllib.request.Request(  # noqa: S310 - the scheme was looked at
        f"{asked.url.rstrip('/')}/v1/sessions/{name}/stop",
        data=json.dumps({"run": asked.run} if asked.run else {}).encode(),
        headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
        method="POST",
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
