"""Programs of cells: they stand still where they wait, and go on from there."""

import pytest

from lastword.cells import (
    AtFrontier,
    Err,
    Interpreter,
    Ok,
    ProgramLimits,
    StepCall,
    StepFailed,
    StepFinished,
    StepLimit,
)
from lastword.cells.dumps import opened, sealed
from lastword.errors import UnreadableDump
from tests.cells.programs import ASK, READ, THREE, at_frontier, frontier, ids

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_program_that_waits_for_nothing_comes_to_its_end(interpreter: Interpreter) -> None:
    step = await interpreter.start("print('hello')\n{'a': [1, 2.5, None, True, 'ü']}")

    assert step == StepFinished({"a": [1, 2.5, None, True, "ü"]}, "hello\n")


async def test_calls_that_are_awaited_together_stand_at_one_frontier(
    interpreter: Interpreter,
) -> None:
    step = await interpreter.start(THREE, tools=[READ])

    assert isinstance(step, AtFrontier)
    assert step.pending == (
        StepCall("0", "read", ("a",)),
        StepCall("1", "read", ("b", 2)),
        StepCall("2", "read", (), {"path": "c"}),
    )
    assert step.output == "before\n"

    results = {"0": Ok("A"), "1": Ok("B"), "2": Ok("C")}
    assert await interpreter.resume(step.dump, results) == StepFinished(["A", "B", "C"], "after\n")


async def test_calls_that_are_awaited_one_after_the_other_have_a_frontier_each(
    interpreter: Interpreter,
) -> None:
    first = await frontier(interpreter, "a = await read('a')\nb = await read(a)\na + b")
    second = await interpreter.resume(first.dump, {"0": Ok("x")})

    assert at_frontier(second).pending == (StepCall("1", "read", ("x",)),)
    last = await interpreter.resume(at_frontier(second).dump, {"1": Ok("y")})
    assert last == StepFinished("xy")


async def test_what_is_resolved_alone_leaves_the_rest_at_the_next_frontier(
    interpreter: Interpreter,
) -> None:
    first = await frontier(interpreter, THREE)
    second = at_frontier(await interpreter.resume(first.dump, {"1": Ok("B")}))

    assert second.pending == (first.pending[0], first.pending[2])
    assert second.output == ""
    last = await interpreter.resume(second.dump, {"0": Ok("A"), "2": Ok("C")})
    assert last == StepFinished(["A", "B", "C"], "after\n")


async def test_a_path_that_can_go_on_does_while_another_still_waits(
    interpreter: Interpreter,
) -> None:
    source = """
import asyncio
async def two(name):
    return await read(await read(name))
await asyncio.gather(two("a"), two("b"))
"""
    first = await frontier(interpreter, source)
    second = at_frontier(await interpreter.resume(first.dump, {"0": Ok("aa")}))

    assert second.pending == (StepCall("1", "read", ("b",)), StepCall("2", "read", ("aa",)))


async def test_the_same_frontier_can_be_gone_on_from_any_number_of_times(
    interpreter: Interpreter,
) -> None:
    first = await frontier(interpreter, THREE)

    again = [at_frontier(await interpreter.resume(first.dump, {"0": Ok("A")})) for _ in range(3)]
    other = await interpreter.resume(first.dump, {"0": Err("no"), "1": Ok(""), "2": Ok("")})

    assert [step.pending for step in again] == [first.pending[1:]] * 3
    assert isinstance(other, StepFailed)


async def test_a_call_that_failed_is_an_exception_in_the_program(interpreter: Interpreter) -> None:
    source = """
try:
    said = await read("a")
except RuntimeError as error:
    said = f"caught: {error}"
said
"""
    step = await frontier(interpreter, source)

    assert await interpreter.resume(step.dump, {"0": Err("no such file: ä")}) == StepFinished(
        "caught: no such file: ä"
    )


