"""Q. `lastword serve --otel`: spans go where the standard variables say, and only if asked for."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest
from opentelemetry import trace

from lastword import Runtime
from lastword.cli.entry import main
from lastword.cli.otel import traced
from tests.server.engine_to_serve import engine
from tests.server.process import ENGINE, Server
from tests.telemetry.collector import Collector
from tests.telemetry.spans import Spans

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture(autouse=True)
def _collected() -> Generator[None]:
    yield
    gc.enable()  # a server that starts does without for a while


@pytest.mark.scenario("Q9")
async def test_lastword_serve_sends_its_spans_where_the_environment_says(tmp_path: Path) -> None:
    server = Server(tmp_path)
    with Collector() as collector, ExitStack() as ends:
        server.environment |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        ends.callback(server.kill)
        server.start("--otel")
        path, parent = "/v1/sessions/traced/messages", f"00-{TRACE}-b7ad6b7169203331-01"
        sent = await server.client.post(path, {"text": "hello"}, traceparent=parent)
        assert sent.status == 202
        assert "Goodbye" in server.end(signal.SIGTERM)

        [run] = [span for span in collector.spans if span.name == "lastword.run"]
        assert run.trace_id.hex() == TRACE
        assert collector.service == "lastword"


@pytest.mark.scenario("Q9")
@pytest.mark.parametrize(
    ("name", "told"),
    [("OTEL_TRACES_EXPORTER", "console"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
)
def test_what_serve_cannot_do_of_what_the_environment_says_is_an_error(
    name: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, told)
    with pytest.raises(SystemExit) as left:
        main(["serve", "--otel", "--engine", ENGINE, "--store", "memory:"])

    said = capsys.readouterr().err
    assert left.value.code == 1
    assert said.startswith(f"lastword serve: --otel: {name} can be ")
    assert f"it is {told!r}" in said
    assert "opentelemetry-instrument" in said


@pytest.mark.scenario("Q9")
async def test_a_provider_that_somebody_has_set_up_is_the_one_that_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spans = Spans()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", spans.provider)  # as opentelemetry-instrument
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")  # which it is that reads this
    async with traced(wanted=True) as tracer, Runtime(engine, tracer=tracer) as runtime:
        await (await runtime.session("s").send("go")).outcome()

    assert [span.name for span in spans.ended] == ["lastword.run"]
    async with traced(wanted=False) as none:
        assert none is None


@pytest.mark.scenario("Q9")
@pytest.mark.parametrize("missing", ["opentelemetry", "opentelemetry.sdk.trace"])
def test_what_is_not_installed_is_named_with_what_brings_it(
    missing: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit) as left:
        main(["serve", "--otel", "--engine", ENGINE, "--store", "memory:"])

    said = capsys.readouterr().err
    assert left.value.code == 1
    assert f"--otel: {missing} is not installed; pip install 'lastword[otel]'" in said
