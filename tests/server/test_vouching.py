"""N7. What one server asks another in somebody's name is believed once, by that one, as it is."""

from __future__ import annotations

from typing import Any

import pytest

from lastword.server.vouching import Vouching, hash_of
from lastword.server.who import Who

KEY, HERE, THERE = b"what only they know", 1, 2


def signed(by: Vouching, **other: Any) -> str:
    told: dict[str, Any] = {
        "kind": "forward",
        "sender": HERE,
        "receiver": THERE,
        "method": "POST",
        "target": "/v1/sessions/s/stop",
        "body": b"{}",
        "who": Who("ann", "team", frozenset({"stop"})),
    }
    return by.sign(**(told | other))


@pytest.mark.scenario("N7")
def test_who_asks_is_as_it_was_signed() -> None:
    told = Vouching(KEY, "there").read(signed(Vouching(KEY, "here")), THERE)
    assert told
    assert (told.who.name, told.who.principal, told.who.rights) == ("ann", "team", {"stop"})
    assert (told.method, told.target, told.url) == ("POST", "/v1/sessions/s/stop", "here")
    assert told.body == hash_of(b"{}")


@pytest.mark.scenario("N7")
def test_what_was_asked_once_is_not_asked_again_in_whatever_order_it_comes() -> None:
    here, there = Vouching(KEY, "here"), Vouching(KEY, "there")
    several = [signed(here) for _ in range(5)]
    for one in (several[3], several[0], several[4], several[1]):
        assert there.read(one, THERE)
    assert not any(there.read(one, THERE) for one in (*several[:2], *several[3:]))
    assert there.read(several[2], THERE)


@pytest.mark.scenario("N7")
def test_what_is_older_than_anybody_remembers_is_not_believed() -> None:
    here, there = Vouching(KEY, "here"), Vouching(KEY, "there")
    first = signed(here)
    *_, last = (signed(here) for _ in range(5000))
    assert there.read(last, THERE)
    assert there.read(first, THERE) is None


@pytest.mark.scenario("N7")
def test_what_is_for_another_or_by_nobody_or_changed_is_not_believed() -> None:
    here, there = Vouching(KEY, "here"), Vouching(KEY, "there")
    one = signed(here)
    assert there.read(one, 3) is None
    assert there.read(signed(Vouching(b"a guess", "here")), THERE) is None
    text, _, mark = one.rpartition(".")
    for changed in (f"{text}A.{mark}", f"{text}.", mark, "", "ü.ü"):
        assert there.read(changed, THERE) is None
