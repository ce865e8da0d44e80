"""Tools as a program sees them."""

import ast

import pytest

from lastword.cells import Interpreter, StepFinished, Tool, arguments, stubs
from tests.cells.programs import READ


def one(schema: object, defs: dict[str, object] | None = None) -> str:
    """How a tool with one parameter is declared."""
    about = {"properties": {"x": schema}, "required": ["x"], "$defs": defs or {}}
    line = next(line for line in stubs([Tool("t", about)]).splitlines() if " t(" in line)
    return line.removeprefix("async def t(").removesuffix(") -> Any:")


@pytest.mark.parametrize(
    ("schema", "declared"),
    [
        ({"type": "string"}, "x: str"),
        ({"type": "number"}, "x: float"),
        ({"type": "array"}, "x: list[Any]"),
        ({"type": "array", "items": {"type": "integer"}}, "x: list[int]"),
        ({"type": "object"}, "x: dict[str, Any]"),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, "x: dict[str, bool]"),
        ({"type": "object", "additionalProperties": False}, "x: dict[str, Any]"),
        ({"type": ["string", "null"]}, "x: str | None"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x: int | None"),
        ({"anyOf": [{"type": "integer"}, {}]}, "x: Any"),
        ({"enum": ["a", "it's", None]}, "x: Literal['a', \"it's\", None]"),
        ({"const": "a"}, "x: Literal['a']"),
        ({"enum": [1.5]}, "x: Any"),
        ({"type": "something new"}, "x: Any"),
        ({}, "x: Any"),
        (True, "x: Any"),
    ],
)
def test_a_schema_is_declared_as_the_type_that_python_has_for_it(
    schema: object, declared: str
) -> None:
    assert one(schema) == declared


def test_references_are_followed_and_those_to_themselves_end() -> None:
    node = {"type": "array", "items": {"$ref": "#/$defs/Node"}}

    assert one({"$ref": "#/$defs/Id"}, {"Id": {"type": "integer"}}) == "x: int"
    assert "Any" in one({"$ref": "#/$defs/Node"}, {"Node": node})


def test_what_may_be_left_out_has_a_default_and_comes_last() -> None:
    properties = {"a": {"type": "integer", "default": 1}, "b": {}, "c": {"default": [1]}}
    tool = Tool("t", {"properties": properties, "required": ["b"]}, returns={"type": "string"})

    assert "async def t(b: Any, a: int = 1, c: Any = ...) -> str:" in stubs([tool])


def test_parameters_that_python_has_no_name_for_can_still_be_given() -> None:
    tool = Tool("t", {"properties": {"a-b": {}, "class": {}, "c": {}}, "required": ["c"]})

    assert "async def t(c: Any, **others: Any)" in stubs([tool])
    assert arguments(tool, ("x",), {"a-b": 1}) == {"c": "x", "a-b": 1}


def test_a_call_is_given_the_names_that_the_tool_knows() -> None:
    assert arguments(READ, ("a", 2), {}) == {"path": "a", "offset": 2}
    assert arguments(READ, (), {"path": "a"}) == {"path": "a"}
    for args, kwargs, words in [
        (("a", 1, 2), {}, "takes 2 arguments, and 3"),
        (("a",), {"path": "b"}, "more than one value for path"),
        ((), {"offset": 1}, "needs path"),
    ]:
        with pytest.raises(TypeError, match=words):
            arguments(READ, args, kwargs)


def test_a_name_that_python_cannot_have_is_made_one_and_two_alike_are_refused() -> None:
    assert "async def files_read_all(" in stubs([Tool("files.read-all")])
    assert "async def _class(" in stubs([Tool("class")])
    for names in (("a-b", "a.b"), ("recall",)):
        with pytest.raises(ValueError, match="rename it"):
            stubs([Tool(name) for name in names])


@pytest.mark.parametrize(
    "words",
    ['a"""\nimport os\n"""', 'ends with "', "ends with \\", "a\n\n  b\n", '"""', "\0", "'''"],
)
def test_a_description_is_nothing_but_text(words: str) -> None:
    read = ast.parse(stubs([Tool("t", description=words)]))

    assert [type(one).__name__ for one in read.body] == [
        "ImportFrom",
        "AsyncFunctionDef",
        "FunctionDef",
        "FunctionDef",
    ]


@pytest.mark.asyncio(loop_scope="module")
async def test_the_checker_takes_what_is_declared(interpreter: Interpreter) -> None:
    odd = Tool("o.dd", {"properties": {"a": {"enum": ["x", 1]}, "b-c": {}, "d": {"default": 1.5}}})
    source = "if False:\n    await o_dd('x', **{'b-c': 1})\n    await o_dd(d=2)\n1"

    assert await interpreter.start(source, tools=[READ, odd]) == StepFinished(1)
