"""How strictly processes are held on this machine: found out by trying, and said in words.

Nothing here is read off a version number. The level is the one that a runtime would choose, by the
same self-test; a stricter one that has to be asked for is tried as well. Whether a store is whole
is found out by reading all of it.
"""

from __future__ import annotations

import asyncio
import os
import platform
import re
import sys
import textwrap
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from statistics import median

from lastword.cli import engines
from lastword.cli.records import opened
from lastword.errors import ProcessError, StoreError
from lastword.processes import MEANINGS, Level, Processes, command
from lastword.processes.keeping import MOST
from lastword.processes.levels import LEVELS
from lastword.runtime.clock import time_of_day
from lastword.stores.contract import CheckedStore, DescribedStore
from lastword.stores.opening import without_password

ABOUT = """\
Find out how strictly the processes of a run are held on this machine: which of
four levels a runtime chooses here, what that promises, what it cannot promise,
and what would raise it.

  sealed  each run has a process namespace, and the kernel ends it whole
  cgroup  as tree, and each run has a control group, which the kernel ends
  tree    each run has a warden, to which every orphan comes
  group   process groups only, which any process can leave

With a store, also find out whether that is whole: it is read from end to end.
Of a database, also how it keeps what is stored, and what to change.

With an engine, also find out how each of its runs gets a process of its own:
forked from one that has imported its module, or slowly where that is not safe."""

_WIDTH, _MARGIN = 79, 13
_SPAWNS = 21
_NOBODYS = (
    "Files of other owners look like nobody's to what a run starts, so that programs which "
    "check owners (ssh, sudo) may refuse to work."
)
_CONTAINER = (
    "in a container, --cap-add SYS_ADMIN, with an AppArmor and a seccomp profile that let it "
    "unshare and mount"
)
_REMEDY_FOR_CGROUP = (
    "Start it where a part of the tree of control groups (version 2) is this user's: systemd-run "
    "--user --scope -p Delegate=yes lastword …, Delegate=yes in a service, or a container whose "
    "/sys/fs/cgroup may be written to."
)
_CAPS = {"sealed": "Linux 6.14 or later", "cgroup": "the controller pids in its control group"}
_CALLS = {
    "unshare": "It may not make a process namespace",
    "mount": "It may not mount a /proc of its own",
}
_SETTINGS = {  # what keeps ordinary users from a namespace of their own, if it has this value
    "user.max_user_namespaces": ("0", "15000"),
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
}


def main(level: Level | None, store: str | None, engine: str | None = None) -> int:
    """Look, and say what was found; 1 if processes cannot be held as asked, or the store is bad, or
    there is no such engine."""
    return asyncio.run(_main(level, store, engine))


async def _main(level: Level | None, store: str | None, engine: str | None) -> int:
    code = await _examine(level)
    if engine:
        code = max(code, await engines.examine(engine, level, _say))
    return max(code, await _examine_store(store)) if store else code


async def _examine(asked: Level | None) -> int:
    _say_where()
    processes = Processes(asked or "auto")
    try:
        began = time.perf_counter()
        try:
            level = await processes.start()
        except ProcessError:
            _say_why_none(processes, asked)
            return 1
        tested = time.perf_counter() - began
        capped, spawn = await _try_out(processes)
    except ProcessError as error:
        print(f"\nno level: {error}")
        return 1
    finally:
        await processes.close()
    _say_level(level, asked=asked is not None)
    _say("fork storm", _about_forks(level, capped=capped))
    await _say_what_is_stricter(level, processes.why_not, asked=asked is not None)
    print()
    _say("self-test", f"{tested * 1e3:.0f} ms, once, before a runtime's first process")
    _say("warm spawn", f"{spawn * 1e3:.1f} ms to start `sh -c :` and see it end")
    return 0


async def _try_out(processes: Processes) -> tuple[bool, float]:
    """Whether a storm of forks has a limit, and the seconds that a spawn takes."""
    warden = await processes.warden()
    took: list[float] = []
    for _ in range(_SPAWNS):
        began = time.perf_counter()
        process = await warden.spawn(command("/bin/sh", "-c", ":"))
        await process.wait()
        took.append(time.perf_counter() - began)
    await warden.stop(0)
    return warden.capped, median(took)


async def _examine_store(address: str) -> int:
    try:
        store = await opened(address)
        try:
            wrong = await store.check() if isinstance(store, CheckedStore) else []
            many = 0 if wrong else len(await store.sessions())
            told = await store.traits(time_of_day()) if isinstance(store, DescribedStore) else ()
        finally:
            await store.close()
    except StoreError as error:
        print(f"\nstore: {without_password(address)} cannot be used")
        _say("because", _sentence(str(error)))
        return 1
    address = without_password(address)
    if wrong:
        print(f"\nstore: {address} is NOT whole")
        for line in wrong:
            _say("wrong", _sentence(line))
        return 1
    print(f"\nstore: {address} is whole, {many:,} session{'' if many == 1 else 's'}")
    for trait in told:
        _say(trait.name, f"{'RISK: ' if trait.kind == 'risk' else ''}{_sentence(trait.told)}")
    return 0


