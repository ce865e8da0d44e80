"""`lastword.toml`: what a person has set once, here or for good."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from lastword.errors import LastwordError

NAME = "lastword.toml"


class BadConfig(LastwordError):
    """A setting cannot be used, and which."""


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
    wanted = type(default) if default is not None else str
    if wanted is tuple:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):  # pyright: ignore[reportUnknownVariableType] - as read
            return tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        raise BadConfig(f"{path}: {name} must be a list of strings")
    if type(value) is not wanted:
        raise BadConfig(f"{path}: {name} must be a {wanted.__name__}, not {value!r}")
    return value
