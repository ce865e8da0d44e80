"""What every engine around a framework needs; nothing here knows one.

An adapter of your own is made of this. It asks the run before whatever it does (`Calls`, `inner`,
`run.acting`), says where the code of others begins (`making`, `reached`), holds their threads, and
shows the model what the log has (`lastword.engines` has that in providers' own words).
"""

from __future__ import annotations

from lastword.engines.kit.approving import Approve, denied
from lastword.engines.kit.calls import Calls, NotMade, inner
from lastword.engines.kit.compaction import Compaction
from lastword.engines.kit.declined import ShownHistory
from lastword.engines.kit.held import held, held_in_thread, own_calls, wait_for
from lastword.engines.kit.moved import FrameworkMoved, moved
from lastword.engines.kit.reaching import making, reached
from lastword.engines.kit.rendering import explain, render
from lastword.engines.kit.threads import hold_threads
from lastword.engines.kit.trouble import ModelFailed, no_answer, of_http, unreached

__all__ = [
    "Approve",
    "Calls",
    "Compaction",
    "FrameworkMoved",
    "ModelFailed",
    "NotMade",
    "ShownHistory",
    "denied",
    "explain",
    "held",
    "held_in_thread",
    "hold_threads",
    "inner",
    "making",
    "moved",
    "no_answer",
    "of_http",
    "own_calls",
    "reached",
    "render",
    "unreached",
    "wait_for",
]