# what is said


def _say(label: str, text: str) -> None:
    print(
        textwrap.fill(
            text,
            _WIDTH,
            initial_indent=f"  {label}".ljust(_MARGIN),
            subsequent_indent=" " * _MARGIN,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def _say_where() -> None:
    user = "root" if os.geteuid() == 0 else f"an ordinary user (uid {os.geteuid()})"
    system = f"{platform.system()} {platform.release()}"
    print(f"lastword {metadata.version('lastword')}, Python {platform.python_version()}, ", end="")
    print(f"{system} ({platform.machine()})\nrun by {user}")


def _say_level(level: Level, *, asked: bool) -> None:
    meaning = MEANINGS[level]
    note = ", as asked for" if asked else ", the strictest there is" if level == LEVELS[0] else ""
    print(f"\nlevel: {level}{note}")
    _say("held by", _sentence(meaning.by))
    _say("promise", _sentence(meaning.promise))
    _say("except", _sentence(meaning.holes))
    if level == "sealed" and os.geteuid() != 0:
        _say("price", _NOBODYS)


def _say_why_none(processes: Processes, asked: Level | None) -> None:
    print(f"\nlevel: {asked} cannot be had here" if asked else "\nlevel: none can be had here")
    for level, why in processes.why_not.items():
        _say("because" if asked else level, _in_words(why))
        _say("to get it", _remedy(level))
    if asked:
        print("\nWithout --level, lastword doctor finds the strictest level that can be had.")


async def _say_what_is_stricter(level: Level, why_not: dict[Level, str], *, asked: bool) -> None:
    stricter = LEVELS[: LEVELS.index(level)]
    if not stricter:
        return
    if asked:
        print("\nstricter: not tried; without --level, the strictest is found")
        return
    print("\nstricter:")
    for other in reversed(stricter):
        if other in why_not:
            _say(other, f"Not here. {_in_words(why_not[other])}")
            _say("to get it", _remedy(other))
        elif why := await _why_not_if_asked(other):
            _say(other, f"Not here, nor if asked for. {_in_words(why)}")
            _say("to get it", _remedy(other))
        else:
            _say(other, f'Works here, if asked for: Runtime(..., level="{other}").')
            _say("price", _NOBODYS)
            _say("or", "Run as root, where it is chosen by itself and has no such price.")


async def _why_not_if_asked(level: Level) -> str:
    processes = Processes(level)
    try:
        await processes.start()
    except ProcessError as error:
        return processes.why_not.get(level, str(error))
    finally:
        await processes.close()
    return ""


def _about_forks(level: Level, *, capped: bool) -> str:
    if capped:
        return f"Capped, at {MOST:,} processes and threads a run."
    ways = [_CAPS[level]] if level in _CAPS else []
    ways += ["an ordinary user in place of root"] if os.geteuid() == 0 else []
    capping = f" What would cap it: {', or '.join(ways)}." if ways else ""
    return f"NOT capped: it could use up the process numbers of the machine.{capping}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _in_words(why: str) -> str:
    """The kernel's answer, and what it is about."""
    if _no_proc():
        return "There is no /proc here."
    said = re.sub(r"^no warden at level \w+: ", "", why)
    for call, meant in _CALLS.items():
        if said.startswith(call):
            return f"{meant} ({said})."
    return _sentence(said)


def _remedy(level: Level) -> str:
    """What somebody who may change this machine can do about it."""
    if not sys.platform.startswith("linux"):
        return "Use Linux; no other system has what this level needs."
    if _no_proc():
        return "Mount /proc, and look again."
    if level == "cgroup":
        return _REMEDY_FOR_CGROUP
    if level == "tree":
        return "Let this process call prctl and pidfd_open (is there a seccomp profile?)."
    if level == "group":
        return "It needs no right but to start processes: let this user have more of them."
    return _remedy_for_sealed()


def _remedy_for_sealed() -> str:
    if os.geteuid() == 0:
        return f"Give root CAP_SYS_ADMIN ({_CONTAINER})."
    root = f"run as root with CAP_SYS_ADMIN ({_CONTAINER})"
    if settings := " ".join(_blocking()):
        return f'As root, sysctl -w {settings}; then Runtime(..., level="sealed"). Or {root}.'
    return _sentence(root)


def _no_proc() -> bool:
    return sys.platform.startswith("linux") and not Path("/proc/self").exists()


def _blocking() -> Iterator[str]:
    """Settings of this kernel that deny an ordinary user what it would take."""
    for name, (blocks, allows) in _SETTINGS.items():
        path = Path("/proc/sys", *name.split("."))
        try:
            if path.read_text(encoding="ascii").strip() == blocks:
                yield f"{name}={allows}"
        except OSError:
            continue  # this kernel has no such setting