async def test_an_exception_that_nobody_catches_says_where_it_was_raised(
    interpreter: Interpreter,
) -> None:
    step = await frontier(interpreter, "y = 1\nawait read('a')")
    raised = await interpreter.resume(step.dump, {"0": Err("the disk is gone")})

    assert isinstance(raised, StepFailed)
    assert raised.kind == "raised"
    assert "line 2" in raised.error
    assert raised.error.endswith("RuntimeError: the disk is gone")


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        ("def (:", "syntax", "invalid-syntax"),
        ("read(1)", "typing", "Expected `str`"),
        ("read('a')\n1", "typing", "not awaited"),
        ("(await read('a')).nothing", "typing", "no attribute `nothing`"),
        ("await write('a')", "typing", "`write` used when not defined"),
    ],
)
async def test_what_is_wrong_with_a_program_is_said_before_anything_runs(
    interpreter: Interpreter, source: str, kind: str, words: str
) -> None:
    step = await interpreter.start(f"print('ran')\n{source}", tools=[READ])

    assert isinstance(step, StepFailed)
    assert (step.kind, step.output) == (kind, "")
    assert words in step.error


async def test_a_tool_that_is_called_and_never_awaited_is_named(interpreter: Interpreter) -> None:
    step = await interpreter.start("later = read('a')\n1", tools=[READ])

    assert step == StepFinished(1, not_made=("read",))


async def test_a_call_that_stood_at_a_frontier_is_known_and_not_named_again(
    interpreter: Interpreter,
) -> None:
    source = """
import asyncio
try:
    await asyncio.gather(read("a"), read("b"))
except RuntimeError:
    pass
"""
    step = await frontier(interpreter, source)

    assert await interpreter.resume(step.dump, {"0": Err("no")}) == StepFinished(None)


# what it remembers


async def test_what_was_remembered_can_be_recalled_and_comes_out_at_the_end(
    interpreter: Interpreter,
) -> None:
    source = """
remember("seen", [recall("seen"), 2])
await read("a")
remember("done", True)
recall("seen")
"""
    step = at_frontier(await interpreter.start(source, tools=[READ], values={"seen": 1}))

    assert await interpreter.resume(step.dump, {ids(step)[0]: Ok("")}) == StepFinished(
        [1, 2], remembered={"seen": [1, 2], "done": True}
    )


async def test_what_nobody_remembered_is_a_key_error(interpreter: Interpreter) -> None:
    step = await interpreter.start("recall('nothing')")

    assert isinstance(step, StepFailed)
    assert step.error.endswith("KeyError: nothing is remembered as 'nothing'")


# what may cross


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{1, 2}", "a set"),
        ("{1: 2}", "a int as a key"),
        ("b'a'", "a bytes"),
        ("float('nan')", "nan"),
        ("10 ** 5000", "3,900 digits"),
        ("[[[{'a': (1, {2})}]]]", "a set"),
        ("ValueError('x')", "a ValueError"),
    ],
)
async def test_only_plain_data_crosses_and_anything_else_is_a_clear_error(
    interpreter: Interpreter, value: str, words: str
) -> None:
    outcome = await interpreter.start(value)
    argument = await interpreter.start(f"await ask({value})", tools=[ASK])
    kept = await interpreter.start(f"remember('a', {value})")

    for step in (outcome, argument, kept):
        assert isinstance(step, StepFailed)
        assert words in step.error


async def test_a_tuple_crosses_as_a_list(interpreter: Interpreter) -> None:
    step = await frontier(interpreter, "await ask((1, (2,)))")

    assert step.pending[0].args == ([1, [2]],)
    assert await interpreter.resume(step.dump, {"0": Ok((3, 4))}) == StepFinished([3, 4])


@pytest.mark.parametrize("value", [object(), {1: 2}, b"", float("inf"), "\ud800", {1}])
async def test_a_result_that_is_no_plain_data_is_refused_and_the_frontier_is_as_it_was(
    interpreter: Interpreter, value: object
) -> None:
    step = await frontier(interpreter, "await ask()")

    with pytest.raises(TypeError, match="the result of call 0"):
        await interpreter.resume(step.dump, {"0": Ok(value)})
    assert await interpreter.resume(step.dump, {"0": Ok(1)}) == StepFinished(1)


async def test_a_result_that_is_too_large_is_an_error_in_the_program(
    interpreter: Interpreter,
) -> None:
    source = "try:\n    await ask()\nexcept ValueError as error:\n    print(error)"
    step = await frontier(interpreter, source, ProgramLimits(values=1_000))

    done = await interpreter.resume(step.dump, {"0": Ok("a" * 1_001)})
    assert isinstance(done, StepFinished)
    assert "the result of call 0 is too large" in done.output


# what may be resumed


