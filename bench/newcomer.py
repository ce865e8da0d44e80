"""The first minute of a newcomer: a fresh clone, an empty home, nothing in pip's cache."""

from __future__ import annotations

import platform
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.front.first_minute import first_minute
from tests.front.fresh import PYTHON, megabytes, newcomer_env
from tests.scenarios import ROOT


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _play(Path(folder))


def _play(place: Path) -> None:
    root, home, heard = place / "a fresh clone", place / "home", place / "heard"
    home.mkdir()
    env = newcomer_env(home)
    env.pop("PIP_CACHE_DIR", None)
    _run("git", "clone", "--quiet", str(ROOT), str(root), env=env)

    first = first_minute(root, env, heard)
    told = heard.read_text().splitlines()
    after = megabytes(root / ".venv")
    second = first_minute(root, env | {"PIP_NO_INDEX": "1"}, heard)
    fetched = _fetched(root, place / "fetched", env)

    version = platform.python_version()
    print(f"A fresh clone, an empty home, nothing in pip's cache; Python {version}\n")
    print(*(f"  {line}" for line in told), "", sep="\n")
    print("| from `scripts/run` until | the first time | again, without a network |")
    print("|---|---|---|")
    for what, seconds in first.items():
        print(f"| {what} | {seconds:.1f} s | {second[what]:.1f} s |")
    print()
    print(f"fetched {fetched:.0f} MB; `.venv` has {after:.0f} MB when the page has been used")


def _fetched(root: Path, into: Path, env: Mapping[str, str]) -> float:
    """Megabytes of what was installed, as an index has it: fetched once more, to be weighed."""
    python = str(root / ".venv" / "bin" / "python")
    pip = (PYTHON, "-m", "pip", "--disable-pip-version-check")
    freeze = _run(*pip, "--python", python, "freeze", "--exclude-editable", env=env)
    _run(*pip, "download", "--quiet", "--no-deps", "--dest", str(into), *freeze.split(), env=env)
    return megabytes(into)


def _run(*command: str, env: Mapping[str, str]) -> str:
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr}")
    return done.stdout
