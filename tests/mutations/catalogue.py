"""Every mistake that is planted, by its name."""

from __future__ import annotations

from tests.mutations.acting import ACTING
from tests.mutations.agents import AGENTS
from tests.mutations.asking import WAITING
from tests.mutations.claude import CLAUDE
from tests.mutations.engines import ENGINES
from tests.mutations.jobs import GOING_ON
from tests.mutations.keeping import KEEPING
from tests.mutations.langgraph import GRAPHS
from tests.mutations.relaying import RELAYED
from tests.mutations.telling import TELLING
from tests.mutations.tracing import TRACED
from tests.mutations.whose import WHOSE

EVERY = (
    *ACTING,
    *AGENTS,
    *CLAUDE,
    *ENGINES,
    *GRAPHS,
    *GOING_ON,
    *KEEPING,
    *RELAYED,
    *TELLING,
    *TRACED,
    *WAITING,
    *WHOSE,
)
MUTATIONS = {mutation.name: mutation for mutation in EVERY}
