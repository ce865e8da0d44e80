"""P. Nobody outlives a stop: twenty escape artists, at each level, as root and as anybody."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from lastword.processes import Level, Processes
from lastword.processes.cgroups import Group, our_own
from tests.processes import as_user
from tests.processes.artists import ARTISTS, built
from tests.processes.as_user import survivors
from tests.processes.strict import AT_EACH, NO_GROUPS
from tests.scenarios import ROOT

HELPER = Path(as_user.__file__).relative_to(ROOT)
IGNORES_TERM = pytest.mark.scenario("P1", part="processes")
LEAVES = pytest.mark.scenario("P2", part="processes")
BACKGROUND = pytest.mark.scenario("P3", part="processes")
HOLDS_STDOUT = pytest.mark.scenario("P4", part="processes")
HARD_TO_KILL = pytest.mark.scenario("P5", part="processes")
STORIES = {
    "termignore": [IGNORES_TERM],
    "nohup_gone": [LEAVES, BACKGROUND],
    "stdouthold": [HOLDS_STDOUT],
    "houdini": [LEAVES, HARD_TO_KILL],
    "comet_sid": [LEAVES, HARD_TO_KILL],
    "stopped_sid": [LEAVES, HARD_TO_KILL],
    "comet": [HARD_TO_KILL],
    "hydra": [HARD_TO_KILL],
    "stopped": [HARD_TO_KILL],
    "zombie": [HARD_TO_KILL],
}
DELEGATED = ("cgroup.procs", "cgroup.threads", "cgroup.subtree_control")
numbers = count(1)
# A mount namespace shows the nobody of this system what lies below directories that are closed to
# it: this Python, the checkout, the artists. Only there: the directories outside remain empty.
AS_NOBODY = """
if [ -n "$GROUP" ]; then echo 0 > "$GROUP/cgroup.procs"; fi
for place in python src tests artists; do mount --bind "$1" "$ROOM/$place"; shift; done
exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
"""


@AT_EACH
@pytest.mark.parametrize(
    "artist", [pytest.param(name, marks=STORIES.get(name, [LEAVES])) for name in ARTISTS]
)
async def test_when_a_stop_is_over_no_process_of_an_artist_is_left(
    artist: str, level: Level, tries: int, tmp_path: Path
) -> None:
    program = built()

    async with Processes(level=level) as processes:
        escaped = await survivors(
            processes, artist, program=program, tries=tries, directory=tmp_path
        )

    assert escaped == 0


@pytest.mark.scenario("P2", part="processes")
@AT_EACH
def test_no_artist_escapes_from_an_ordinary_user(level: Level, tries: int) -> None:
    with an_ordinary_user() as stage:
        escaped = stage.perform(level, tries, *ARTISTS)

    assert escaped == dict.fromkeys(ARTISTS, 0)


@pytest.mark.scenario("P2", part="processes")
def test_an_artist_does_escape_where_only_groups_are_promised() -> None:
    """Which also shows that a survivor is seen. Here it dies with the namespace that it is in."""
    stage = Stage(built(), before=a_namespace_that_ends())

    escaped = stage.perform("group", 1, "plain", "setsid", "daemon")

    assert escaped == {"plain": 0, "setsid": 1, "daemon": 1}


@dataclass(frozen=True, slots=True)
class Stage:
    """Where as_user.py runs, and as whom."""

    program: Path
    before: tuple[str, ...] = ()
    python: Path = Path(sys.executable)
    root: Path = ROOT
    group: str = ""  # a control group that is the user's own

    @property
    def env(self) -> dict[str, str]:
        path = os.pathsep.join((str(self.root / "src"), str(self.root)))
        room = {"ROOM": str(self.root), "GROUP": self.group}
        return {"PATH": os.environ["PATH"], "PYTHONPATH": path, **room}

    def perform(self, level: Level, tries: int, *artists: str) -> dict[str, int]:
        """How many survived, by artist."""
        arguments = map(str, (self.python, self.root / HELPER, level, tries, self.program))
        done = subprocess.run(
            [*self.before, *arguments, *artists],
            env=self.env,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        return {answer["artist"]: answer["survivors"] for answer in answers}


@contextmanager
def an_ordinary_user() -> Generator[Stage]:
    if os.geteuid() != 0:
        yield Stage(built())
        return
    unshare = permitted("unshare", "--mount")
    python = Path(sys.executable).resolve().relative_to(Path(sys.base_prefix).resolve())
    places = {
        "python": Path(sys.base_prefix),
        "src": ROOT / "src",
        "tests": ROOT / "tests",
        "artists": built().parent,
    }
    room = Path(tempfile.mkdtemp())
    try:
        room.chmod(0o755)
        for name in places:
            (room / name).mkdir()
        before = (*unshare, "sh", "-ec", AS_NOBODY, "sh", *map(str, places.values()))
        program = room / "artists" / built().name
        with a_delegated_group(65534) as group:
            yield Stage(program, before, room / "python" / python, room, group)
    finally:
        for name in places:  # one by one, and only if empty: never what was shown there
            (room / name).rmdir()
        room.rmdir()


@contextmanager
def a_delegated_group(user: int) -> Generator[str]:
    """A part of the tree of control groups that is a user's, as root makes one; "" without."""
    if NO_GROUPS:
        yield ""
        return
    group = our_own() / f"test-{os.getpid()}-{next(numbers)}"
    group.mkdir()
    try:
        for path in (group, *(group / name for name in DELEGATED)):
            os.chown(path, user, user)
        yield str(group)
    finally:
        Group(group).kill()
        while group.exists():  # until the last has gone
            Group(group).remove()


def a_namespace_that_ends() -> tuple[str, ...]:
    mine = () if os.geteuid() == 0 else ("--map-root-user",)
    return permitted("unshare", *mine, "--pid", "--fork", "--kill-child", "--mount-proc")


def permitted(*command: str) -> tuple[str, ...]:
    """The command, to go before another; where it may not be used, the test is skipped."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]} here")
    tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"{' '.join(command)} is not permitted here: {tried.stderr.strip()}")
    return command
