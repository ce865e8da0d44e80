"""The front end that the pages show draws each word once, also over a broken connection."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from lastword import Run, Runtime
from lastword.server import ApiToken
from tests.docs.pages import page
from tests.server.client import SECRET, served
from tests.server.page_check import MISSING, NODE

SHOWN = {block.title: block.text for block in page("how-to/front-end.md").blocks if block.title}
_FLAGS = ("--experimental-eventsource", "--no-warnings")


async def counts(run: Run) -> None:
    for number in range(10_000):
        await run.emit(f"{number} ")
        await asyncio.sleep(0.002)


@pytest.mark.parametrize("token", [SECRET, ""], ids=["with a token", "with EventSource"])
async def test_the_front_end_shows_every_word_once_and_none_after_the_stop(
    tmp_path: Path, token: str
) -> None:
    if not NODE.exists():
        pytest.skip(MISSING)
    for name, text in {**SHOWN, "package.json": '{"type": "module"}'}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    tokens = (ApiToken(token),) if token else ()  # without: whoever is on this machine may ask

    async with Runtime(counts) as runtime, served(runtime, tokens=tokens) as client:
        seen = await driven(tmp_path, f"http://127.0.0.1:{client.port}", token)
        log = await runtime.session("shown").history()

    you, agent, receipt = seen["shown"]
    said = agent.removeprefix("agent: ").split()
    assert you == "you: count"
    assert said == [str(number) for number in range(len(said))]
    assert agent.removeprefix("agent: ") == next(one.text for one in log if one.role == "assistant")
    assert receipt == "receipt: Stopped: 1 answer cut off"
    assert seen["quiet"]
    assert seen["asked"][0] == ""
    assert seen["asked"][1]  # it came back with the id of the last event that it had
    assert seen["watched"] == (None if token else seen["shown"])


async def driven(folder: Path, url: str, token: str) -> Any:
    script = Path(__file__).parent / "front_end.mjs"
    pipe = asyncio.subprocess.PIPE
    node = await asyncio.create_subprocess_exec(
        NODE, *_FLAGS, script, str(folder), url, token, stdout=pipe, stderr=pipe
    )
    out, err = await node.communicate()
    assert node.returncode == 0, err.decode()
    return json.loads(out)


def test_the_page_shows_four_files() -> None:
    assert set(SHOWN) == {"picture.js", "with-event-source.js", "with-fetch.js", "talk.js"}
