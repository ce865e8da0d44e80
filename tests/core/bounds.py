"""The bounds within which every history is walked. Small, and chosen so that each clause bites."""

from __future__ import annotations

from lastword.core.model import Policy, Reason, Settings
from tests.core.session_alphabet import CHILD, PERSON, TIMER, Bounds, Sender

ALL: tuple[Policy, ...] = ("takeover", "queue", "collect", "steer", "refuse", "rollback")
DROP, KEEP = Settings(queue_on_stop="drop"), Settings(queue_on_stop="keep")
BOSS = frozenset({"boss"})
TWO: tuple[Sender, ...] = (("ann", "person"), ("bob", "person"))

EVERY_POLICY = (
    Bounds("every policy, drop", 4_800, DROP, ALL, (PERSON, TIMER)),
    Bounds("every policy, keep", 6_900, KEEP, ALL, (PERSON, TIMER)),
    Bounds("slow to unwind, drop", 6_500, DROP, ALL, (PERSON, CHILD), reports=True),
    Bounds("slow to unwind, keep", 10_100, KEEP, ALL, (PERSON, CHILD), reports=True),
)

EVERY_REASON = (
    Bounds(
        "every reason",
        1_300,
        KEEP,
        ("queue", "steer", "takeover"),
        (PERSON, TIMER),
        reasons=(Reason.STOPPED, Reason.SHUTDOWN, Reason.PARENT),
    ),
)

FOUR_MESSAGES = (
    Bounds("four messages, drop", 14_100, DROP, ("takeover", "queue", "steer"), (PERSON, TIMER), 4),
    Bounds("four messages, keep", 16_900, KEEP, ("takeover", "queue", "steer"), (PERSON, TIMER), 4),
)

THE_QUEUE = (
    Bounds("touched, drop", 5_100, DROP, ("queue", "steer", "collect", "takeover"), touches=1),
    Bounds("touched, keep", 8_300, KEEP, ("queue", "steer", "collect", "takeover"), touches=1),
    Bounds("touched twice", 2_500, KEEP, ("queue", "steer"), touches=2, stops=1),
)

THE_LIMIT = (
    Bounds(
        "a place for one",
        4_000,
        Settings(queue_on_stop="keep", queue_limit=1),
        ALL,
        (PERSON, TIMER),
    ),
    Bounds(
        "places for two", 2_200, Settings(queue_limit=2), ("queue", "steer", "takeover"), messages=4
    ),
)

RIGHTS = (
    Bounds(
        "rights, drop",
        4_600,
        Settings(stoppers=BOSS),
        ("takeover", "queue", "steer", "rollback"),
        TWO,
        callers=("ann", "bob", "boss", None),
        touches=1,
    ),
    Bounds(
        "rights, keep",
        8_900,
        Settings(queue_on_stop="keep", stoppers=BOSS),
        ("takeover", "queue", "steer"),
        TWO,
        callers=("ann", "boss"),
        touches=1,
    ),
)

THE_CLOCK = (
    Bounds(
        "windows, keep",
        10_800,
        Settings(queue_on_stop="keep", longest_window=1.4),
        ("collect", "queue", "takeover"),
        ticks=(0.0, 0.6),
    ),
    Bounds(
        "windows, drop",
        7_600,
        Settings(longest_window=1.4),
        ("collect", "queue", "steer"),
        ticks=(0.0, 0.6),
    ),
)

TOGETHER = (
    Bounds("together", 7_400, DROP, ALL, (PERSON, TIMER), together=True),
    Bounds(
        "together, keep",
        6_100,
        KEEP,
        ("queue", "takeover"),
        (PERSON, TIMER),
        touches=1,
        together=True,
    ),
)

SEVERAL_PEOPLE: tuple[Sender, ...] = (*TWO, ("", "timer"))

A_BACKLOG_OF_SEVERAL = (
    Bounds(
        "a backlog of several people",
        5_500,
        Settings(stoppers=frozenset({"ann"})),
        ("takeover", "queue", "steer"),
        SEVERAL_PEOPLE,
        callers=("ann", "bob"),
        together=True,
    ),
    Bounds(
        "a window of several people",
        16_500,
        Settings(stoppers=frozenset({"ann"}), longest_window=1.4),
        ("takeover", "collect"),
        SEVERAL_PEOPLE,
        callers=("bob",),
        touches=1,
    ),
)

PROGRAMS = (
    Bounds(
        "programs, drop",
        15_900,
        Settings(stoppers=BOSS),
        ("takeover", "queue", "steer"),
        (*TWO, ("boss", "person")),
        callers=("ann", "boss"),
        stops=1,
        reasons=(Reason.STOPPED, Reason.SHUTDOWN, Reason.PARENT),
        programs=2,
    ),
    Bounds(
        "programs, keep",
        6_600,
        Settings(queue_on_stop="keep", stoppers=BOSS),
        ("takeover", "queue"),
        TWO,
        callers=("ann", "boss"),
        programs=2,
    ),
    Bounds(
        "programs, found and let go",
        700,
        KEEP,
        ("takeover", "queue"),
        (PERSON, TIMER),
        2,
        found=True,
        programs=1,
    ),
)

AFTER_A_RESTART = (
    Bounds("found, drop", 8_400, DROP, ALL, (PERSON, TIMER), found=True),
    Bounds("found, keep", 2_700, KEEP, ("queue", "steer", "takeover"), (PERSON, TIMER), found=True),
)

GROUPS = {
    "every policy": EVERY_POLICY,
    "every reason": EVERY_REASON,
    "four messages": FOUR_MESSAGES,
    "the queue": THE_QUEUE,
    "the limit": THE_LIMIT,
    "rights": RIGHTS,
    "the clock": THE_CLOCK,
    "after a restart": AFTER_A_RESTART,
    "together": TOGETHER,
    "a backlog of several": A_BACKLOG_OF_SEVERAL,
    "programs": PROGRAMS,
}