@pytest.mark.parametrize("results", [{"7": Ok(1)}, {"0": Ok(1), "7": Ok(1)}, {}])
async def test_calls_that_are_not_waited_for_are_refused_whole_and_the_frontier_is_as_it_was(
    interpreter: Interpreter, results: dict[str, Ok | Err]
) -> None:
    step = await frontier(interpreter, "await ask()")

    with pytest.raises(ValueError, match="this frontier waits for 0"):
        await interpreter.resume(step.dump, results)
    assert await interpreter.resume(step.dump, {"0": Ok(1)}) == StepFinished(1)


async def test_a_dump_that_was_changed_is_refused_and_never_run(interpreter: Interpreter) -> None:
    dump = (await frontier(interpreter, THREE)).dump
    state, snapshot = opened(dump)
    middle = len(dump) // 2
    damaged = [
        b"",
        b"something else",
        dump[:-1],
        dump + b"\0",
        dump[:middle] + bytes([dump[middle] ^ 1]) + dump[middle + 1 :],
        dump.replace(b'"calls": 3', b'"calls": 0'),  # which would make sense
        sealed(state, snapshot[:100]),  # whole, and yet not what an interpreter of this kind wrote
        sealed(state, b"of another time"),
    ]

    for one in damaged:
        with pytest.raises(UnreadableDump):
            await interpreter.resume(one, {"0": Ok("A")})


# limits that hold through frontiers


async def test_the_time_of_a_program_is_all_the_time_in_which_it_ran(
    interpreter: Interpreter,
) -> None:
    source = """
import time
for turn in range(10):
    until = time.time() + 0.2
    while time.time() < until:
        pass
    await ask()
"""
    step = await interpreter.start(source, tools=[ASK], limits=ProgramLimits(time=0.9))
    while isinstance(step, AtFrontier) and ids(step) != ("9",):
        step = await interpreter.resume(step.dump, {ids(step)[0]: Ok()})

    assert isinstance(step, StepLimit)
    assert step.kind == "time"


async def test_calls_and_output_are_counted_through_frontiers(interpreter: Interpreter) -> None:
    counted = {
        "calls": ("for i in range(5):\n    await ask()", ProgramLimits(calls=3)),
        "output": (
            "for i in range(5):\n    print('four')\n    await ask()",
            ProgramLimits(output=16),
        ),
    }
    for kind, (source, limits) in counted.items():
        first = step = await frontier(interpreter, source, limits)
        turns = 0
        while isinstance(step, AtFrontier):
            step = await interpreter.resume(step.dump, {ids(step)[0]: Ok()})
            turns += 1

        assert isinstance(step, StepLimit)
        assert (step.kind, turns) == (kind, 3)
        assert step.output == ("" if kind == "calls" else "f")
        again = await interpreter.resume(first.dump, {"0": Ok()})
        assert isinstance(again, AtFrontier)  # from where it was, it has as much left as it had


async def test_what_has_crossed_does_not_count_any_more(interpreter: Interpreter) -> None:
    source = "for i in range(3):\n    await ask('a' * 600)"
    step = await interpreter.start(source, tools=[ASK], limits=ProgramLimits(values=1_000))
    while isinstance(step, AtFrontier):
        step = await interpreter.resume(step.dump, {ids(step)[0]: Ok("a" * 600)})

    assert step == StepFinished(None)


async def test_a_program_a_value_or_a_frontier_that_is_too_large_is_a_limit(
    interpreter: Interpreter,
) -> None:
    small = ProgramLimits(source=20, values=1_000, dump=10_000)
    keeping = await interpreter.start(
        "x = [i for i in range(9999)]\nawait ask()\nx",
        tools=[ASK],
        limits=ProgramLimits(dump=10_000),
    )
    steps = {
        "source": [await interpreter.start("1" * 21, limits=small)],
        "values": [
            await interpreter.start("1", values={"a": "a" * 8_001}, limits=small),
            await interpreter.start("'a' * 1001", limits=small),
        ],
        "dump": [keeping],
    }

    for kind, those in steps.items():
        for step in those:
            assert isinstance(step, StepLimit)
            assert step.kind == kind


@pytest.mark.parametrize(
    "wrong",
    [{"time": 0}, {"time": float("inf")}, {"memory": 1 << 40}, {"depth": 10**6}, {"output": -1}],
)
async def test_there_is_no_way_to_have_no_limit(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be from"):
        ProgramLimits(**wrong)
