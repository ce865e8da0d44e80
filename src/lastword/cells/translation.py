"""Between a cell's machine, which knows texts and ids, and the interpreter, which knows values.

A call has an id that means it in every cell; the interpreter knows it by another, its `step`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from lastword.cells import steps
from lastword.cells.inside.plain import must_be_plain
from lastword.cells.steps import AtFrontier, Err, Ok, Step, StepFinished, StepLimit
from lastword.cells.stubs import Tool, arguments, callable_as
from lastword.core import cell_events as events
from lastword.core.cell import CallResult, CellId, Frontier, PendingCall
from lastword.core.model import CallId
from lastword.core.pending import pending_at

Answered: TypeAlias = tuple[str, Ok | Err]
ByCall: TypeAlias = Mapping[str, Ok | Err] | Mapping[CallId, Ok | Err]
Answers: TypeAlias = ByCall | list[Answered] | tuple[Answered, ...]
Outcome: TypeAlias = events.Reached | events.Returned | events.Raised | events.UsedUp
_MOST = 64 << 20  # characters of one answer; a cell's own limit is far below


def results_of(answers: Answers) -> tuple[CallResult, ...]:
    """What calls came to, as texts. Raises TypeError for what is no plain data."""
    pairs = answers if isinstance(answers, list | tuple) else answers.items()
    return tuple(result_of(call, answer) for call, answer in pairs)


def result_of(call: str, answer: Ok | Err) -> CallResult:
    """What one call came to."""
    if isinstance(answer, Err):
        return CallResult(CallId(call), _text(answer.error), failed=True)
    if not isinstance(answer, Ok):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise TypeError(f"the answer to call {call} must be an Ok or an Err, not {answer!r:.80}")
    must_be_plain(answer.value, f"the answer to call {call}", _MOST)
    return CallResult(CallId(call), _text(answer.value))


def answers_of(results: Iterable[CallResult], frontier: Frontier) -> dict[str, Ok | Err]:
    """The same, as the interpreter takes it for calls of a frontier."""
    steps_by_call = {call.id: call.step for call in frontier.pending}
    found: dict[str, Ok | Err] = {}
    for result in results:
        given = json.loads(result.content)
        step = steps_by_call[result.call]
        found[step] = Err(str(given)) if result.failed else Ok(given)
    return found


def misused(step: AtFrontier, tools: Iterable[Tool]) -> dict[str, Ok | Err]:
    """The calls that Python itself would refuse, each with its refusal."""
    by_name = callable_as(tools)
    wrong: dict[str, Ok | Err] = {}
    for call in step.pending:
        try:
            arguments(by_name[call.name], call.args, call.kwargs)
        except TypeError as error:
            wrong[call.id] = Err(str(error))
    return wrong


def outcome_of(step: Step, cell: CellId, before: Frontier | None, tools: Iterable[Tool]) -> Outcome:
    """What the machine is told of a step."""
    match step:
        case AtFrontier(dump, pending, output):
            by_name = callable_as(tools)
            calls = [_call(cell, call, by_name[call.name]) for call in pending]
            known = {call.id for call in pending_at(before)}
            made = tuple(call for call in calls if call.id not in known)
            return events.Reached(made, frozenset(call.id for call in calls), output, dump)
        case StepFinished(given, output, remembered, not_made):
            values = tuple((name, _text(one)) for name, one in remembered.items())
            return events.Returned(_text(given), output + _unmade(not_made), values)
        case StepLimit(_, error, output):
            return events.UsedUp(error, output)
        case steps.StepFailed(error, _, output):
            return events.Raised(error, output)


def encoded(tools: Iterable[Tool]) -> str:
    """What a cell may call, as it is stored."""
    return _text([[one.name, one.schema, one.description, one.returns] for one in tools])


def decoded(text: str) -> tuple[Tool, ...]:
    """What was stored."""
    return tuple(Tool(*one) for one in json.loads(text or "[]"))


def _call(cell: CellId, call: steps.StepCall, tool: Tool) -> PendingCall:
    given = arguments(tool, call.args, call.kwargs)
    return PendingCall(CallId(f"{cell}:{call.id}"), tool.name, _text(given), call.id)


def _unmade(names: Sequence[str]) -> str:
    """A program that forgot to wait for a call is told so where it looks."""
    return f"[not called, because nothing awaited it: {', '.join(names)}]\n" if names else ""


def _text(value: Any) -> str:  # noqa: ANN401 - plain data
    return json.dumps(value, ensure_ascii=False)
