"""An agent of Google's ADK as an engine."""

import json
from functools import wraps

from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.events import Event
from google.adk.flows.llm_flows.tools import _caller
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.utils._sync_runner import _use_executor_for_sync_callables
from google.genai.types import Content, FunctionCall, FunctionResponse, Part

from lastword.engines import openai_messages
from lastword.engines.kit import Calls, NotMade, held, hold_threads, own_calls

_call_tool = _caller._call_tool_async


@wraps(_call_tool)
async def _held(tool, args, tool_context):
    async def body():
        return await _call_tool(tool, args, tool_context)

    try:
        return await held(tool.name, args, body, id=tool_context.function_call_id or "")
    except NotMade as why:
        return {"error": f"not allowed, and not made: {why}"}


_caller._call_tool_async = _held  # a plugin's before_tool_callback comes some steps too early


class _Requests(BasePlugin):
    """For all agents of a run, those in tools among them."""

    def __init__(self, run):
        super().__init__("lastword")
        self._run = run
        self.sessions = InMemorySessionService()  # of one run: the log is the truth

    async def before_model_callback(self, *, callback_context, llm_request):
        for told in await self._run.steering() if own_calls() else ():
            content = Content(role="user", parts=[Part(text=told.text)])
            llm_request.contents.append(content)
            said = Event(author="user", content=content)
            said.invocation_id = callback_context.invocation_id
            await self.sessions.append_event(callback_context.session, said)
        await self._run.may("this request to the model")

    async def on_event_callback(self, *, invocation_context, event):
        if (calls := own_calls()) and not event.partial:
            for call in event.get_function_calls():  # all of an answer, before the first is made
                calls.ask(call.id, call.name, call.args or {})


def _events(messages, agent):
    """What was said before, as the framework keeps it."""
    names = {}
    for said in messages:
        parts = [Part(text=said["content"])] if said["content"] else []
        for call in said.get("tool_calls", ()):
            name, args = call["function"]["name"], json.loads(call["function"]["arguments"])
            names[call["id"]] = name
            parts.append(Part(function_call=FunctionCall(id=call["id"], name=name, args=args)))
        if id := said.get("tool_call_id"):
            gave = FunctionResponse(id=id, name=names[id], response={"result": said["content"]})
            parts = [Part(function_response=gave)]
        author = "user" if said["role"] == "user" else agent
        role = "model" if said["role"] == "assistant" else "user"
        yield Event(author=author, content=Content(role=role, parts=parts))


class ADK:
    """`services` are the runner's: `memory_service`, `artifact_service`."""

    def __init__(self, agent, **services):
        self._agent, self._services = agent, services

    async def __call__(self, run):
        hold_threads()
        Calls(run)
        requests, names = _Requests(run), {"user_id": run.session, "session_id": run.id}
        session = await requests.sessions.create_session(app_name="lastword", **names)
        *earlier, now = openai_messages(run.history, files=False)
        for event in _events(earlier, self._agent.name):
            await requests.sessions.append_event(session, event)
        app = App(name="lastword", root_agent=self._agent, plugins=[requests])
        runner = Runner(app=app, session_service=requests.sessions, **self._services)
        with _use_executor_for_sync_callables(run.executor):  # else they hold up the event loop
            answer = runner.run_async(
                new_message=Content(role="user", parts=[Part(text=now["content"])]),
                run_config=RunConfig(streaming_mode=StreamingMode.SSE),
                **names,
            )
            try:
                async for event in answer:
                    for part in event.content.parts or () if event.content else ():
                        if event.partial and part.text and not part.thought:
                            await run.emit(part.text)
            finally:
                await answer.aclose()
