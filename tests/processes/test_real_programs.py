"""P16. What people really start: a stop, and nothing of it is left."""

import asyncio
import os
import shutil
import uuid
from pathlib import Path

import pytest

from lastword.processes import Level, Processes, command
from tests.processes.strict import AT_EACH

P16 = pytest.mark.scenario("P16", part="processes")
MAKEFILE = "all: a b c d\na b c d:\n\t@sleep 60\n"
PACKAGE = '{"scripts": {"start": "node server.js"}}'
SERVER = "console.log('up'); setInterval(() => {}, 1000)"
HOG = "import time; hog = bytearray(1 << 28); print('up', flush=True); time.sleep(60)"
DAEMON = (
    "import os, time\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "print('up', flush=True); time.sleep(60)"
)
LINES = {  # what it takes, and a line that says `up` once it is
    "tmux": ("tmux", "tmux -S $HOME/tmux -f /dev/null new -d 'sleep 60' && echo up; sleep 60"),
    "screen": ("screen", "SCREENDIR=$HOME/s screen -dmS it sleep 60 && echo up; sleep 60"),
    "ssh-agent": ("ssh-agent", "eval $(ssh-agent) >&2; echo up"),
    "gpg-agent": ("gpg-agent", "gpg-agent --homedir $HOME --daemon >&2; echo up"),
    "bwrap": ("bwrap", "bwrap --dev-bind / / --unshare-pid sh -c 'echo up; sleep 60; :'"),
    "su": ("su", "su nobody -s /bin/sh -c 'sleep 60 & echo up; sleep 61; :'"),
    "unshare": ("unshare", "unshare --pid --fork sh -c 'sleep 60 & echo up; sleep 61; :'"),
    "nohup server": ("python3", "nohup python3 -m http.server 0 >/dev/null 2>&1 & echo up"),
    "setsid": ("setsid", "setsid --fork sh -c 'trap : TERM; echo up; sleep 60; sleep 60'"),
    "script": ("script", "script -qc 'echo up; sleep 60; :' /dev/null"),
    "npm": ("npm", "cd $HOME && npm --silent start"),
    "make -j": ("make", "make -s -C $HOME -j4 & sleep 60 & echo up; wait"),
    "memory hog": ("python3", 'python3 -c "$HOG"'),
    "build daemon": ("python3", 'python3 -c "$DAEMON"'),
    "background jobs": ("bash", "bash -ic 'sleep 60 & sleep 61 & disown -a; echo up' 2>/dev/null"),
    "nested shells": ("bash", 'bash -c \'sh -c "bash -c \\"echo up; sleep 60; :\\"; :"; :\''),
}


@P16
@AT_EACH
@pytest.mark.parametrize("program", LINES)
async def test_a_stop_leaves_nothing_of_it(program: str, level: Level, tmp_path: Path) -> None:
    needs, line = LINES[program]
    if shutil.which(needs) is None:
        pytest.skip(f"there is no {needs} here")
    if program in ("su", "unshare") and os.geteuid() != 0:
        pytest.skip("only root may, without being asked")
    (tmp_path / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    (tmp_path / "package.json").write_text(PACKAGE, encoding="utf-8")
    (tmp_path / "server.js").write_text(SERVER, encoding="utf-8")
    (tmp_path / "s").mkdir(mode=0o700)
    mark = f"MARK={uuid.uuid4().hex}"
    env = {**os.environ, "HOME": str(tmp_path), "HOG": HOG, "DAEMON": DAEMON}

    async with Processes(level) as processes:
        warden = await processes.warden()
        process = await warden.spawn(
            command(shell=line, env=env | dict([mark.split("=")]), cwd=tmp_path)
        )
        said = b""
        async for piece in process.stdout:
            said += piece
            if b"up" in said:
                break
        while not marked(mark):  # who has forked may be about to become its program
            await asyncio.sleep(0)
        ending = await warden.stop(0.2)

        assert ending.proven
        assert marked(mark) == []


def marked(mark: str) -> list[int]:
    """Those in whose environment it is."""
    found: list[int] = []
    for path in Path("/proc").iterdir():
        try:
            if path.name.isdigit() and mark.encode() in (path / "environ").read_bytes():
                found.append(int(path.name))
        except OSError:
            continue  # it has gone, or is somebody else's
    return found
