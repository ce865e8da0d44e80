"""Keeps a private PostgreSQL for whoever starts it, and ends it when they are gone, killed or not.

    python cluster.py BIN FOLDER USER

BIN has the server's programs; FOLDER gets its data and its socket; USER is an ordinary one, whom
it runs as if this is root, because PostgreSQL refuses to run as that. It says *ready*, or why not,
and ends the server and removes the folder once its input has ended.
"""

import os
import pwd
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

SETTINGS = {
    "listen_addresses": "",  # its socket is in the folder, where nobody else looks for it
    "fsync": "off",  # it may be killed at any time; only the machine may not
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "200",
    "log_min_messages": "fatal",
}


class Server:
    """One server's programs, run as the user whose it is."""

    def __init__(self, programs: Path, folder: Path, user: str) -> None:
        self.programs = programs
        self.folder = folder
        self.data = folder / "data"
        entry = pwd.getpwnam(user)
        self._user = self._group = self._more = None
        if os.geteuid() == 0:
            self._user, self._group, self._more = entry.pw_uid, entry.pw_gid, ()
            os.chown(folder, entry.pw_uid, entry.pw_gid)

    def run(self, program: str, *arguments: str) -> None:
        """One of its programs, to its end."""
        command = [str(self.programs / program), "-D", str(self.data), *arguments]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            cwd=self.folder,
            user=self._user,
            group=self._group,
            extra_groups=self._more,
        )
        if done.returncode:
            raise SystemExit(f"{program}: {done.stdout.strip() or done.returncode}")

    def make(self) -> None:
        """New, and empty."""
        self.run("initdb", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C", "-U", "lastword")
        more = [f"unix_socket_directories = '{self.folder}'"]
        more += [f"{name} = '{value}'" for name, value in SETTINGS.items()]
        with (self.data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write("\n".join(more) + "\n")

    def start(self) -> None:
        """Listen."""
        self.run("pg_ctl", "-w", "-s", "-l", str(self.folder / "log"), "start")

    def end(self) -> None:
        """At once, and nothing of it stays."""
        with suppress(SystemExit):
            self.run("pg_ctl", "-w", "-s", "-m", "immediate", "stop")
        while self.folder.exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            time.sleep(0.01)


def main(programs: Path, folder: Path, user: str) -> None:
    os.setsid()  # what ends a test run by its group is to leave this one to tidy up
    server = Server(programs, folder, user)
    try:
        server.make()
        server.start()
        print("ready", flush=True)  # noqa: T201 - its answer
        sys.stdin.read()
    except SystemExit as error:
        print(" ".join(str(error).split()), flush=True)  # noqa: T201
    finally:
        server.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
