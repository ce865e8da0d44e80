"""Processes that have an owner, and end no later than it does.

Usable by itself:

    async with Processes() as processes:
        warden = await processes.warden()
        tests = await warden.spawn(command("pytest", "-q"))
        print(await tests.wait())
        await warden.stop(grace=2.0)        # returns when the kernel says that none is left
"""

from lastword.processes.command import ProcessLimits, command
from lastword.processes.keeping import Processes
from lastword.processes.levels import MEANINGS, Level
from lastword.processes.process import Completed, Process
from lastword.processes.warden import Warden, WardenEnd

__all__ = [
    "MEANINGS",
    "Completed",
    "Level",
    "Process",
    "ProcessLimits",
    "Processes",
    "Warden",
    "WardenEnd",
    "command",
]
