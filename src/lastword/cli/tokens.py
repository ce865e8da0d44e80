"""Who may ask a server what, as a file says it, also after it was changed.

A file with a mistake in it changes nothing: those who were known still are, and the log says why.
"""

from __future__ import annotations

import asyncio
import logging
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from lastword.cli import private
from lastword.runtime.tasks import Tasks
from lastword.server.who import ALL, ApiToken

log = logging.getLogger("lastword")
_ROOT = 0
_LONGEST = 1 << 20  # bytes that a file has
_KEYS = {"token", "rights", "principal"}


def tokens_in(path: Path) -> list[ApiToken]:
    """The tokens of a TOML file: `[NAME]`, and in it `token`, maybe `rights` and `principal`."""
    read, status = private.read(path, _LONGEST + 1, links=True)
    if why := private.wrong(status, _ROOT):
        raise ValueError(f"{path} {why}; it holds tokens, so have it be yours and chmod 600 it")
    if len(read) > _LONGEST:
        raise ValueError(f"{path} is longer than {_LONGEST} bytes")
    try:
        found = tomllib.loads(read.decode("utf-8-sig"))  # some editors begin a file with a mark
    except UnicodeDecodeError as error:
        line = read.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}: line {line} is not UTF-8; save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from error
    made = [_token(path, name, table) for name, table in found.items()]
    secrets = [token.secret for token in made]
    if len(set(secrets)) < len(secrets):
        raise ValueError(f"{path}: two of them have the same token")
    return made


class Rereading:
    """Reads them anew whenever it is told to, one time after the other."""

    def __init__(self, path: Path | None, replace: Callable[[list[ApiToken]], int]) -> None:
        self._path = path
        self._replace = replace  # how many streams that ended
        self._asked = asyncio.Event()
        self._tasks = Tasks("tokens", loud=True)
        self._tasks.start(self._reread(), name="reread")

    def ask(self) -> None:
        """The file has changed."""
        self._asked.set()

    def close(self) -> None:
        self._tasks.cancel()

    async def _reread(self) -> None:
        while await self._asked.wait():
            self._asked.clear()
            if self._path is None:
                log.warning("there is no file of tokens to be read anew; --tokens names one")
                continue
            try:
                found = await asyncio.to_thread(tokens_in, self._path)  # a disk may be slow
            except (ValueError, OSError) as error:
                log.error("the tokens are as they were: %s", error)  # noqa: TRY400
                continue
            ended = self._replace(found)
            told = "the tokens were read anew path=%s tokens=%d streams_ended=%d"
            log.info(told, self._path, len(found), ended)
            if not found:
                log.warning("no token is left: %s is empty, and nobody in it is known", self._path)


def _token(path: Path, name: str, table: object) -> ApiToken:
    where = f"{path}: [{name}]"
    if not isinstance(table, dict):
        raise ValueError(f"{where} is not a table")  # noqa: TRY004 - the file's mistake
    told = cast("dict[str, Any]", table)
    if unknown := told.keys() - _KEYS:
        raise ValueError(f"{where} has {min(unknown)!r}; it may have {', '.join(sorted(_KEYS))}")
    token, rights = told.get("token"), told.get("rights", sorted(ALL))
    if not isinstance(token, str):
        raise ValueError(f"{where} has no token, as a text")  # noqa: TRY004
    if not isinstance(rights, list):
        raise ValueError(f"{where}: rights is a list")  # noqa: TRY004
    principal = told.get("principal", "")
    if not isinstance(principal, str):
        raise ValueError(f"{where}: principal is a text")  # noqa: TRY004
    try:
        return ApiToken(token, name, cast("list[Any]", rights), principal)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
