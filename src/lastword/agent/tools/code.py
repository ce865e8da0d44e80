"""Programs over the agent's own tools, which a model writes instead of calling them one by one.

A call that a program makes is a call of the run: the rules hold for it, the person is asked, it is
in the ledger, and a stop ends it. A program that may pause leaves what has to be asked for open at
a frontier. It then outlives its run, and goes on when the person has answered, however late.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any

from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ToolReturn
from pydantic_ai.models import Model
from pydantic_ai.toolsets import WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_ai.usage import RunUsage
from pydantic_core import ValidationError, to_jsonable_python

from lastword.agent.permission import Questions
from lastword.cells import (
    ContinuingCell,
    Err,
    Function,
    PausableCell,
    ProgramLimits,
    Resume,
    Tool,
    delivered,
    stubs,
)
from lastword.cells.calls import answer, intend
from lastword.cells.stubs import callable_as
from lastword.cells.translation import result_of
from lastword.core.cell import CallResult, CellId, CellOutcome, Ending, Frontier, PendingCall
from lastword.core.entries import Nature
from lastword.core.model import Status
from lastword.core.shown import Shown
from lastword.core.transcript import followed_by
from lastword.errors import CellError
from lastword.runtime.call import Call
from lastword.runtime.run import Engine, Run

NAME = "run_code"
LIMITS = ProgramLimits(time=20.0, calls=200, output=50_000)
_SHORT = 300  # characters of a nested call's result that the transcript keeps: the program has it
_LONGEST = 20_000  # characters of each thing that the model is told
_STUBS = 30_000  # characters; beyond that, tools are declared and not described
_ABOUT = """\
Run a program of Python over the tools below, and get what it prints and the value of its last \
expression. Better than many calls: for loops over files, for filtering, and for what depends on \
what was found. Tools are async: `await` them, several at once with `asyncio.gather`. There is no \
other access to files, processes or the network, and little of the standard library (asyncio, \
json, math, re). A tool that fails raises RuntimeError. Every call is subject to the same rules, \
and may be asked for. With pause=true, calls that have to be asked for are left open: you get a \
list of them, should tell the person what waits, and the program goes on when they have answered.

