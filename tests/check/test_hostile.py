"""Targets that are hostile to whoever judges them, and judges that come to a bad end."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from lastword.check import judge
from lastword.check.asked import Subject
from lastword.check.catalogue import BY_ID
from lastword.check.contract import CannotStart, Premises
from lastword.check.deeds import Deeds
from lastword.check.inside.witness import note
from lastword.check.judge import Commission
from lastword.check.machine import starved, waits
from lastword.check.plain import LONGEST, plain
from lastword.check.programs import Started
from lastword.check.reports import as_json
from lastword.check.times import Times
from lastword.check.wire import WireLog
from tests.check.judging import BUSY, PLANTED, judged, planted_acp, planted_python, told
from tests.check.test_command import checked, left_in

HOSTILE = str(Path(PLANTED).with_name("hostile.py"))
FLOODS = r"""
import os
os.write(2, b"e" * (3 << 20))
os.write(1, b"x" * (40 << 20) + b"\nlast\n")
"""
NONSENSE = r"""
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    while True:
        with server.accept()[0] as one, open(sys.argv[2], "a") as asked:
            asked.write("once ")
            asked.flush()
            one.sendall(b"nonsense\r\n\r\n")
"""
ONLY = ("--only", "text.quiet")
WAITED = "the target waited 3.0 s for a processor"


def of_kind(how: str, *more: str) -> list[str]:
    return ["--", sys.executable, HOSTILE, how, *more]


def state_of(named_in: Path) -> str:
    """As the kernel says it: Z is dead, and nobody has asked how it died."""
    try:
        told = Path("/proc", named_in.read_text("utf-8"), "stat").read_text("utf-8")
    except FileNotFoundError:
        return ""
    return told.rpartition(") ")[2][0]


def steering(text: str) -> set[str]:
    return {one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs")} - {"\n"}


@pytest.mark.scenario("K22")
async def test_whatever_a_target_says_every_report_can_be_read(tmp_path: Path) -> None:
    names = ("json", "junit", "markdown", "html")
    files = {name: tmp_path / name for name in names}
    said = [word for name in names for word in (f"--{name}", str(files[name]))]

    code, shown = await checked("acp", *ONLY, *said, *of_kind("steers"))

    assert code == 3
    assert "red" in shown
    assert len(shown.splitlines()) == 2
    texts = [shown, *(file.read_text("utf-8") for file in files.values())]
    assert [steering(text) for text in texts] == [set()] * 5
    jsonschema.validate(json.loads(texts[1]), as_json.schema())
    assert ElementTree.fromstring(texts[2]).get("name")  # noqa: S314 - ours
    assert "<b>" not in texts[4].split("</style>")[1].split("<h2>")[1].split("</h2>")[0]


@pytest.mark.scenario("K22")
async def test_what_nobody_can_read_is_passed_over_and_what_is_no_answer_is_said() -> None:
    ends = await asyncio.gather(
        checked("acp", *ONLY, *of_kind("garbage")),
        checked("acp", *ONLY, *of_kind("no-object")),
        checked("acp", *ONLY, *of_kind("no-session")),
    )

    assert [code for code, _ in ends] == [3, 2, 2]
    assert "cannot tell" in ends[0][1]
    assert 'initialize was answered with "yes"' in ends[1][1]
    assert "session/new was answered without a sessionId" in ends[2][1]


@pytest.mark.scenario("K22")
async def test_a_server_that_speaks_no_http_is_said_to_be_one_when_it_is_first_heard(
    tmp_path: Path,
) -> None:
    asked = tmp_path / "asked"
    command = [sys.executable, "-c", NONSENSE, "{port}", str(asked)]

    with pytest.raises(CannotStart, match="cannot be asked"):
        await judged(Subject("agui", "http://127.0.0.1:{port}/agui", command=command).maker())

    assert asked.read_text("utf-8") == "once "


def hears_no_text(_: str, tools: object) -> object:
    """A factory."""
    del tools

    class Speaks:
        async def start(self, text: str, hear: Callable[[object], None]) -> None:
            hear({"no": text})

        def cancel(self) -> None: ...

    return Speaks()


@pytest.mark.scenario("K22")
async def test_who_says_something_else_than_text_is_told_so() -> None:
    with pytest.raises(CannotStart, match="hear takes text, and was given dict"):
        await judged(Subject("python", f"{__name__}:hears_no_text").maker(), "text.quiet")


@pytest.mark.scenario("K22")
async def test_a_line_without_end_and_a_flood_of_errors_take_no_more_than_their_room(
    tmp_path: Path,
) -> None:
    premises = Premises("", tmp_path / "journal", tmp_path, "mark")

    program = await Started.start([sys.executable, "-c", FLOODS], premises, {})
    lines = [line async for line in program.lines()]
    await program.end()

    assert lines[-1] == b"last"
    assert sum(map(len, lines)) < 20 << 20
    assert (tmp_path / "stderr.log").stat().st_size == 1 << 20
    assert program.last_errors() == "e" * 500


def test_of_what_came_over_the_wire_the_newest_is_kept() -> None:
    wire = WireLog()
    for number in range(2000):
        wire.note("from it", f"{number} " + "x" * 100_000, at=float(number))

    kept = list(wire.since(0.0))

    assert kept[-1][0] == 1999.0
    assert sum(len(line) for _, _, line in kept) <= 1 << 26


def test_what_is_plain_steers_nothing_and_has_an_end() -> None:
    name = "a\x1b[2J\u202eb\ud800\n  c" + "d" * 5000

    told: dict[str, list[str]] = {"name": [name, "7"]}
    shown = plain(told)["name"][0]

    assert shown.startswith("a\ufffd[2J\ufffdb\ufffd cddd")
    assert len(shown) == LONGEST
    assert plain("Grüße, 世界") == "Grüße, 世界"


@pytest.mark.scenario("K23", part="daemons")
@pytest.mark.skipif(sys.platform != "linux", reason="takes Linux to know who descends from whom")
async def test_a_daemon_that_nothing_is_written_on_does_not_outlive_the_check(
    tmp_path: Path,
) -> None:
    where = tmp_path / "pid"

    await checked("acp", *ONLY, *of_kind("gets-away", str(where)))

    assert state_of(where) in ("", "Z")


@pytest.mark.scenario("K23", part="killed")
@pytest.mark.skipif(sys.platform != "linux", reason="takes Linux to find it")
async def test_a_target_that_kills_who_sees_it_off_is_seen_off_all_the_same(tmp_path: Path) -> None:
    temporary = {"TMPDIR": str(tmp_path)}

    code, shown = await checked("acp", *ONLY, *of_kind("kills-the-keeper"), env=temporary)

    assert (code, "kills-the-keeper 1" in shown) == (3, True)
    assert left_in(tmp_path) == []


@pytest.mark.scenario("K24")
async def test_who_dies_at_a_stop_has_not_answered_it() -> None:
    stories = ("text.quiet", "text.silent-model", "again.same")

    report = await judged(planted_acp("dies-at-a-stop"), *stories)

    found = told(report, "broken")
    assert set(found) == set(stories)
    died = "the stop was not answered: the agent's process ended"
    assert [why.startswith(died) for why in found.values()] == [True] * len(stories)


def _hungry(*_: object) -> str:
    return WAITED


@pytest.mark.scenario("K25")
async def test_what_does_not_come_from_a_target_that_is_starved_is_not_held_against_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judge, "starved", _hungry)
    impatient = Commission([BY_ID["text.silent-model"]], times=Times(limit=0.5))

    late, told_on = await asyncio.gather(
        judge.Judge(planted_acp("waits-for-the-model"), impatient).report(),
        judged(planted_acp("talks-on"), "text.quiet"),
    )

    assert set(told(late, "cannot tell").values()) == {f"{BUSY} ({WAITED})"}
    assert set(told(told_on, "broken")) == {"text.quiet"}  # by the order of what was heard


@pytest.mark.skipif(sys.platform != "linux", reason="as Linux counts it")
def test_who_is_starved_is_known_by_the_thread_that_waited_most() -> None:
    assert f"/proc/{os.getpid()}/task/{os.getpid()}" in waits([os.getpid(), 1 << 30])
    assert starved({"a": 1.0, "b": 1.0}, {"a": 2.5, "b": 4.0}) == WAITED
    assert starved({"a": 100.0}, {"a": 101.0, "new": 1.5}) == ""


@pytest.mark.scenario("K26")
async def test_nothing_is_believed_of_a_journal_in_which_others_write(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    journal.write_text('{"what": "a lie"}\n', encoding="utf-8")

    report = await judged(planted_python(), "tool.once", "next.runs", journal=journal)

    assert set(told(report, "kept")) == {"next.runs"}
    assert told(report, "cannot tell") == {
        "tool.once": "the journal: no witness wrote what is in the journal"
    }


@pytest.mark.scenario("K26")
def test_lines_that_are_gone_from_a_journal_are_missed(tmp_path: Path) -> None:
    deeds = Deeds(tmp_path / "journal")
    note(str(deeds.journal), tool="lw_slow", run="q", n=0, what="effect")
    assert len(deeds.of("q", "effect")) == 1
    assert deeds.doubt == ""

    deeds.journal.write_text("", encoding="utf-8")
    deeds.of("q")

    assert deeds.doubt == "lines of the journal are gone"
