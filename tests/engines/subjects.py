"""Every kind of engine, told what to do by the same script; a new one is one more entry.

The contract (`test_contract.py`), a stop at every step (`test_stop_anywhere.py`) and stops at
random (`test_random_stops.py`) are told in these words. Who adds an engine writes what opens it,
and enters that in `SCRIPTED`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial

from tests.engines import graphs
from tests.engines.subject_agents import openai_agents
from tests.engines.subject_claude import claude
from tests.engines.subject_langgraph import langgraph
from tests.engines.subject_plain import plain
from tests.engines.subject_pydantic_ai import pydantic_ai
from tests.engines.subject_sdk import sdk_loop
from tests.engines.told import Opens, Subject
from tests.engines.wire import FORMATS

AGENTS_FORMATS = ["chat", "responses"]
PLAIN = {kind: partial(plain, kind) for kind in ("function", "generator")}
SCRIPTED: dict[str, Opens] = {
    **{f"pydantic-ai {spoken}": partial(pydantic_ai, spoken) for spoken in FORMATS},
    **{f"sdk {spoken}": partial(sdk_loop, spoken) for spoken in FORMATS},
    **{f"openai-agents {spoken}": partial(openai_agents, spoken) for spoken in AGENTS_FORMATS},
    **{f"langgraph {kind}": partial(langgraph, kind) for kind in graphs.GRAPHS},
}
"""Engines that ask a scripted provider: these are stopped at random, too."""

HEAVY: dict[str, Opens] = {"claude": claude}
"""Engines that start a program for each turn: not stopped at every step, and seldom at random."""

TALKING: Mapping[str, Opens] = SCRIPTED | HEAVY
"""All that ask a provider."""

SUBJECTS: Mapping[str, Callable[[], AbstractAsyncContextManager[Subject]]] = PLAIN | TALKING


def subject(kind: str) -> AbstractAsyncContextManager[Subject]:
    """One of them, opened."""
    return SUBJECTS[kind]()