```python
{stubs}```"""


async def run_code(source: str, pause: bool = False) -> str:
    """Run a program over the other tools."""
    raise NotImplementedError(f"{source[:0]}{pause}: `Code` runs it")


@dataclass
class Code(WrapperToolset[Run]):
    """The tools of an agent, of which one is `run_code`: it can call the others."""

    _: KW_ONLY
    questions: Questions
    model: Model
    limits: ProgramLimits = field(default=LIMITS)

    async def get_tools(self, ctx: RunContext[Run]) -> dict[str, ToolsetTool[Run]]:
        tools = await self.wrapped.get_tools(ctx)
        if mine := tools.get(NAME):
            declared = [one.tool for one in self._functions(ctx, tools)]
            about = replace(mine.tool_def, description=_ABOUT.format(stubs=_declared(declared)))
            tools = {**tools, NAME: replace(mine, tool_def=about)}
        return tools

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Run], tool: ToolsetTool[Run]
    ) -> Any:  # noqa: ANN401 - whatever the tool gives
        if name != NAME:
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)
        functions = self._functions(ctx, await self.wrapped.get_tools(ctx))
        source, run = tool_args["source"], ctx.deps
        if not tool_args.get("pause") or run.above is not None:
            cell = await ContinuingCell.start(run, source, tools=functions, limits=self.limits)
            return told(await cell.wait(), cell.printed, cell.id)
        described = [one.tool for one in functions]
        paused = await PausableCell.start(run, source, tools=described, limits=self.limits)
        return await self._pursued(run, paused, functions)

    def serving(self, inner: Engine) -> Callable[[Run, Resume], Any]:
        """For `cells.engine(inner, serve=...)`: the program goes on, and then the model does."""

        async def serve(run: Run, asked: Resume) -> None:
            where = json.dumps({"program": asked.cell, "frontier": asked.generation})

            async def body() -> str:
                return await self._resumed(run, asked)

            call = run.asked(NAME, where, body)
            text = await call()
            made = Shown("call", where, call.id, NAME)
            result = Shown("result", text, call.id, NAME, status=Status.COMPLETED)
            run.history = followed_by(run.history, made, result)
            await inner(run)

        return serve

    async def _resumed(self, run: Run, asked: Resume) -> str:
        ctx = RunContext[Run](deps=run, model=self.model, usage=RunUsage())
        with Agent.using_thread_executor(run.executor):
            async with self:
                tools = await self.wrapped.get_tools(ctx)
                functions = self._functions(ctx, tools)

                async def make(calls: Iterable[PendingCall]) -> list[CallResult]:
                    return await self._made(run, calls, functions, asked)

                told_before, pending = _left_at(run, asked.cell)
                cell = await delivered(run, asked, make)
                refused = {result.call for result in asked.results if result.failed}
                for call in pending:
                    if call.id in refused:
                        await self.questions.refuse(call, by=asked.by)
                return await self._pursued(run, cell, functions, told_before)

    async def _pursued(
        self, run: Run, cell: PausableCell, functions: Iterable[Function], told_before: int = 0
    ) -> str:
        """Make what may be made without asking, until all that is left has to be asked for."""
        while isinstance(now := await cell.wait(), Frontier):
            free = [call for call in now.pending if not await self._asks(run, call)]
            if not free:
                if cell.id in run.shelf.open:  # what the calls would do is known only by now
                    run.shelf.tell([run.shelf.open[cell.id].stored])
                break
            await cell.make(now.generation, free, partial(self._made, run, free, functions))
        return told(now, cell.printed[told_before:], cell.id)

    async def _asks(self, run: Run, call: PendingCall) -> bool:
        try:
            return await self.questions.asks(run, call)
        except PermissionError:
            return False  # the program is told that it may not

    async def _made(
        self,
        run: Run,
        calls: Iterable[PendingCall],
        functions: Iterable[Function],
        allowed: Resume | None = None,
    ) -> list[CallResult]:
        by_name = {one.tool.name: one for one in functions}

        def intended(call: PendingCall) -> Call[Any] | Err:
            if call.name not in by_name:
                return Err(f"there is no tool {call.name} any more")
            made = intend(run, by_name[call.name], call)
            if allowed and isinstance(made, Call):
                self.questions.grant(made.id, call.id, by=allowed.by)
            return made

        made = [(call.id, intended(call)) for call in calls]
        answers = await asyncio.gather(*(answer(id_, one) for id_, one in made))
        return [result_of(id_, one) for (id_, _), one in zip(made, answers, strict=True)]

    def _functions(
        self, ctx: RunContext[Run], tools: Mapping[str, ToolsetTool[Run]]
    ) -> tuple[Function, ...]:
        """What a program can call: all but this, and but what has no name in Python."""
        found: list[Function] = []
        for name, tool in tools.items():
            if name == NAME or tool.tool_def.kind != "function":
                continue
            one = self._function(ctx, name, tool)
            try:
                callable_as([*(other.tool for other in found), one.tool])
            except ValueError:
                continue  # its name would be another's
            found.append(one)
        return tuple(found)

    def _function(self, ctx: RunContext[Run], name: str, tool: ToolsetTool[Run]) -> Function:
        known = tool.tool_def

        def intended(run: Run, arguments: dict[str, Any]) -> Call[Any]:
            checked = _checked(tool, arguments)
            here = replace(ctx, tool_name=name)

            async def body() -> object:
                return _plain(await self.wrapped.call_tool(name, checked, here, tool))

            said = json.dumps(arguments, ensure_ascii=False)
            call = run.asked(name, said, body, nature=_nature(known.metadata))
            call.render = _briefly
            return call

        about = known.description or ""
        return Function(Tool(name, known.parameters_json_schema, about, _gives(known)), intended)


def _left_at(run: Run, cell: str) -> tuple[int, tuple[PendingCall, ...]]:
    """How much of what a program printed the model was told when it was left, and its calls."""
    try:
        printed = len(PausableCell.taken_up(run, cell).printed)
    except (CellError, KeyError):
        return 0, ()  # whoever resumes it is told
    frontier = run.shelf.open[CellId(cell)].stored.record.frontier
    return printed, frontier.pending if frontier else ()


def told(now: Frontier | Ending, printed: str, cell: str) -> str:
    """What came of a program, to the model."""
    parts = [_cut(printed.rstrip("\n"))] if printed.strip() else []
    if isinstance(now, Frontier):
        waits = [f"- {one.id}: {one.name}({_cut(one.arguments, _SHORT)})" for one in now.pending]
        where = f"[program {cell} waits, at frontier {now.generation}, until the person allows:"
        end = "It goes on when they have; do not run it again.]"
        return "\n".join([*parts, where, *waits, end])
    if now.outcome is CellOutcome.COMPLETED:
        value = [f"[value] {_cut(now.result)}"] if now.result != "null" else []
        return "\n".join([*parts, *value]) or "[it printed nothing, and has no value]"
    doubtful = ", ".join(call.name for call in now.may_have_executed)
    also = f"\nThese calls may have executed: {doubtful}." if doubtful else ""
    return "\n".join([*parts, f"[the program {now.outcome}] {_cut(now.error)}{also}"])


def _declared(tools: list[Tool]) -> str:
    text = stubs(tools)
    if len(text) > _STUBS:
        text = stubs([replace(tool, description="") for tool in tools])
    return text


def _gives(known: Any) -> Mapping[str, Any] | None:  # noqa: ANN401 - a ToolDefinition
    return known.return_schema or None


def _checked(tool: ToolsetTool[Run], arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return tool.args_validator.validate_python(arguments)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ValueError(f"its arguments are wrong: {wrong}") from error


def _plain(given: object) -> object:
    """What a tool gave, as a program can have it."""
    value: object = given.return_value if isinstance(given, ToolReturn) else given
    return to_jsonable_python(value, fallback=repr)


def _nature(metadata: dict[str, Any] | None) -> Nature:
    match (metadata or {}).get("nature"):
        case "read_only" | "idempotent" as nature:
            return nature
        case _:
            return ""


def _briefly(result: object) -> str:
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return _cut(text, _SHORT)


def _cut(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"
