"""The Containerfile, carried out without an engine: in a root that mmdebstrap makes, by bwrap.

Each instruction is done, or is one that only an engine can do, or is an error: so what passes here
is what is in the file. How this machine reaches its package registries is lent to the steps, and
stays out of the root.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.deploy.proxies import DEPLOY, installed
from tests.scenarios import ROOT

FILE = DEPLOY / "Containerfile"
FOR_ENGINES = {"VOLUME", "EXPOSE"}
UID = 10001
CGROUPS = "/sys/fs/cgroup"


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Each with what it says, in one line."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    whole = ""
    for line in lines:
        whole += line.removesuffix("\\").strip() + " "
        if not line.endswith("\\"):
            word, _, rest = whole.strip().partition(" ")
            yield word, rest
            whole = ""


@dataclass
class Container:
    """A root, and what the file says of it."""

    root: Path
    arguments: dict[str, str] = field(default_factory=dict[str, str])
    environment: dict[str, str] = field(default_factory=dict[str, str])
    user: str = "0"
    folder: str = "/"
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    health: tuple[str, ...] = ()

    def build(self) -> None:
        for word, rest in instructions(FILE.read_text(encoding="utf-8")):
            self._do(word, rest)

    def _do(self, word: str, rest: str) -> None:
        match word:
            case "ARG":
                name, _, value = rest.partition("=")
                self.arguments[name] = value
            case "FROM":
                assert rest == "${BASE}", "the base is an argument: here it is the root"
            case "RUN":
                self._run(rest)
            case "COPY":
                *sources, target = rest.split()
                self._copy(sources, target)
            case "ENV":
                self.environment |= dict(pair.split("=", 1) for pair in shlex.split(rest))
            case _:
                self._remember(word, rest)

    def _remember(self, word: str, rest: str) -> None:
        """What is for whoever starts it."""
        match word:
            case "USER":
                self.user = rest
            case "WORKDIR":
                self.folder = rest
            case "HEALTHCHECK":
                self.health = tuple(json.loads(rest.partition("CMD ")[2]))
            case "ENTRYPOINT":
                self.entrypoint = tuple(json.loads(rest))
            case "CMD":
                self.command = tuple(json.loads(rest))
            case _:
                assert word in FOR_ENGINES, f"nobody carries {word} out here"

    def _run(self, line: str) -> None:
        told = self.arguments | self.environment | lent_environment()
        command = [*self.inside(*lent_files(line)), "/bin/sh", "-c", line]
        done = subprocess.run(
            command, env=_plain(told), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"

    def _copy(self, sources: list[str], target: str) -> None:
        place = self.root / target.lstrip("/")
        for source in sources:
            if (ROOT / source).is_dir():
                unwanted = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, place, ignore=unwanted)
            else:
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / source, place)

    def inside(self, *mounts: str) -> list[str]:
        """What to put before a command that is to run as root in there, as its first process."""
        return [
            *(
                installed("bwrap"),
                "--bind",
                str(self.root),
                "/",
                "--proc",
                "/proc",
                "--dev",
                "/dev",
            ),
            *("--perms", "1777", "--tmpfs", "/tmp", "--tmpfs", "/run"),  # noqa: S108
            *("--unshare-pid", "--unshare-ipc"),
            *("--die-with-parent", "--as-pid-1", *mounts),
        ]

    def started(self, *mounts: str) -> list[str]:
        """The same, as the user of the file, who has no rights."""
        without = ("--bounding-set=-all", "--inh-caps=-all", "--clear-groups")
        who = (f"--reuid={self.user}", f"--regid={self.user}")
        command = self.inside("--chdir", self.folder, *mounts)
        return [*command, "/usr/bin/setpriv", *who, *without]

    def started_in(self, group: Path) -> list[str]:
        """The same, in a control group of the user's own, which is all of the tree that it sees."""
        entered = ("/bin/sh", "-c", 'echo 0 >"$0/cgroup.procs" && exec "$@"', str(group))
        above = ("--perms", "0755", "--dir", str(Path(CGROUPS).parent))
        seen = ("--unshare-cgroup", *above, "--bind", str(group), CGROUPS)
        return [*entered, *self.started(*seen)]

    def told(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """What a command says, in the environment of the file."""
        environment = _plain(self.environment)
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def _plain(more: dict[str, str]) -> dict[str, str]:
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", **more}


def _pip_settings() -> dict[str, str]:
    """What pip is told on this machine, by files and by the environment."""
    python = shutil.which("python3", path=os.defpath) or "python3"  # .venv has no pip
    command = [shutil.which("pip3") or shutil.which("pip") or python, "config", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line.split("=", 1) for line in done.stdout.splitlines() if "=" in line]
    return {name.rpartition(".")[2]: value.strip("'\"") for name, value in lines}


def lent_environment() -> dict[str, str]:
    """How packages are reached from here, for as long as a step takes."""
    names = ("http_proxy", "https_proxy", "no_proxy")
    proxies = {name: os.environ[name] for name in names if name in os.environ}
    pip = {f"PIP_{k.upper().replace('-', '_')}": v for k, v in _pip_settings().items()}
    return {"DEBIAN_FRONTEND": "noninteractive", **proxies, **pip}


def lent_files(line: str) -> Iterator[str]:
    """The same, as far as it is in files: to be read, and nowhere in the root afterwards."""
    places = [Path("/etc/resolv.conf"), Path("/etc/hosts")]
    if "apt-get" in line:
        places += [Path("/etc/apt")]
    if "pip " in line:
        named = " ".join(_pip_settings().values()).replace("file://localhost", "file://")
        for word in named.split():
            if word.startswith("file:///"):  # an index, which may name what lies beside it
                places += [Path(word.removeprefix("file://")).parent]
            elif word.startswith("/"):
                places += [Path(word)]
    for place in dict.fromkeys(places):
        if place.exists():
            yield from ("--ro-bind", str(place.resolve()), str(place))


@contextmanager
def control_group(owner: int) -> Generator[Path | None]:
    """A control group as an engine delegates one; None where there is no tree of version 2."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text("utf-8").splitlines()]
    tree = next((Path(where) for _, where, kind, *_ in mounts if kind == "cgroup2"), None)
    if tree is None:
        yield None
        return
    group = tree / f"lastword-container-{os.getpid()}"
    group.mkdir()
    try:
        for name in (".", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
            os.chown(group / name, owner, owner)
        yield group
    finally:
        for folder, _, _ in os.walk(group, topdown=False):
            Path(folder).rmdir()


def take_away(root: Path) -> None:
    """It is large. What is mounted in it, if anything were, would be somebody else's."""
    mounted = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    assert f" {root}" not in mounted, "something is mounted there"
    shutil.rmtree(root)


def bare_root(folder: Path) -> Path:
    """A Debian with nothing in it but apt."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a root here")
    mmdebstrap = installed("mmdebstrap")
    release = Path("/etc/os-release").read_text(encoding="utf-8")
    told = dict(line.split("=", 1) for line in release.splitlines() if "=" in line)
    if told.get("ID") != "debian":
        pytest.skip("the packages of a Debian are needed, and this is none")
    sources = [*Path("/etc/apt").glob("sources.list"), *Path("/etc/apt").glob("sources.list.d/*")]
    used = [str(one) for one in sources if one.suffix in {".list", ".sources"}]
    suite, root = told["VERSION_CODENAME"].strip('"'), folder / "root"
    command = [mmdebstrap, "--mode=root", "--variant=apt", suite, str(root), *used]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        pytest.skip(f"no root could be made: {''.join(last)}")
    return root
