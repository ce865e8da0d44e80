"""Whether a page of somebody else's is still there, as far as its server says."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from enum import Enum, auto
from http import HTTPStatus
from urllib.error import HTTPError
from urllib.request import Request, urlopen

_PATIENCE = 10.0  # seconds for one server
_AT_ONCE = 8
_BROWSER = "Mozilla/5.0 (compatible; lastword-docs)"  # some answer nobody else


class Answer(Enum):
    """What a server said of a page."""

    THERE = auto()
    GONE = auto()
    REFUSED = auto()  # it would not say: too many asked, or no programs are welcome
    SILENT = auto()  # it could not be reached, or a proxy on the way let nobody through


def ask(url: str) -> Answer:
    """Follows redirects, and reads nothing but the status."""
    request = Request(url, headers={"User-Agent": _BROWSER, "Accept": "text/html,*/*"})  # noqa: S310
    try:
        with urlopen(request, timeout=_PATIENCE):  # noqa: S310 - links of our own pages
            return Answer.THERE
    except HTTPError as error:
        gone = error.code in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}
        return Answer.GONE if gone else Answer.REFUSED
    except OSError:
        return Answer.SILENT


def ask_all(urls: Iterable[str]) -> dict[str, Answer]:
    """A few at once."""
    wanted = sorted(set(urls))
    with ThreadPoolExecutor(_AT_ONCE) as several:
        return dict(zip(wanted, several.map(ask, wanted), strict=True))
