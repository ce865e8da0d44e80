"""How strictly processes can be held here, and what each level promises and cannot."""

from __future__ import annotations

from typing import Literal, TypeAlias

from lastword.core.value import value

Level: TypeAlias = Literal["sealed", "cgroup", "tree", "group"]
AUTO: Literal["auto"] = "auto"  # the strictest that a self-test finds to hold here
GRACE = 2.0  # seconds between asking a process and killing it, unless somebody says otherwise
LEVELS: tuple[Level, ...] = ("sealed", "cgroup", "tree", "group")  # the strictest first


@value
class Meaning:
    """A level in words."""

    by: str
    promise: str
    holes: str


MEANINGS: dict[Level, Meaning] = {
    "sealed": Meaning(
        by="a process namespace for each run",
        promise="when a stop says done, no process of the run exists; the kernel sees to it even "
        "if lastword, the warden or both are killed",
        holes="work handed to a service that was running already (docker, cron, a database); a "
        "process that the kernel itself cannot interrupt is named at the deadline",
    ),
    "cgroup": Meaning(
        by="a warden for each run, to which every orphan comes, and a control group around them",
        promise="when a stop says done, the kernel has said that no descendant is left and that "
        "nobody is in the group; who is in it is ended also if the warden, the zygote or both are "
        "killed; what a killed lastword leaves is ended when the next one starts here, if not "
        "before",
        holes="work handed to a service that was running already (docker, cron, a database); what "
        "cannot be interrupted is named at the deadline, and so is who runs as another user (sudo) "
        "and has left the group; who has left it and enters a process namespace of others, or has "
        "the zygote and the warden killed, lives on; a run can write into this "
        "user's part of the tree: what it closes, freezes or moves there is undone when a start or "
        "a stop meets it, but if it freezes lastword itself, nobody is left to undo that",
    ),
    "tree": Meaning(
        by="a warden for each run, to which every orphan comes",
        promise="when a stop says done, the kernel has said that no descendant is left; holds if "
        "lastword, the warden or both are killed",
        holes="work handed to a service that was running already (docker, cron, a database); what "
        "runs as another user (sudo) or cannot be interrupted is named at the deadline; who enters "
        "a process namespace of others is not seen; if lastword, the zygote and the warden are all "
        "killed, processes live on",
    ),
    "group": Meaning(
        by="process groups",
        promise="when a stop says done, the process groups of what the run started are dead",
        holes="whatever left its group: setsid, daemons, the jobs of an interactive shell",
    ),
}
