"""E30. Functions as tools: what a model is told of one, and what is told of what it gave."""

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from lastword import Outcome, Runtime
from lastword.engines.kit.tools import FunctionTool, tools_of
from lastword.testing.provider import Call as Asks
from tests.engines.subject_sdk import sdk_loop

pytestmark = pytest.mark.scenario("E30")


@dataclass
class Found:
    name: str
    size: int


class Page(BaseModel):
    title: str


def search(words: list[str], most: int = 3) -> list[Found]:
    """Search the shelves."""
    return [Found(words[0], most)]


def test_what_a_model_is_told_of_a_function_is_read_from_its_signature() -> None:
    tool = FunctionTool(search)

    assert (tool.name, tool.description) == ("search", "Search the shelves.")
    assert tool.schema["type"] == "object"
    assert tool.schema["required"] == ["words"]
    assert tool.schema["properties"]["most"]["default"] == 3
    assert tool.bound('{"words": ["a"], "most": "4"}')() == [Found("a", 4)]


def test_a_schema_of_one_s_own_is_taken_as_it_is() -> None:
    def act(**given: object) -> object:
        return given

    tool = FunctionTool(act, name="do.it", schema={"type": "object", "properties": {"a": {}}})

    assert tool.schema == {"type": "object", "properties": {"a": {}}}
    assert tool.bound('{"a": 1, "b": 2}')() == {"a": 1, "b": 2}


def test_what_cannot_be_a_tool_is_an_error_when_the_engine_is_made() -> None:
    def positional(a: int, /, *, b: int) -> int:
        return a + b

    def generates() -> Any:
        yield 1

    with pytest.raises(TypeError, match="positional takes cannot be described"):
        FunctionTool(positional)
    with pytest.raises(TypeError, match="generator"):
        FunctionTool(generates)
    with pytest.raises(ValueError, match="two tools have one name"):
        tools_of([search, FunctionTool(search)])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (None, "[completed]"),
        ("", "[completed]"),
        (b"abc", "[3 bytes]"),
        ([Found("a", 1)], '[{"name": "a", "size": 1}]'),
        (Page(title="x"), '{"title": "x"}'),
    ],
)
async def test_what_a_tool_gives_is_told_in_words(given: object, told: str) -> None:
    async def look() -> object:
        return given

    async with sdk_loop("chat") as one, Runtime(one.engine) as r:
        one.tool(look)
        one.answer(Asks("look", {}))
        one.answer("I see.")
        ticket = await r.session("s").send("look")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert one.provider.requests[-1].results == [told]
