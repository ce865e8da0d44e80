"""Who keeps whom, by the numbers that /proc shows: the host, its zygote, its wardens."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from lastword.processes import Level


def children(pid: int) -> list[int]:
    """Its children; those that have ended and were not reaped are among them."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        lists = [(thread / "children").read_text(encoding="ascii") for thread in threads]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [int(child) for text in lists for child in text.split()]


def state(pid: int) -> str:
    """One letter, as `ps` shows it; nothing if there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return text.rpartition(")")[2].split()[0]


def zombies(pid: int) -> list[int]:
    return [child for child in children(pid) if state(child) == "Z"]


def zygotes(host: int) -> list[int]:
    return [pid for pid in children(host) if b"inside.zygote" in command_line(pid)]


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def the_warden(host: int, level: Level) -> int:
    """Of a host that has one."""
    (zygote,) = zygotes(host)
    (warden,) = keepers(zygote, level)
    return warden


def keepers(zygote: int, level: Level) -> list[int]:
    """The wardens; at sealed level each is the only child of whoever stands outside."""
    forks = children(zygote)
    return forks if level != "sealed" else [pid for fork in forks for pid in children(fork)]


TRACER = """
import ctypes, os, sys, time
libc, pid = ctypes.CDLL(None, use_errno=True), int(sys.argv[1])
if libc.ptrace(16, pid, 0, 0):  # attach
    sys.exit(os.strerror(ctypes.get_errno()))
os.waitpid(pid, 0x40000000)
print("held", flush=True)
time.sleep(60)
"""
BULLY = """
import os, sys
pid = int(sys.argv[1])
os.kill(pid, 19)
print("held", flush=True)
while True:
    os.kill(pid, 19)
"""


@contextmanager
def held(pid: int) -> Generator[None]:
    """A process that does nothing meanwhile, although it is told to go on: root traces it; anybody
    else, to whom keepers are out of reach, can only stop it again and again."""
    program = TRACER if os.geteuid() == 0 else BULLY
    line = (sys.executable, "-c", program, str(pid))
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        try:
            yield
        finally:
            holder.kill()


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").rstrip("\n")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def switches(pid: int) -> str:
    """How often it has come to a rest and gone on; unchanged while it waits."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return status.partition("voluntary_ctxt_switches")[2]
