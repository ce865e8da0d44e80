"""The Containerfile: its steps are done in a bare root, and the server is run there as it says."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import warnings
from pathlib import Path

import pytest

from tests.deploy.container import (
    FILE,
    UID,
    Container,
    bare_root,
    control_group,
    instructions,
    take_away,
)
from tests.deploy.proxies import free_port
from tests.docs.pages import page
from tests.scenarios import ROOT
from tests.server.client import Client, upto

TOKEN = "a token for the container"  # noqa: S105 - of a server that lives for one test
LASTWORD = "/opt/lastword/bin/lastword"
ALONE = ("/usr/bin/env", "--unset=LASTWORD_STORE")  # there is no store yet
SAID = ROOT / ".artefacts" / "container"  # what the doctor said, for whoever looks


@pytest.mark.scenario("O13")
def test_the_file_has_an_argument_for_its_base_a_user_and_an_init() -> None:
    told = dict(instructions(FILE.read_text(encoding="utf-8")))

    assert told["FROM"] == "${BASE}"
    assert told["USER"] == str(UID)
    assert told["ENTRYPOINT"].startswith('["/usr/bin/tini", "--", ')
    assert told["VOLUME"] == "/var/lib/lastword"
    assert "/readyz" in told["HEALTHCHECK"]


@pytest.mark.scenario("O13")
async def test_the_steps_make_a_server_that_is_held_at_the_level_that_is_told(
    tmp_path: Path,
) -> None:
    container = Container(bare_root(tmp_path))
    try:
        container.build()
        is_held_as_told(container)
        is_held_by_a_group_of_its_own(container)
        await serves_and_ends(container, tmp_path)
    finally:
        take_away(container.root)


def is_held_as_told(container: Container) -> None:
    """The doctor says there, to the letter, what the page for operators says that it says."""
    assert shown("the image's user") in said(container, "the image's user", container.started())
    root = container.inside("--chdir", "/")
    weak = ("/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all")
    assert shown("root without rights") in said(container, "root without rights", [*root, *weak])
    assert shown("root with rights") in said(container, "root with rights", root)


def is_held_by_a_group_of_its_own(container: Container) -> None:
    with control_group(UID) as group:
        if group is None:
            warnings.warn("there is no tree of control groups of version 2", stacklevel=1)
            return
        told = said(container, "a control group of its own", container.started_in(group))
        assert shown("a control group of its own") in told


def shown(by: str) -> str:
    """What the page says that the doctor says."""
    found = [block.text for block in page("operate/container.md").blocks if block.title == by]
    assert len(found) == 1, by
    return found[0]


def said(container: Container, by: str, before: list[str]) -> str:
    """What the doctor says there."""
    done = container.told([*before, *ALONE, LASTWORD, "doctor"])
    assert done.returncode == 0, done.stderr
    SAID.mkdir(parents=True, exist_ok=True)
    (SAID / f"doctor as {by}.txt").write_text(done.stdout, encoding="utf-8")
    return done.stdout


async def serves_and_ends(container: Container, folder: Path) -> None:
    """It answers, keeps what is said in its volume, and ends when it is asked to."""
    port = free_port()
    mounts = volume_and_tokens(folder)
    here = {"0.0.0.0": "127.0.0.1", "8420": str(port)}  # noqa: S104 - it is not listened on
    words = [here.get(word, word) for word in (*container.entrypoint, *container.command)]
    process = await asyncio.create_subprocess_exec(
        *(*container.started(*mounts), *words),
        env={"PATH": "/usr/bin:/bin", **container.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stderr
        told = json.loads(await process.stderr.readline())
        assert told["message"] == f"Listening at http://127.0.0.1:{port}/"
        health = [word.replace("8420", str(port)) for word in container.health]
        assert container.told([*container.started(), *health]).returncode == 0
        client = Client(port, TOKEN)
        async with client.events("s") as events:
            await client.send("s", "hello")
            await upto(events, "ended")

        ask_to_end(process.pid)

        _, rest = await process.communicate()
        assert b"Goodbye" in rest
        assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    looked = container.told([*container.started(*mounts), LASTWORD, "doctor", "--level", "group"])
    assert "store: sqlite:/var/lib/lastword/lastword.db is whole, 1 session" in looked.stdout


def volume_and_tokens(folder: Path) -> list[str]:
    volume, tokens = folder / "volume", folder / "tokens.toml"
    volume.mkdir()
    tokens.touch(0o600)
    tokens.write_text(f"[ann]\ntoken = {TOKEN!r}\n")
    for one in (volume, tokens):
        os.chown(one, UID, UID)
    return [
        *("--bind", str(volume), "/var/lib/lastword"),
        *("--dir", "/etc/lastword", "--ro-bind", str(tokens), "/etc/lastword/tokens.toml"),
    ]


def ask_to_end(outside: int) -> None:
    """The first process in there, as whoever ends a container does."""
    path = Path(f"/proc/{outside}/task/{outside}/children")
    [first] = path.read_text(encoding="ascii").split()
    os.kill(int(first), signal.SIGTERM)
