"""A cancel of an editor's, beside a bare loop that speaks the same protocol, and one sync."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import mean, median
from typing import TypeAlias

from bench.acp_client import BARE, OURS, Client, Heard, agent
from bench.acp_framework import unwound
from bench.acp_talker import provider
from bench.acp_tree import Tree
from bench.turns import heading, quantile, row

HERE = Path(__file__).parent.parent  # on the disk that the repository is on
TRIES, WATCHED, TAKEOVERS, TREES, STARTS = 100, 50, 50, 20, 10
SYNC = "pwrite 4 KiB, fdatasync"
GRACE = 0.25  # seconds, the shell's
MORE = 0.0015  # seconds that a cancel may take beside a bare loop's and what the disk takes
REHEARSAL = ("--model", "rehearsal", "--yes")
STORY, OTHER = "tell me a story", "count to 300"
PAGE = 4096
TURNS = 10  # in a session
A_WHILE = 0.1  # seconds: two words and a half
Took: TypeAlias = dict[str, list[float]]
Sides: TypeAlias = Mapping[str, Client]


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="bench-", suffix=".db", dir=HERE) as name:
        folder = Path(name)
        with both(folder) as sides:
            during_text(sides, folder / "by-hand", await unwound(TRIES, pause, STORY))
            watched(sides)
            takeovers(sides)
            during_a_tree(sides)
        with provider() as (url, sent_after), both(folder, url) as sides:
            during_four(sides)
            tokens(sides[OURS], sent_after)
        memory(folder)
        starts(folder)


@contextmanager
def both(folder: Path, url: str = "") -> Generator[Sides]:
    """An agent and a bare loop, each with a session; ours asks the provider there, if there is."""
    asked = ("--model", "openai:gpt-5", "--base-url", f"{url}/v1", "--yes") if url else REHEARSAL
    with ExitStack() as stack:
        sides: dict[str, Client] = {}
        for name in (OURS, BARE):
            own = folder / name.replace(" ", "-")
            own.mkdir(exist_ok=True)
            opened = agent(name, own, *asked, env={"OPENAI_API_KEY": "k"} if url else {})
            sides[name] = stack.enter_context(opened)
            sides[name].open()
        yield sides


def nothing_yet(sides: Mapping[str, object]) -> Took:
    return {name: [] for name in sides}


def in_turns(sides: Sides, number: int) -> list[tuple[str, Client]]:
    """Nobody is always first. Every so often each begins a new session, as a person would."""
    for client in sides.values() if number % TURNS == 0 else ():
        client.begin()
    return sorted(sides.items(), reverse=bool(number % 2))


def is_content(one: Heard) -> bool:
    return one.content


def talking(client: Client) -> int:
    """A prompt that is being answered, and some of the answer has been heard."""
    since = len(client.heard)
    request = client.prompt(STORY)
    client.first(is_content, since)
    client.listen_for(pause())
    return request


def pause() -> float:
    return A_WHILE * (1 + random.random())  # noqa: S311 - no secret


def cancelled(client: Client, request: int) -> Heard:
    answer = client.answer(request)
    if answer.said.get("result", {}).get("stopReason") != "cancelled":
        raise AssertionError(answer.said)
    return answer


def number(name: str, value: str) -> None:
    print(f"  {name:<60}{value:>16}")


# during text


def during_text(sides: Sides, path: Path, framework: list[float]) -> None:
    took, early, late = nothing_yet(sides), nothing_yet(sides), nothing_yet(sides)
    synced: list[float] = []
    with disk(path) as sync:
        for turn in range(TRIES):
            for name, client in in_turns(sides, turn):
                request = talking(client)
                began = client.cancel()
                answer = cancelled(client, request)
                client.listen_for(A_WHILE)
                took[name].append(answer.at - began)
                content = [one for one in client.heard if one.content and one.at > began]
                late[name].append(sum(one.ends > answer.ends for one in content))
                early[name].append(sum(one.ends < answer.ends for one in content))
            time.sleep(pause())  # a disk that has rested takes longer, and the agent's had as well
            synced.append(sync())
    heading(f"from session/cancel to the answer `cancelled`, during text ({TRIES} each)")
    for part, value in {"p50": 0.5, "p99": 0.99}.items():
        ours, bare, one = (quantile(times, value) for times in (took[OURS], took[BARE], synced))
        goal = f"{BARE} + a sync + 1.5 ms", bare + one + MORE  # all had ended by the fence's commit
        else_ = "+ 2 syncs", bare + 2 * one + MORE  # a second commit, with the receipt
        row(f"{part} {OURS}", ours, (BARE, bare), goal, else_)
        row(f"{part} {BARE}", bare)
        row(f"{part} {SYNC}", one)
        row(f"{part} pydantic-ai alone, to unwind", quantile(framework, value))
    for name in sides:
        number(f"content updates heard before that answer: {name}", f"{sum(early[name]):.0f}")
        number(f"content updates heard after that answer: {name}", f"{sum(late[name]):.0f}")


@contextmanager
def disk(path: Path) -> Generator[Callable[[], float]]:
    """One sync by hand at a time, over a file that is there already; what it took."""
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    content = os.urandom(PAGE)

    def sync() -> float:
        began = time.perf_counter()
        os.pwrite(file, content, random.randrange(1024) * PAGE)  # noqa: S311 - no secret
        os.fdatasync(file)
        return time.perf_counter() - began

    try:
        os.posix_fallocate(file, 0, 1024 * PAGE)
        os.fsync(file)
        yield sync
    finally:
        os.close(file)


def watched(sides: Sides) -> None:
    """The pipe is watched for the moment in which the agent reads the cancel."""
    late = nothing_yet(sides)
    for turn in range(WATCHED):
        for name, client in in_turns(sides, turn):
            request = talking(client)
            written = client.cancel_read()
            cancelled(client, request)
            client.listen_for(A_WHILE)
            late[name].append(sum(one.content and one.ends > written for one in client.heard))
    heading(f"content updates written after the cancel was read ({WATCHED} each)")
    for name in sides:
        number(f"in all: {name}", f"{sum(late[name]):.0f}")


# a takeover


def takeovers(sides: Sides) -> None:
    took, answered, plain, late = (nothing_yet(sides) for _ in range(4))
    for turn in range(TAKEOVERS):
        for name, client in in_turns(sides, turn):
            since, began = len(client.heard), time.perf_counter()
            first = talking(client)
            plain[name].append(client.first(is_content, since).at - began)
            since, began = len(client.heard), time.perf_counter()
            second = client.prompt(OTHER)
            answer = cancelled(client, first)
            new = client.first(lambda one, end=answer.ends: one.content and one.ends > end, since)
            took[name].append(new.at - began)
            answered[name].append(answer.at - began)
            late[name].append(not new.text.startswith(("1", "count")))
            client.cancel()
            cancelled(client, second)
            client.listen_for(A_WHILE)
    heading(f"from a prompt that takes over ({TAKEOVERS} each)")
    for what, times in (
        ("the old one's answer", answered),
        ("the first new word", took),
        ("the first word if nothing went on", plain),
    ):
        for part, value in {"p50": 0.5, "p99": 0.99}.items():
            ours, bare = quantile(times[OURS], value), quantile(times[BARE], value)
            row(f"{part} to {what}", ours, (BARE, bare))
            row(f"{part} the same: {BARE}", bare)
    for name in sides:
        number(f"old words behind the old one's answer: {name}", f"{sum(late[name]):.0f}")


# processes


def during_a_tree(sides: Sides) -> None:
    took = with_processes(sides, 5, lambda tree: f"run {tree.family}", "a tree of five")
    ours = median(took[OURS])
    row("p50 beyond the grace", ours - GRACE, ("50 ms", 0.05), ("the grace", GRACE))


def during_four(sides: Sides) -> None:
    with_processes(sides, 4, lambda tree: "\n".join([f"run {tree.one}"] * 4), "four tools at once")


def with_processes(sides: Sides, count: int, words: Callable[[Tree], str], what: str) -> Took:
    took, alive, before, after = (nothing_yet(sides) for _ in range(4))
    for turn in range(TREES):
        with ExitStack() as stack:
            trees: dict[str, tuple[Tree, int]] = {}
            for name, client in in_turns(sides, turn):
                tree = Tree(client.folder, f"{count}-{turn}")
                stack.callback(tree.bury)
                request = client.prompt(words(tree))
                tree.up(count, client.listen)
                began, effects = client.cancel(), tree.effects
                answer = cancelled(client, request)
                trees[name] = tree, tree.effects
                took[name].append(answer.at - began)
                before[name].append(trees[name][1] - effects)
            time.sleep(1)
            for name, (tree, effects) in trees.items():
                after[name].append(tree.effects - effects)
                alive[name].append(tree.survivors())
    heading(f"from session/cancel to the answer, during {what} ({TREES} each)")
    for part, value in {"p50": 0.5, "worst": 1.0}.items():
        ours, bare = quantile(took[OURS], value), quantile(took[BARE], value)
        row(f"{part} {OURS}", ours, (BARE, bare), ("the grace", GRACE))
        row(f"{part} {BARE}, which kills the group", bare)
    for name in sides:
        number(f"alive 1 s after the answer, on average: {name}", f"{mean(alive[name]):.1f}")
        number(f"lines they wrote from cancel to answer: {name}", f"{mean(before[name]):.1f}")
        number(f"lines they wrote in the second after it: {name}", f"{mean(after[name]):.1f}")
    return took


# tokens


def tokens(client: Client, sent_after: Callable[[float], int]) -> None:
    sent: list[int] = []
    for _ in range(WATCHED):
        request = talking(client)
        began = client.cancel()
        cancelled(client, request)
        sent.append(sent_after(began))
    heading(f"tokens that a provider of 500 a second sent after the cancel ({WATCHED})")
    number("on average; the most", f"{mean(sent):.2f}; {max(sent)}")


# memory


def memory(folder: Path) -> None:
    heading("resident after so many prompts, each cancelled at its first word")
    with both(folder) as sides:
        for name, client in sides.items():
            held: dict[int, float] = {}
            for cycle in range(1, 101):
                since, request = len(client.heard), client.prompt(STORY)
                client.first(is_content, since)
                client.cancel()
                cancelled(client, request)
                if cycle in {10, 100}:
                    held[cycle] = client.memory()
            for cycle, size in held.items():
                of_ten = f"{size / 1024:.1f} MiB  x{size / held[10]:.3f}"
                number(f"{cycle}: {name}, beside after 10", of_ten)


# the first moment


def starts(folder: Path) -> None:
    nothing = "python -c pass"
    answered, spoken = nothing_yet({OURS: 0, BARE: 0}), nothing_yet({OURS: 0, BARE: 0})
    python: list[float] = []
    for turn in range(STARTS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        python.append(time.perf_counter() - began)
        for name in sorted(answered, reverse=bool(turn % 2)):
            began = time.perf_counter()
            with agent(name, folder / name.replace(" ", "-"), *REHEARSAL) as client:
                client.ask("initialize", protocolVersion=1)
                answered[name].append(client.heard[-1].at - began)
                client.open()
                since = len(client.heard)
                client.prompt(STORY)
                spoken[name].append(client.first(is_content, since).at - began)
    heading(f"from the start of the process ({STARTS} each, the median)")
    row(nothing, median(python))
    for what, took in (("the answer to initialize", answered), ("the first word", spoken)):
        for name in took:
            beside = (BARE, median(took[BARE])), (nothing, median(python))
            row(f"to {what}: {name}", median(took[name]), *beside)
