"""An agent of CrewAI as an engine: `Agent.kickoff`, whose steps run in threads of the run's."""

from functools import partial, wraps

from crewai.agents import agent_executor
from crewai.tools.base_tool import BaseTool, Tool
from crewai.tools.structured_tool import CrewStructuredTool
from crewai.utilities.agent_utils import extract_tool_call_info
from crewai.utilities.string_utils import sanitize_tool_name

from lastword.engines import openai_messages
from lastword.engines.kit import (
    Calls,
    NotMade,
    held_in_thread,
    hold_threads,
    own_calls,
    wait_for,
)


def _hold(kind, method):
    unheld = getattr(kind, method)

    @wraps(unheld)
    def call(self, *args, **kwargs):
        body = partial(unheld, self, *args, **kwargs)
        said = kwargs.get("input", {}) if method == "invoke" else kwargs
        try:
            return held_in_thread(sanitize_tool_name(self.name), said, body, render=str)
        except NotMade as why:
            return f"Not allowed, and not made: {why}"

    setattr(kind, method, call)


for kind, method in ((BaseTool, "run"), (Tool, "run"), (CrewStructuredTool, "invoke")):
    _hold(kind, method)

_ask_model = agent_executor.get_llm_response


@wraps(_ask_model)
def _asked(*, messages, executor_context, **given):
    given |= {"messages": messages, "executor_context": executor_context}
    calls = own_calls()
    if calls is None:
        return _ask_model(**given)
    for told in wait_for(calls.run.steering()):
        messages.append({"role": "user", "content": told.text})
        executor_context.state.messages.append(messages[-1])
    wait_for(calls.run.may("this request to the model"))
    answer = _ask_model(**given)
    asked = map(extract_tool_call_info, answer if isinstance(answer, list) else ())
    for id, name, arguments in filter(None, asked):  # all, before the first is made
        calls.run.loop.call_soon_threadsafe(calls.ask, id, name, arguments)
    return answer


agent_executor.get_llm_response = _asked


class CrewAI:
    """`make` gives an agent for each run."""

    def __init__(self, make):
        self._make = make

    async def __call__(self, run):
        hold_threads()
        Calls(run)
        answer = await self._make().kickoff_async(openai_messages(run.history, files=False))
        await run.emit(answer.raw)
