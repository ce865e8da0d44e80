"""Q. `docs/operate/telemetry.md` lists what there is, and nothing else; its examples run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Annotated

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from lastword import Run, Runtime
from tests.deploy.proxies import installed
from tests.scenarios import ROOT
from tests.server.client import served
from tests.telemetry.collector import Collector

PAGE = (ROOT / "docs" / "operate" / "telemetry.md").read_text(encoding="utf-8")
SOURCE = (ROOT / "src" / "lastword" / "telemetry.py").read_text(encoding="utf-8")
NAME = r"(?:gen_ai|lastword)\.[a-z_.]+[a-z]|error\.type"


def rows(head: str) -> dict[str, list[str]]:
    """A table of the page: its first column, and what stands in backticks in its second."""
    [table] = re.findall(rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()]
    return {cell[0].strip("`"): re.findall(r"`(\w+)`", cell[1]) for cell in cells}


async def engine(run: Run) -> None:
    with run.model_request("m") as request:
        request.used(1, 1)
        request.failed("kind")


@pytest.mark.scenario("Q8")
async def test_every_metric_is_on_the_page_with_its_labels_and_no_other_is(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'it.db'}"
    async with Runtime(engine, store=store) as runtime, served(runtime) as client:
        await (await runtime.session("s").send("go")).outcome()
        text = (await client.get("/metrics")).body.decode()

    told = dict[str, set[str]]()
    for family in text_string_to_metric_families(text):
        more = "_total" if family.type == "counter" else ""
        labels = {label for sample in family.samples for label in sample.labels}
        told[f"{family.name}{more}"] = labels - {"le"}
    assert {name: set(labels) for name, labels in rows("metric").items()} == told


@pytest.mark.scenario("Q1")
def test_every_attribute_and_span_is_on_the_page_and_no_other_is() -> None:
    written = set(re.findall(rf'"({NAME})"', SOURCE))
    fates = {f"lastword.stop.processes.{one}" for one in ("ended", "killed", "kept", "unconfirmed")}
    spans = {"lastword.run", "lastword.stop"}
    events = {"lastword.tool.begun"}

    assert set(rows("attribute")) == (written | fates) - spans - events
    assert set(rows("span")) == spans | {"chat MODEL", "execute_tool NAME"}
    assert all(f"`{event}`" in PAGE for event in events)


@pytest.mark.scenario("Q9")
def test_the_examples_run_and_their_spans_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    examples = re.findall(r"^```python\n(.*?)^```\n", PAGE, re.MULTILINE | re.DOTALL)
    with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        for source in examples:
            exec(compile(source, "telemetry.md", "exec"), {"__name__": "__main__"})  # noqa: S102 - our own

        assert [span.name for span in collector.spans] == ["lastword.run"]


def test_the_alerts_speak_of_metrics_that_there_are() -> None:
    alerts = PAGE.partition("### Alerts")[2]
    spoken = {
        re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"lastword_\w+", alerts)
    }

    assert spoken <= set(rows("metric"))
    assert alerts.count("- alert:") == 10


class Alert(msgspec.Struct, forbid_unknown_fields=True):
    """One, as Prometheus reads it."""

    alert: Annotated[str, msgspec.Meta(pattern=r"^Lastword\w+$")]
    expr: Annotated[str, msgspec.Meta(min_length=1)]
    for_: Annotated[str, msgspec.Meta(pattern=r"^\d+[smhd]$")] = msgspec.field(
        default="0s", name="for"
    )
    annotations: dict[str, str] = {}


class Group(msgspec.Struct, forbid_unknown_fields=True):
    """Rules that are looked at together."""

    name: str
    rules: list[Alert]


class Rules(msgspec.Struct, forbid_unknown_fields=True):
    """A file of rules."""

    groups: list[Group]


def shown_rules() -> str:
    [text] = re.findall(r"^```yaml\n(groups:.*?)^```\n", PAGE, re.MULTILINE | re.DOTALL)
    return text


def test_the_alerts_have_the_shape_of_a_file_of_rules() -> None:
    [group] = msgspec.yaml.decode(shown_rules(), type=Rules).groups

    names = [rule.alert for rule in group.rules]
    assert len(set(names)) == len(names) == 10
    for opening, closing in ("()", "[]", "{}"):
        assert all(rule.expr.count(opening) == rule.expr.count(closing) for rule in group.rules)


def test_prometheus_finds_nothing_wrong_with_the_alerts(tmp_path: Path) -> None:
    promtool, rules = installed("promtool"), tmp_path / "rules.yml"
    rules.write_text(shown_rules(), encoding="utf-8")

    done = subprocess.run(
        [promtool, "check", "rules", rules], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
