"""R13. A call is recorded by the names its arguments were given by."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from lastword import Outcome, Run
from lastword.core.entries import Called, Result
from tests.promise.stories import runtime


def others(**arguments: object) -> None: ...


def mixed(first: int, *rest: int, flag: bool = False, **others: object) -> None: ...


def same(name: int, /, **others: object) -> None: ...


@pytest.mark.scenario("R13")
@pytest.mark.parametrize(
    ("tool", "args", "kwargs", "recorded"),
    [
        (others, (), {"path": "a", "text": "b"}, {"path": "a", "text": "b"}),
        (others, (), {"arguments": {"x": 1}, "name": "n"}, {"arguments": {"x": 1}, "name": "n"}),
        (others, (), {}, {}),
        (
            mixed,
            (1, 2, 3),
            {"flag": True, "q": "x"},
            {"first": 1, "rest": [2, 3], "flag": True, "q": "x"},
        ),
        (same, (1,), {"name": 2}, {"name": 1, "others": {"name": 2}}),
        (print, ("x",), {"end": ""}, {"args": ["x"], "end": ""}),
    ],
)
async def test_arguments_are_recorded_by_the_names_they_were_given_by(
    tool: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    recorded: dict[str, Any],
) -> None:
    async def engine(run: Run) -> None:
        await run.call(tool, *args, **kwargs)

    async with runtime(engine) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        [called] = [e for e in await r.session("s").log() if isinstance(e, Called)]

    assert json.loads(called.arguments) == recorded


@pytest.mark.scenario("R13")
async def test_a_call_can_be_recorded_under_another_name_with_other_arguments() -> None:
    given: list[object] = []

    def post(client: object, *, name: str, arguments: str) -> str:
        given.extend((client, name, arguments))
        return "ok"

    async def engine(run: Run) -> None:
        gated = run.gate(post, name="send_mail", arguments={"to": "ann"})
        await gated(object, name="mine", arguments="mine too")

    async with runtime(engine) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        [called] = [e for e in await r.session("s").log() if isinstance(e, Called)]
        shown = [item for item in await r.session("s").history() if item.role == "call"]

    assert given == [object, "mine", "mine too"]
    assert (called.name, json.loads(called.arguments)) == ("send_mail", {"to": "ann"})
    assert [(item.name, json.loads(item.text)) for item in shown] == [("send_mail", {"to": "ann"})]


@pytest.mark.scenario("R11")
async def test_half_a_character_in_arguments_results_and_errors_is_mended() -> None:
    half = "\ud83d"

    def echo(text: str) -> str:
        return text

    def fail(text: str) -> None:
        raise ValueError(text)

    async def engine(run: Run) -> None:
        await run.call(echo, half)
        with pytest.raises(ValueError, match=half):
            await run.call(fail, half)
        raise RuntimeError(half)

    async with runtime(engine) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.FAILED
        log = await r.session("s").log()
        kept = [e.arguments for e in log if isinstance(e, Called)]
        kept += [e.content for e in log if isinstance(e, Result)]

    assert [text.encode() for text in (*kept, ticket.error)]
