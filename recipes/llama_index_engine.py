"""A FunctionAgent of LlamaIndex, or an AgentWorkflow of such, as an engine."""

from functools import wraps

from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.tools import ToolOutput

from lastword.engines import openai_messages
from lastword.engines.kit import Calls, NotMade, held, hold_threads, own_calls


def _hold(kind):
    unheld = kind._call_tool

    @wraps(unheld)
    async def call_tool(self, ctx, tool, tool_input):
        name, output = tool.metadata.get_name(), None

        async def body():
            nonlocal output
            output = await unheld(self, ctx, tool, tool_input)
            if output.exception:
                raise output.exception
            return output

        try:
            return await held(name, tool_input, body, render=lambda output: output.content)
        except NotMade as why:
            said = f"Not allowed, and not made: {why}"
            return ToolOutput(name, said, raw_input=tool_input, raw_output=said, is_error=True)
        except Exception:
            if output is None:
                raise
            return output  # the framework tells its model what a tool raised

    kind._call_tool = call_tool


for kind in (BaseWorkflowAgent, AgentWorkflow):
    _hold(kind)

_take_step = FunctionAgent.take_step


@wraps(_take_step)
async def _step(self, ctx, llm_input, tools, memory):
    calls = own_calls()
    if calls is None:
        return await _take_step(self, ctx, llm_input, tools, memory)
    if said := [ChatMessage(role="user", content=m.text) for m in await calls.run.steering()]:
        before = await ctx.store.get(self.scratchpad_key, default=[])
        await ctx.store.set(self.scratchpad_key, [*before, *said])
    await calls.run.may("this request to the model")
    answer = await _take_step(self, ctx, llm_input, tools, memory)
    for call in answer.tool_calls:  # all that it asks for, before the first is made
        calls.ask(call.tool_id, call.tool_name, call.tool_kwargs)
    return answer


FunctionAgent.take_step = _step


def _message(said):
    more = {key: said[key] for key in ("tool_calls", "tool_call_id") if key in said}
    return ChatMessage(role=said["role"], content=said["content"], additional_kwargs=more)


class LlamaIndex:
    def __init__(self, agent):
        self._agent = agent

    async def __call__(self, run):
        hold_threads()
        Calls(run)
        *earlier, now = map(_message, openai_messages(run.history, files=False))
        answer = self._agent.run(user_msg=now, chat_history=earlier)
        try:
            async for event in answer.stream_events():
                if isinstance(event, AgentStream) and event.delta:
                    await run.emit(event.delta)
            await answer
        finally:
            if not answer.done():
                await answer.cancel_run()
