"""`lastword.toml`: what a person has set once, for good or for a directory.

A directory may have been downloaded, its file with it. So the person's own file always holds, and
the one here adds to it: at once what can do no harm; what runs something, sends something somewhere
or allows more, once the person has trusted that very file.
"""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self, TypeAlias, cast

from lastword.agent.rules import Rule
from lastword.agent.trust import Stamp, is_trusted, of_the_person
from lastword.errors import LastwordError

NAME = "lastword.toml"
Table: TypeAlias = dict[str, Any]


class BadConfig(LastwordError):
    """A setting cannot be used, and which."""


@dataclass(frozen=True, slots=True)
class ServerSetting:
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
    shell: str = ""  # that reads commands; bash, if there is one
    cd_lasts: bool = False  # a command begins where the last one has ended
    instructions: str = ""
    window: int = 128_000  # tokens that the model can take in
    mcp: tuple[ServerSetting, ...] = ()  # tables in the file: [mcp.NAME]

    @classmethod
    def read(cls, path: Path) -> Self:
        """From a file. What is wrong in it is named, and nothing of it is used."""
        return cls(**_ready(_parsed(path, _bytes(path))))


@dataclass(frozen=True, slots=True)
class FoundSettings:
    """The settings that hold; and those that do not, because nobody trusts the file here."""

    config: Config
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])  # and what each would do
    stamp: Stamp | None = None  # of the file to trust


def found(path: Path | None = None, environment: Mapping[str, str] = os.environ) -> FoundSettings:
    """The person's own settings, and with them those of a file: that one, or else the one here.

    Whoever names a file trusts it.
    """
    own_place = of_the_person("XDG_CONFIG_HOME", ".config", environment) / NAME
    own = _parsed(own_place, _bytes(own_place)) if own_place.is_file() else {}
    here = path or Path(NAME)
    if path is None and (not here.is_file() or here.resolve() == own_place.resolve()):
        return FoundSettings(Config(**_ready(own)))
    data = _bytes(here)
    more, stamp, left_out = _parsed(here, data), Stamp.of(here, data), dict[str, str]()
    if path is None and not is_trusted(stamp, environment):
        more, left_out = _harmless(more)
    return FoundSettings(Config(**_ready(_joined(own, more))), left_out, stamp)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadConfig(f"{path} cannot be read: {error.strerror}") from error


def _parsed(path: Path, data: bytes) -> Table:
    """What is set there, each setting as it should be."""
    try:
        plain = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadConfig(f"{path} is not TOML: {error}") from error
    known = {field.name: field for field in fields(Config)}
    for name, value in plain.items():
        if name not in known:
            names = ", ".join(known)
            raise BadConfig(f"{path}: there is no setting {name!r}; there are {names}")
        plain[name] = _checked(path, name, value, known[name].default)
    return plain


def _joined(own: Table, more: Table) -> Table:
    """More settings on top of a person's own, of which no rule is lost."""
    both = own | more
    for name in {"rules", "instructions"} & own.keys() & more.keys():
        both[name] = own[name] + ("\n" if name == "instructions" else ()) + more[name]
    servers = {server.name: server for server in (*own.get("mcp", ()), *more.get("mcp", ()))}
    return both | {"mcp": tuple(servers.values())}


def _ready(plain: Table) -> Table:
    """With `${NAME}` from the environment put in, now that it is known what is used."""
    servers: tuple[ServerSetting, ...] = plain.get("mcp", ())
    full = (replace(one, env=_filled(one.env), headers=_filled(one.headers)) for one in servers)
    return plain | {"mcp": tuple(full)}


def _filled(table: Mapping[str, str] | None) -> dict[str, str] | None:
    return {key: os.path.expandvars(table[key]) for key in table} if table is not None else None


def _harmless(plain: Table) -> tuple[Table, dict[str, str]]:
    """What a file may set that nobody trusts; and what else it would do, by setting."""
    kept, left_out = dict(plain), dict[str, str]()
    if "base_url" in kept:
        names = "model, base_url" if "model" in kept else "base_url"  # it is one of that server's
        asked = kept.pop("model", "the model")
        left_out[names] = f"ask {asked} at {kept.pop('base_url')}, with your OPENAI_API_KEY"
    for name, would in (
        ("store", "keep what is said in {}"),
        ("shell", "run commands with {}"),
        ("fetch", "let it fetch pages of the web"),
    ):
        if kept.get(name):
            left_out[name] = would.format(kept.pop(name))
    for server in kept.pop("mcp", ()):
        left_out[f"mcp.{server.name}"] = _told(server)
    for name, is_harmless, would in (
        ("rules", _is_strict, "go by the rules"),
        ("roots", _is_inside, "have its files in"),
    ):
        values: tuple[str, ...] = kept.pop(name, ())
        if outside := [value for value in values if not is_harmless(value)]:
            left_out[name] = f"{would}: {', '.join(outside)}"
        if inside := tuple(value for value in values if is_harmless(value)):
            kept[name] = inside
    return kept, left_out


