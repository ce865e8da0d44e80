"""Who may ask a server what, as a file says it."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, cast

from lastword.server.who import ALL, ApiToken

_KEYS = {"token", "rights", "principal"}


def tokens_in(path: Path) -> list[ApiToken]:
    """The tokens of a TOML file: `[NAME]`, and in it `token`, maybe `rights` and `principal`."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        read = file.read()
    if status.st_mode & 0o077 or status.st_uid not in {0, os.geteuid()}:
        raise ValueError(
            f"{path} can be read by others, or is theirs; chmod 600 it, for it holds tokens"
        )
    try:
        found = tomllib.loads(read.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from error
    made = [_token(path, name, table) for name, table in found.items()]
    secrets = [token.secret for token in made]
    if len(set(secrets)) < len(secrets):
        raise ValueError(f"{path}: two of them have the same token")
    return made


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
