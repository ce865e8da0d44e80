"""A folder, as it is: every path below it, what is there, its mode, and what it holds."""

import stat
from pathlib import Path


def tree(folder: Path) -> dict[str, tuple[str, int, bytes]]:
    found: dict[str, tuple[str, int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        name, mode = str(path.relative_to(folder)), stat.S_IMODE(status.st_mode)
        if path.is_symlink():
            found[name] = "link", 0, str(path.readlink()).encode()
        elif path.is_dir():
            found[name] = "folder", mode, b""
        else:
            found[name] = "file", mode, path.read_bytes()
    return found
