"""`lastword.toml`: what a person has set once, here or for good."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self, TypeAlias, cast

from lastword.errors import LastwordError

NAME = "lastword.toml"
Table: TypeAlias = dict[str, Any]


class BadConfig(LastwordError):
    """A setting cannot be used, and which."""


@dataclass(frozen=True, slots=True)
class Server:
    """An MCP server: one that is started, or one that is reached."""

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """What can be set."""

    model: str | None = None  # provider:model, or "rehearsal"
    base_url: str | None = None
    store: str | None = None
    on_message: str | None = None
    roots: tuple[str, ...] = (".",)
    rules: tuple[str, ...] = ()
    fetch: bool = False
    instructions: str = ""
    window: int = 128_000  # tokens that the model can take in
    mcp: tuple[Server, ...] = ()  # tables in the file: [mcp.NAME]
    path: Path | None = None  # where it was read

    @classmethod
    def found(cls, path: Path | None = None, environment: Mapping[str, str] = os.environ) -> Self:
        """From that file; or from the one here, or else the person's own; or as it comes."""
        if path is not None:
            return cls.read(path)
        home = environment.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        places = (Path(NAME), Path(home) / "lastword" / NAME)
        place = next((place for place in places if place.is_file()), None)
        return cls.read(place) if place else cls()

    @classmethod
    def read(cls, path: Path) -> Self:
        """From a file. What is wrong in it is named, and nothing of it is used."""
        try:
            plain = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise BadConfig(f"{path} cannot be read: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadConfig(f"{path} is not TOML: {error}") from error
        known = {field.name: field for field in fields(cls) if field.name != "path"}
        for name, value in plain.items():
            if name not in known:
                names = ", ".join(known)
                raise BadConfig(f"{path}: there is no setting {name!r}; there are {names}")
            plain[name] = _checked(path, name, value, known[name].default)
        return cls(**plain, path=path)


def _checked(path: Path, name: str, value: Any, default: object) -> object:  # noqa: ANN401 - as read
    if name == "mcp":
        return _servers(path, value)
    wanted = type(default) if default is not None else str
    if wanted is tuple:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):  # pyright: ignore[reportUnknownVariableType] - as read
            return tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        raise BadConfig(f"{path}: {name} must be a list of strings")
    if type(value) is not wanted:
        raise BadConfig(f"{path}: {name} must be a {wanted.__name__}, not {value!r}")
    return value


def _servers(path: Path, tables: object) -> tuple[Server, ...]:
    if not isinstance(tables, dict):
        raise BadConfig(f"{path}: MCP servers are tables, as [mcp.NAME]")
    return tuple(_server(path, name, table) for name, table in cast("Table", tables).items())


def _server(path: Path, name: str, table: object) -> Server:
    where = f"{path}: [mcp.{name}]"
    if not isinstance(table, dict):
        raise BadConfig(f"{where} must be a table")
    plain = cast("Table", table)
    known = {field.name for field in fields(Server)} - {"name"}
    if unknown := plain.keys() - known:
        there = ", ".join(sorted(known))
        raise BadConfig(f"{where}: there is no setting {min(unknown)!r}; there are {there}")
    if ("command" in plain) == ("url" in plain):
        raise BadConfig(f"{where} needs a command or a url, and not both")
    for setting in ("url", "cwd"):
        if not isinstance(plain.get(setting, ""), str):
            raise BadConfig(f"{where}: {setting} must be a string")
    return Server(
        name,
        command=_words(where, plain.get("command", [])),
        env=_strings(where, "env", plain.get("env")),
        cwd=plain.get("cwd"),
        url=plain.get("url", ""),
        headers=_strings(where, "headers", plain.get("headers")),
    )


def _words(where: str, command: object) -> tuple[str, ...]:
    if isinstance(command, list):
        words = cast("list[object]", command)
        if all(isinstance(word, str) for word in words):
            return tuple(cast("list[str]", command))
    raise BadConfig(f'{where}: command must be a list of words, as ["npx", "server"]')


def _strings(where: str, setting: str, table: object) -> dict[str, str] | None:
    """A table of strings, with `${NAME}` from the environment put in."""
    if table is None:
        return None
    if isinstance(table, dict):
        plain = cast("Table", table)
        if all(isinstance(value, str) for value in plain.values()):
            return {key: os.path.expandvars(value) for key, value in plain.items()}
    raise BadConfig(f"{where}: {setting} must be a table of strings")
