"""The agent that comes with lastword: a model, tools with the fence inside, and what needs asking.

A tool's body is given the run it works for. What it starts is the run's, what it writes is checked
right before it is written, and what it cannot be asked to end runs in a process that can be killed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic_ai import Agent, RunContext
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.models import Model
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset

from lastword import cells
from lastword.agent.about import About, agreed
from lastword.agent.guide import Guide
from lastword.agent.permission import Questions
from lastword.agent.rules import BACKGROUND, SUBJECTS, MayShow, Rule, Rules, Subject
from lastword.agent.tools.code import Code, run_code
from lastword.agent.tools.fetch import Fetch
from lastword.agent.tools.files import Files
from lastword.agent.tools.git_asked import git_asked
from lastword.agent.tools.names import Distinct
from lastword.agent.tools.preview import preview
from lastword.agent.tools.private import Private
from lastword.agent.tools.repository import in_repository
from lastword.agent.tools.search import Search
from lastword.agent.tools.shell import Shell
from lastword.agent.tools.shell_tools import shell_tools
from lastword.agent.typed import typed
from lastword.agent.undo.keeping import UndoKeeper
from lastword.engines.pydantic_ai import Compaction, PydanticAI
from lastword.errors import ProcessError, TooDeep
from lastword.runtime.run import Engine, Run

_READING = ("show_plan", "read_file", "list_files", "search_files", "delegate")
_OF_ITS_OWN = ("shell_read", "shell_signal", "shell_end")  # what goes on was allowed
_CODE = "run_code"  # by itself it does nothing: each of its calls is ruled like any other
_READS = {"nature": "read_only"}  # if a stop comes in between, it can be called again
_BY_PATH = ("read_file", "write_file", "edit_file", "list_files", "search_files")
_CHANGING = ("write_file", "edit_file")
_SLIPS = 5  # in a row that a model may make before its answer fails
_INSTRUCTIONS = """\
You are an agent in a person's own directory, and the person may stop you or say something new at \
any time; what they said last is what counts. Words in [brackets] in the conversation are \
notes of the program that runs you, not the person's. If a call may have executed, look before you \
repeat it. Where they write @path they mean that file. A message that begins with `!` is a command \
they want run, and has been if a call of shell follows it. Be brief. The directory is {root}."""


@dataclass(frozen=True, slots=True)
class Assistant:
    """What a runtime needs of it: `Runtime(engine, before_tool=questions.as_before_tool())`."""

    engine: Engine
    questions: Questions
    model: str


def assistant(  # noqa: PLR0913 - each is one thing to say of it, with a default
    model: Model,
    *,
    roots: Sequence[str | Path] = (".",),
    rules: Sequence[str | Rule] = (),
    fetch: bool = False,
    shell: str = "",
    cd_lasts: bool = False,
    toolsets: Sequence[AbstractToolset[Run]] = (),
    instructions: str = "",
    window: int = 128_000,
    files_in: Callable[..., Files] = Files,
    private: Private | None = None,
) -> Assistant:
    """Put it together. Reading is allowed, and all else asked for, unless the rules say so.

    Commands are read by `shell`: bash, where there is one, unless it is said; with `cd_lasts` one
    begins where the last has ended. `private` is what no file tool may touch: the runtime's store
    is not known here, so say it.
    """
    files = files_in(roots, private=private)
    root = Path(roots[0]).absolute()
    runs_lines = Shell(roots=files.roots, shell=shell, cd_lasts=cd_lasts)
    questions = _questions(files, rules, runs_lines)
    own = FunctionToolset[Run]()
    keeper = UndoKeeper(files.roots)
    commands = shell_tools(runs_lines, keeper.command)
    tools = [own, _file_tools(files, questions, keeper), commands]
    if fetch:
        tools.append(_fetch_tool(Fetch()))
    if find_spec("pydantic_monty"):
        own.tool_plain(run_code)
    every = Distinct([*tools, *toolsets])  # ours first: they keep their names
    code = Code(every, questions=questions, model=model)
    agent = Agent(
        model,
        deps_type=Run,
        instructions=f"{_INSTRUCTIONS.format(root=root)}\n{instructions}".strip(),
        toolsets=[code],
        name="lastword",
        retries=_SLIPS,
    )
    guide = Guide(files, questions)

    @agent.instructions
    async def _(ctx: RunContext[Run]) -> str:
        return await guide.instructions(ctx.deps)

    engine = PydanticAI(agent, deps=_itself, compaction=Compaction(window))
    own.tool(_delegate_to(_kept(engine, keeper)))
    answering = cells.engine(engine, serve=code.serving(engine))
    serving = _kept(typed(answering, runs_lines, keeper.command, engine.compact), keeper)
    return Assistant(serving, questions, model.model_name)


def _kept(engine: Engine, keeper: UndoKeeper) -> Engine:
    """With what it changes in files written down."""

    async def kept(run: Run) -> None:
        async with keeper.during(run):
            await engine(run)

    return kept


def _itself(run: Run) -> Run:
    return run


def _questions(files: Files, rules: Sequence[str | Rule], shell: Shell) -> Questions:
    allowed = [f"allow {name}" for name in (*_READING, *_OF_ITS_OWN, _CODE)]
    by_path = dict.fromkeys(_BY_PATH, _named(files))

    async def of_git(about: About) -> str:
        subject = about.subject or ""
        if about.tool in ("shell", BACKGROUND) and "git" in subject.lower():
            return await git_asked(about, shell.directories)
        own = about.tool in _CHANGING and in_repository(files.roots.full(subject))
        return "it is one of git's own files: what it says, git does" if own else ""

    ruled = Rules.parse([*allowed, *rules])
    return Questions(
        ruled,
        subjects={**SUBJECTS, **by_path},
        asked_anyway=of_git,
        preview=partial(preview, files),
    )


def _named(files: Files) -> Subject:
    """A path by its one name: a rule about it is not to be dodged by a link."""

    def name(arguments: Mapping[str, Any]) -> str:
        return files.name(str(arguments.get("path", ".")))

    return name


def _file_tools(files: Files, questions: Questions, keeper: UndoKeeper) -> FunctionToolset[Run]:
    tools = FunctionToolset[Run]()
    search = Search(files)

    def shown(run: Run, tool: str, path: str, *also: str) -> MayShow:
        return MayShow(questions.rules_for(run), tool, files.name(path), also)

    @tools.tool(metadata=_READS)
    def read_file(ctx: RunContext[Run], path: str, offset: int = 1, limit: int = 2000) -> str:
        """Read a text file, or some lines of it, counted from 1."""
        return _told(files.read_file, path, offset, limit, may_go_on=lambda: ctx.deps.current)

    @tools.tool
    def write_file(ctx: RunContext[Run], path: str, text: str) -> str:
        """Write a file anew, whole."""
        with keeper.making(ctx.deps, lambda: files.name(path)):
            return _told(files.write_file, path, text, **_known(keeper, ctx.deps))

    @tools.tool
    def edit_file(ctx: RunContext[Run], path: str, old: str, new: str, all: bool = False) -> str:
        """Replace a text that occurs once in a file, or all of its occurrences."""
        return _told(files.edit_file, path, old, new, all, **_known(keeper, ctx.deps))

    @tools.tool(metadata=_READS)
    def list_files(ctx: RunContext[Run], path: str = ".", pattern: str = "*") -> str:
        """List files; `**/*.py` looks into directories."""
        return _told(
            lambda: files.list_files(
                path,
                pattern,
                may_go_on=lambda: ctx.deps.current,
                may_show=shown(ctx.deps, "list_files", path),
            )
        )

    @tools.tool(metadata=_READS)
    async def search_files(
        ctx: RunContext[Run], pattern: str, path: str = ".", glob: str = "**"
    ) -> str:
        """Search for a regular expression in files."""
        try:
            may_show = shown(ctx.deps, "search_files", path, "read_file")
            return await search.search(ctx.deps, pattern, path, glob, may_show)
        except (OSError, ValueError, ProcessError) as error:
            raise ToolFailed(str(error)) from error

    return tools


def _known(keeper: UndoKeeper, run: Run) -> dict[str, Any]:
    """What a tool that changes a file has to know."""
    noting = partial(keeper.writing, run)
    return {"agreed": agreed.get(), "noting": noting, "may_go_on": lambda: run.current}


def _told(tool: Any, *args: object, **kwargs: object) -> str:  # noqa: ANN401 - one of the file tools
    """What a file tool gives; what was wrong with the asking is for the model to read."""
    try:
        return tool(*args, **kwargs)
    except (OSError, ValueError) as error:
        raise ToolFailed(str(error)) from error


def _fetch_tool(fetching: Fetch) -> FunctionToolset[Run]:
    tools = FunctionToolset[Run]()

    @tools.tool_plain
    async def fetch(url: str) -> str:
        """Get a page of the web, as text."""
        try:
            return await fetching.fetch(url)
        except (OSError, ValueError) as error:
            raise ToolFailed(str(error)) from error

    return tools


def _delegate_to(engine: Engine) -> Any:  # noqa: ANN401 - a tool function
    async def delegate(ctx: RunContext[Run], task: str) -> str:
        """Have another agent like you do a task by itself, and get what it says at the end."""
        try:
            child = await ctx.deps.child(task, engine=engine)
        except TooDeep as error:
            raise ToolFailed(f"{error}. Do it yourself.") from error
        outcome = await child.outcome()
        text = await child.text()
        return text if outcome == "completed" else f"[{outcome}] {text}".strip()

    return delegate
