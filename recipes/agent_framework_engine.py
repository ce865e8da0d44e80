"""An agent of Microsoft's agent-framework as an engine."""

from functools import wraps

from agent_framework import ChatMiddleware, Content, FunctionTool, Message

from lastword.engines import openai_messages
from lastword.engines.kit import Calls, NotMade, held, hold_threads

_invoke = FunctionTool.invoke


@wraps(_invoke)
async def _held(self, *, arguments=None, tool_call_id=None, **given):
    async def body():
        return await _invoke(self, arguments=arguments, tool_call_id=tool_call_id, **given)

    try:
        said = dict(arguments or {})
        return await held(self.name, said, body, id=tool_call_id or "", render=_shown)
    except NotMade as why:
        return [Content.from_text(f"Not allowed, and not made: {why}")]


FunctionTool.invoke = _held  # every tool of every agent, those inside of tools among them


def _shown(result):
    parts = result if isinstance(result, list) else [result]
    return "\n".join(str(getattr(part, "text", None) or part) for part in parts)


class _Requests(ChatMiddleware):
    def __init__(self, run):
        self._run, self._calls = run, Calls(run)
        self._said = []  # what steered the run, and behind how many messages

    async def process(self, context, call_next):
        self._said += [(len(context.messages), told.text) for told in await self._run.steering()]
        for before, (place, text) in enumerate(self._said):  # the framework does not keep it
            context.messages.insert(place + before, Message("user", [text]))
        context.stream_result_hooks.append(self._answered)
        await self._run.may("this request to the model")
        await call_next()

    def _answered(self, response):
        tokens = response.usage_details or {}
        asked, answered = (tokens.get(f"{way}_token_count") or 0 for way in ("input", "output"))
        self._run.used(response.model or "unknown", asked, answered)
        for part in (part for message in response.messages for part in message.contents):
            if part.type == "function_call":  # all that it asks for, before the first is made
                self._calls.ask(part.call_id, part.name, part.arguments or "{}")


def _message(said):
    parts = [Content.from_text(said["content"])] if said["content"] else []
    if said["role"] == "tool":
        parts = [Content.from_function_result(said["tool_call_id"], result=said["content"])]
    for call in said.get("tool_calls", ()):
        function = call["function"]
        parts.append(Content.from_function_call(call["id"], **function))
    return Message(said["role"], parts)


class AgentFramework:
    def __init__(self, agent):
        self._agent = agent

    async def __call__(self, run):
        hold_threads()
        history = [_message(said) for said in openai_messages(run.history, files=False)]
        answer = self._agent.run(history, stream=True, middleware=[_Requests(run)])
        async with answer:
            async for update in answer:
                if update.text:
                    await run.emit(update.text)
