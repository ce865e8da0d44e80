"""Ways to change a function, by what it does and not by how it is written.

A change names what it changes: the condition that speaks of something, the call of something, or a
piece of it, as syntax. It has to find exactly one such place, so that a mutation that no longer
says what it meant is an error.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar, cast

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Change: TypeAlias = Callable[[Function], None]
T = TypeVar("T")


class Lost(Exception):
    """What was to be changed is not there, or not once."""


def negated(about: str, nth: int | None = None) -> Change:
    """The condition that speaks of it is turned round."""
    return _tested(about, nth, lambda test: ast.UnaryOp(ast.Not(), test))


def never(about: str, nth: int | None = None) -> Change:
    """The condition that speaks of it does not hold."""
    return _tested(about, nth, lambda _: ast.Constant(value=False))


def always(about: str, nth: int | None = None) -> Change:
    """The condition that speaks of it holds."""
    return _tested(about, nth, lambda _: ast.Constant(value=True))


def without(about: str) -> Change:
    """Of several things that stand together, the one that speaks of it is left out."""

    def change(function: Function) -> None:
        found = [
            (whole, part)
            for whole in ast.walk(function)
            if isinstance(whole, ast.BoolOp | ast.Tuple)
            and not isinstance(getattr(whole, "ctx", None), ast.Store)
            for part in (whole.values if isinstance(whole, ast.BoolOp) else whole.elts)
            if about in _names(part)
        ]
        inner = [one for _, part in found for one in ast.walk(part) if one is not part]
        outermost = [(whole, part) for whole, part in found if part not in inner]
        whole, part = _only(outermost, f"a part about {about}")
        if isinstance(whole, ast.Tuple):
            whole.elts.remove(part)
        else:
            neutral = ast.Constant(value=isinstance(whole.op, ast.And))
            whole.values[whole.values.index(part)] = neutral

    return change


def dropped(callee: str, nth: int | None = None) -> Change:
    """The call of it, or of several the n-th, is not made; it is a statement of its own."""

    def is_it(statement: ast.stmt) -> bool:
        if not isinstance(statement, ast.Expr):
            return False
        value = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
        return isinstance(value, ast.Call) and _last(value.func) == callee

    return _left_out(is_it, f"a call of {callee}", nth)


def forgotten(target: str) -> Change:
    """It is not set, or not counted."""

    def is_it(statement: ast.stmt) -> bool:
        match statement:
            case ast.Assign(targets=targets):
                return any(_last(one) == target for one in targets)
            case ast.AugAssign(target=one):
                return _last(one) == target
            case _:
                return False

    return _left_out(is_it, f"where {target} is set")


def unlocked(function: Function) -> None:
    """No lock is taken."""
    found = [
        (body, statement)
        for body in _bodies(function)
        for statement in body
        if isinstance(statement, ast.With | ast.AsyncWith)
        and any(
            _last(item.context_expr) in {"lock", "_lock", "_turn", "_opening"}
            for item in statement.items
        )
    ]
    body, statement = _only(found, "a lock")
    at = body.index(statement)
    body[at : at + 1] = statement.body


def gives(value: bool | int | str | None) -> Change:
    """All that it does is to give this."""

    def change(function: Function) -> None:
        function.body = [ast.Return(ast.Constant(value=value))]

    return change


def compared(about: str, operator: type[ast.cmpop]) -> Change:
    """The comparison that speaks of it is another one."""

    def change(function: Function) -> None:
        found = [n for n in ast.walk(function) if isinstance(n, ast.Compare) and about in _names(n)]
        _only(found, f"a comparison with {about}").ops = [operator()]

    return change


def instead(old: str, new: str) -> Change:
    """What reads so, however it is laid out, reads so instead: an expression, or statements."""

    def change(function: Function) -> None:
        was, now = ast.parse(old).body, ast.parse(new).body
        if len(was) == len(now) == 1 and isinstance(was[0], ast.Expr):
            assert isinstance(now[0], ast.Expr)
            _swap(function, was[0].value, now[0].value)
        else:
            _swap_statements(function, was, now)

    return change


def _swap(function: Function, old: ast.expr, new: ast.expr) -> None:
    wanted = ast.dump(old)
    places = [
        (node, name, at)
        for node in ast.walk(function)
        for name, value in ast.iter_fields(node)
        for at, one in enumerate(_listed(value))
        if isinstance(one, ast.AST) and ast.dump(one) == wanted
    ]
    node, name, at = _only(places, ast.unparse(old))
    value = getattr(node, name)
    if isinstance(value, list):
        value[at] = new
    else:
        setattr(node, name, new)


def _listed(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _swap_statements(function: Function, old: list[ast.stmt], new: list[ast.stmt]) -> None:
    wanted = [ast.dump(one) for one in old]
    places = [
        (body, at)
        for body in _bodies(function)
        for at in range(len(body))
        if [ast.dump(one) for one in body[at : at + len(old)]] == wanted
    ]
    body, at = _only(places, "; ".join(map(ast.unparse, old)))
    body[at : at + len(old)] = new or [ast.Pass()]


def _tested(about: str, nth: int | None, change: Callable[[ast.expr], ast.expr]) -> Change:
    def apply(function: Function) -> None:
        found = [
            (node, name, test)
            for node in ast.walk(function)
            for name in ("test", "guard")
            if isinstance(test := getattr(node, name, None), ast.expr) and about in _names(test)
        ]
        found.sort(key=lambda place: place[2].lineno)
        node, name, test = _only(found, f"a condition about {about}", nth)
        setattr(node, name, change(test))

    return apply


def _left_out(is_it: Callable[[ast.stmt], bool], what: str, nth: int | None = None) -> Change:
    def change(function: Function) -> None:
        found = [(body, one) for body in _bodies(function) for one in body if is_it(one)]
        found.sort(key=lambda place: place[1].lineno)
        body, statement = _only(found, what, nth)
        body[body.index(statement)] = ast.Pass()

    return change


def _bodies(function: Function) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                yield body


def _names(node: ast.AST) -> set[str]:
    """All that it speaks of."""
    return {name for one in ast.walk(node) if (name := _last(one))}


def _last(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=whole):
            return _last(whole)
        case _:
            return ""


def _only(found: list[T], what: str, nth: int | None = None) -> T:
    """The one that is meant; or, where there are several, the n-th of them."""
    if nth is not None and len(found) > max(nth, 1):
        return found[nth]
    if nth is not None or len(found) != 1:
        raise Lost(
            f"{what}: there are {len(found)}, and {'one' if nth is None else 'several'} meant"
        )
    return found[0]
