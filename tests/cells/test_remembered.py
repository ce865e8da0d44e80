"""What a session remembers stays within what each of its cells can recall."""

import pytest

from lastword.cells import Interpreter, ProgramLimits, StepFailed, StepFinished

pytestmark = pytest.mark.asyncio(loop_scope="module")
_SMALL = ProgramLimits(values=1_000)


async def test_two_cells_cannot_remember_more_together_than_a_third_can_recall(
    interpreter: Interpreter,
) -> None:
    first = await interpreter.start("remember('a', 'x' * 600)", limits=_SMALL)
    assert isinstance(first, StepFinished)
    second = await interpreter.start(
        "remember('b', 'x' * 600)", values=first.remembered, limits=_SMALL
    )
    assert isinstance(second, StepFailed)
    assert "too large" in second.error
    third = await interpreter.start(
        "remember('a', None); 1 + 1", values=first.remembered, limits=_SMALL
    )
    assert isinstance(third, StepFinished)


async def test_a_session_that_remembers_too_much_can_let_go_of_it(interpreter: Interpreter) -> None:
    values = {"a": "x" * 900, "b": "x" * 900}  # of two cells that ended at the same moment
    step = await interpreter.start("remember('a', None); 1 + 1", values=values, limits=_SMALL)
    assert isinstance(step, StepFinished)
