"""Mistakes between servers: what leaves by another, and what is believed of it."""

from __future__ import annotations

from tests.mutations.changes import dropped, gives, instead, never
from tests.mutations.mutation import Mutation

WAITED = "tests/promise/test_relays.py"
RELAY = "tests/server/test_relay.py"
VOUCHED = "tests/server/test_vouching.py"

RELAYED = (
    Mutation(
        "a stop does not wait for who watches at another server",
        "runtime.stop:Settlement._left",
        never("goings"),
        f"{WAITED}::test_what_has_not_left_elsewhere_by_the_deadline_is_named_and_settles",
    ),
    Mutation(
        "what has not left when a stop asks leaves later",
        "server.relay:RelayedWatcher.left",
        dropped("drop"),
        f"{RELAY}::test_what_has_not_left_when_it_is_asked_for_never_does",
    ),
    Mutation(
        "an owner that cannot ask does not wait",
        "server.relay:RelayedStream.left",
        dropped("sleep"),
        f"{RELAY}::test_an_owner_that_cannot_ask_is_silent_and_waits",
    ),
    Mutation(
        "an owner that cannot ask goes on telling",
        "server.relay:RelayedStream.left",
        dropped("close"),
        f"{RELAY}::test_an_owner_that_cannot_ask_is_silent_and_waits",
    ),
    Mutation(
        "what was asked once is asked again",
        "server.vouching:Vouching._is_new",
        gives(True),
        f"{VOUCHED}::test_what_was_asked_once_is_not_asked_again_in_whatever_order_it_comes",
    ),
    Mutation(
        "what is for another server is believed",
        "server.vouching:Vouching.read",
        instead("told.receiver == epoch and self._is_new(told)", "self._is_new(told)"),
        f"{VOUCHED}::test_what_is_for_another_or_by_nobody_or_changed_is_not_believed",
    ),
)
