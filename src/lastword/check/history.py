"""What a target shows the model after a stop, held to what providers take.

Only what it did not already do before anything was stopped is held against it: some begin with what
a strict reader of the rules would refuse, and their provider does not.
"""

from __future__ import annotations

from collections.abc import Iterable

from lastword.testing.provider import Offence, Request, judge


def offences(request: Request) -> list[Offence]:
    """Every rule that a request breaks, without what is only advice."""
    if request.format is None:
        return []
    return [one for one in judge(request.format, request.body) if one.severity == "refused"]


def codes(requests: Iterable[Request]) -> frozenset[str]:
    """The rules that these requests break."""
    return frozenset(one.rule.code for request in requests for one in offences(request))


def new_offence(request: Request, known: frozenset[str]) -> str:
    """What a provider refuses in it that it was not given before; nothing if there is none."""
    found = next((one for one in offences(request) if one.rule.code not in known), None)
    return f"{found.message} [{found.rule.code}]" if found else ""