def _is_strict(rule: str) -> bool:
    return Rule.parse(rule).action != "allow"


def _is_inside(root: str) -> bool:
    return Path(root).resolve().is_relative_to(Path.cwd().resolve())


def _told(server: ServerSetting) -> str:
    """What a server would mean; what it is given is named as it stands in the file."""
    given = [f"{key}={value}" for key, value in (server.env or server.headers or {}).items()]
    with_ = f", with {', '.join(given)}" if given else ""
    if not server.command:
        return f"reach the MCP server {server.url}{with_}"
    where = f" in {server.cwd}" if server.cwd else ""
    return f"start {shlex.join(server.command)}{where}{with_}"


def _checked(path: Path, name: str, value: Any, default: object) -> object:  # noqa: ANN401 - as read
    if name == "mcp":
        return _servers(path, value)
    wanted = type(default) if default is not None else str
    if wanted is tuple:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):  # pyright: ignore[reportUnknownVariableType] - as read
            check = {"rules": _rule, "roots": _root}[name]
            return tuple(check(path, one) for one in cast("list[str]", value))
        raise BadConfig(f"{path}: {name} must be a list of strings")
    if type(value) is not wanted:
        raise BadConfig(f"{path}: {name} must be a {wanted.__name__}, not {value!r}")
    if isinstance(value, int) and name == "window" and value <= 0:
        raise BadConfig(f"{path}: window must be more than 0 tokens, not {value}")
    return cast("object", value)


def _rule(path: Path, line: str) -> str:
    try:
        Rule.parse(line)
    except ValueError as error:
        raise BadConfig(f"{path}: rules: {error}") from error
    return line


def _root(path: Path, root: str) -> str:
    """A directory, with `~` put in; it has to be there."""
    try:
        place = Path(root).expanduser()
        if root and place.is_dir():
            return str(place)
    except (OSError, RuntimeError, ValueError):  # not ours to look at, nobody's home, no path
        pass
    raise BadConfig(f"{path}: roots: there is no directory {root!r}")


def _servers(path: Path, tables: object) -> tuple[ServerSetting, ...]:
    if not isinstance(tables, dict):
        raise BadConfig(f"{path}: MCP servers are tables, as [mcp.NAME]")
    return tuple(_server(path, name, table) for name, table in cast("Table", tables).items())


def _server(path: Path, name: str, table: object) -> ServerSetting:
    where = f"{path}: [mcp.{name}]"
    if not isinstance(table, dict):
        raise BadConfig(f"{where} must be a table")
    plain = cast("Table", table)
    known = {field.name for field in fields(ServerSetting)} - {"name"}
    if unknown := plain.keys() - known:
        there = ", ".join(sorted(known))
        raise BadConfig(f"{where}: there is no setting {min(unknown)!r}; there are {there}")
    if ("command" in plain) == ("url" in plain):
        raise BadConfig(f"{where} needs a command or a url, and not both")
    for kind, not_its_own in (("command", {"headers"}), ("url", {"env", "cwd"})):
        if kind in plain and (wrong := not_its_own & plain.keys()):
            raise BadConfig(f"{where}: {min(wrong)} cannot be used with a {kind}")
    for setting in ("url", "cwd"):
        if not isinstance(plain.get(setting, ""), str):
            raise BadConfig(f"{where}: {setting} must be a string")
    return ServerSetting(
        name,
        command=_words(where, plain["command"]) if "command" in plain else (),
        env=_strings(where, "env", plain.get("env")),
        cwd=plain.get("cwd"),
        url=plain.get("url", ""),
        headers=_strings(where, "headers", plain.get("headers")),
    )


def _words(where: str, command: object) -> tuple[str, ...]:
    if isinstance(command, list):
        words = cast("list[object]", command)
        if words and all(isinstance(word, str) for word in words):
            return tuple(cast("list[str]", command))
    raise BadConfig(f'{where}: command must be a list of words, as ["npx", "server"]')


def _strings(where: str, setting: str, table: object) -> dict[str, str] | None:
    if table is None:
        return None
    if isinstance(table, dict):
        plain = cast("Table", table)
        if all(isinstance(value, str) for value in plain.values()):
            return cast("dict[str, str]", plain)
    raise BadConfig(f"{where}: {setting} must be a table of strings")
