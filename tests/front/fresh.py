"""Fresh places to be a newcomer in: an empty home, and environments with what they are told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.house.test_house import the_files
from tests.scenarios import ROOT

PYTHON = str(Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}"))
_KEYS = ("_API_KEY", "_BASE_URL")
_THEIRS = ("PYTHON", "XDG_", "LASTWORD_", "VIRTUAL_ENV")  # of whoever runs the tests


def newcomer_env(home: Path, **more: str) -> dict[str, str]:
    """Of somebody who is here for the first time, with nobody's keys and settings."""
    theirs = Path.home() / ".config" / "pip" / "pip.conf"  # may say where packages are had from
    kept = {"PIP_CONFIG_FILE": str(theirs)} if theirs.is_file() else {}
    kept |= {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_THEIRS) and not name.endswith(_KEYS)
    }
    return kept | {"HOME": str(home), "PYTHON": PYTHON} | more


def copied(place: Path, at: int = 0) -> Path:
    """All files of the repository; as if they were of another time, if one is given."""
    for file in the_files():
        to = place / file.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)
        if at:
            os.utime(to, (at, at))
    return place


def megabytes(folder: Path) -> float:
    """What it takes on the disk, as du says it."""
    return sum(file.lstat().st_blocks for file in folder.rglob("*")) * 512 / (1 << 20)


def empty_venv(place: Path) -> Path:
    """An environment with nothing in it; its Python."""
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", place], check=True)
    return place / "bin" / "python"


def pip(
    python: Path, *words: str | Path, env: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    """Install into it, in the pinned versions, from a place where there is no lastword."""
    with tempfile.TemporaryDirectory() as elsewhere:
        return subprocess.run(
            [PYTHON, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile",
             "--disable-pip-version-check", "--constraint", ROOT / "constraints.txt", *words],
            cwd=elsewhere, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip


@cache
def has_index() -> bool:
    """Whether there is an index of packages to install from: a small one can be had."""
    with tempfile.TemporaryDirectory() as folder:
        asked = ["--no-deps", "--retries", "0", "--target", folder, "iniconfig"]
        return pip(Path(sys.executable), *asked).returncode == 0
