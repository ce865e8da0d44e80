"""Functions as tools: what a model is told of one, and what it gave checked before it is called.

What is wrong with a call's arguments is told to the model, and nothing was called.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from typing import Any

from pydantic import TypeAdapter, ValidationError

from lastword.core.entries import Nature
from lastword.runtime.checks import must_be_callable, must_not_generate
from lastword.runtime.fence import name_of


class FunctionTool:
    """A function that a model may call. Without `schema`, what it takes is read from its signature.

    One that is not async has a thread. `nature` tells a later model, if a call may have executed,
    that it can be made again all the same: `read_only`, or `idempotent`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str = "",
        description: str = "",
        schema: Mapping[str, Any] | None = None,
        nature: Nature = "",
    ) -> None:
        must_be_callable(function, "a tool")
        must_not_generate(function)
        self.name = name or name_of(function)
        self.description = description or inspect.getdoc(function) or ""
        self.nature: Nature = nature
        self._function = function
        self._given: TypeAdapter[Any] = TypeAdapter(_taken(function) if schema is None else _ANY)
        self.schema = self._described() if schema is None else dict(schema)

    def bound(self, arguments: str) -> Callable[[], Any]:
        """The function with what a model gave; a `ValueError` that says what is wrong with that."""
        try:
            args, kwargs = self._given.validate_json(arguments or "{}")
        except ValidationError as error:
            raise ValueError(f"its arguments are wrong: {_why(error)}") from error
        return partial(self._function, *args, **kwargs)

    def _described(self) -> dict[str, Any]:
        try:
            return {"properties": {}, **self._given.json_schema()}
        except Exception as error:
            why = f"what {self.name} takes cannot be described to a model; give schema="
            raise TypeError(f"{why} ({error})") from error


def tools_of(given: Iterable[Callable[..., Any] | FunctionTool]) -> dict[str, FunctionTool]:
    """Tools by name; two of one name are an error."""
    made = [one if isinstance(one, FunctionTool) else FunctionTool(one) for one in given]
    named = {one.name: one for one in made}
    if len(named) < len(made):
        raise ValueError(f"two tools have one name: {sorted(one.name for one in made)}")
    return named


def _taken(function: Callable[..., Any]) -> Any:  # noqa: ANN401 - a function, read as a type
    """What takes the same as the function, and only gives back what it took."""

    @wraps(function)
    def taken(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:  # noqa: ANN401
        return args, kwargs

    return taken


def _anything(**kwargs: Any) -> None:  # noqa: ANN401 - the schema says
    """For who brings a schema of their own."""


_ANY = _taken(_anything)


def _why(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg']}".removeprefix(": ")
        for one in error.errors()
    )
