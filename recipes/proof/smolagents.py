"""A ToolCallingAgent behind the scripted provider."""

from contextlib import asynccontextmanager
from typing import get_type_hints

from smolagents import OpenAIServerModel, Tool, ToolCallingAgent

from lastword.testing.provider import Call
from recipes.proof.not_kept import (
    ASKED_AGAIN,
    AT_ONCE,
    IN_A_PROCESS,
    IN_ANY_ORDER,
    RESULTS_REWORDED,
    REWORDED,
)
from recipes.proof.scripted import Finishing, Scripted, not_async
from recipes.smolagents_engine import Smolagents

NOT_KEPT = ASKED_AGAIN | AT_ONCE | IN_A_PROCESS | IN_ANY_ORDER | RESULTS_REWORDED | REWORDED


class Told(Scripted):
    @property
    def steered(self):
        return [self.provider.requests[-1].prompt.rpartition("\n")[2]]

    def end(self, text):
        return Call("final_answer", {"answer": text})


@asynccontextmanager
async def opened():
    async with Finishing() as provider:
        url, client = f"{provider.url}/v1", {"max_retries": 0}
        model = OpenAIServerModel("scripted", api_base=url, api_key="k", client_kwargs=client)
        quiet = {"model": model, "stream_outputs": True, "verbosity_level": -1, "max_steps": 6}

        def made(function):
            of = {int: "integer", str: "string"}
            names = {n: kind for n, kind in get_type_hints(function).items() if n != "return"}
            given = {name: {"type": of[kind], "description": name} for name, kind in names.items()}
            say = {"name": function.__name__, "description": "a tool", "inputs": given}
            forward = staticmethod(not_async(function))
            unchecked = {"skip_forward_signature_validation": True}
            return type(
                "Made", (Tool,), {**say, "output_type": "string", "forward": forward, **unchecked}
            )()

        def inside(function):
            def delegate(task: str) -> str:
                return ToolCallingAgent([made(function)], **quiet).run(task)

            return delegate

        tools = []
        engine = Smolagents(lambda: ToolCallingAgent([*tools], **quiet))
        yield Told(provider, engine, lambda function: tools.append(made(function)), inside)
        assert provider.refused == []
