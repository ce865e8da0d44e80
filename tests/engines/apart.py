"""Engines that live where they are put: here, or in a process of their own. Each story of the
contract is one of them; `told` and the files that a message names are how they are heard of."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from lastword import Run, Superseded
from lastword.core.asks import Answer
from lastword.core.entries import LeftOut, Native
from lastword.core.question import Question
from lastword.errors import EngineFailed
from tests.engines import apart_processes

Story = Callable[[Run], Awaitable[None]]


async def lookup(name: str) -> str:
    return f"{name} is here"


def count(words: str) -> int:
    return len(words.split())


def fails(words: str) -> None:
    raise ValueError(f"no {words}")


async def speaks(run: Run) -> None:
    async with run.typing():
        await run.emit("one ")
        await run.emit("two ")
    await run.progress("looking")
    await run.think("hm", native=Native("mine", "sealed"))
    await run.emit("three ", soon=True)
    await run.emit("four", soon=True)
    await run.said()
    run.seal(Native("mine", "whole"))


async def speaks_long(run: Run) -> None:
    """Texts that are longer than what goes over a line in one piece."""
    long = "é" * 700_000
    await run.emit(long)
    await run.think(long, native=Native("mine", long))
    await run.emit(await run.gate(lookup)(long))


async def knows_itself(run: Run) -> None:
    said = {
        "text": run.message.text,
        "by": run.by,
        "session": run.session,
        "sessions": run.sessions,
        "above": run.above,
        "messages": [one.text for one in run.messages],
        "history": [(one.role, one.text) for one in run.history],
        "current": run.current,
        "token": [run.token.session, run.token.generation],
        "generation": run.generation,
    }
    await run.emit(json.dumps(said))


async def calls(run: Run) -> None:
    first, second = run.intend(lookup, "soap"), run.intend(count, words="a b c")
    got = [await first(), await second()]
    got.append(await run.call(count, "one two"))
    got.append(await run.gate(lookup, name="find", arguments={"what": "it"})("secret"))
    got.append(await run.gate(count, isolated=True, nature="read_only")("x"))
    try:
        await run.call(fails, "soap")
    except ValueError as error:
        got.append(str(error))
    skipped = run.asked("later", '{"a":1}', nature="inner", native=Native("mine", "id-7"))
    skipped.skip("not now")
    await run.emit(repr(got))


async def carried_out_elsewhere(run: Run) -> None:
    call = run.asked("paint", '{"colour": "red"}')
    await call.begin()
    call.end("painted")
    late = run.asked("walk", "{}", late=True)

    async def body() -> str:
        with late.under_way():
            return "walked"

    await run.emit(await late(body))
    put_off = run.asked("wait", "{}")
    await put_off.begin()
    put_off.put_off()
    put_off.skip("nobody came")


async def cancels_its_own_call(run: Run) -> None:
    begun = asyncio.Event()

    async def for_ever() -> None:
        begun.set()
        await asyncio.Event().wait()

    made = run.task(run.intend(for_ever)())
    await begun.wait()
    made.cancel()
    await asyncio.wait([made])
    await run.emit("gave up")


async def idempotent(run: Run) -> None:
    keys: list[str] = []

    async def pay(amount: int, idempotency_key: str = "") -> str:
        keys.append(idempotency_key)
        return "paid"

    await run.gate(pay, nature="idempotent")(5)
    await run.emit(keys[0])


async def posts(run: Run) -> None:
    sent: list[str] = []

    async def mail(text: str) -> None:
        sent.append(text)

    await run.outbox(mail, name="mail")("dear all")
    await run.emit(sent[0])


async def forbidden(run: Run) -> None:
    try:
        await run.gate(lookup, name="forbidden")("x")
    except PermissionError as error:
        await run.emit(f"no: {error}")


async def own_sink(run: Run) -> None:
    heard: list[str] = []
    sink = run.fence(heard.append)
    await sink("mine")
    await run.emit("".join(heard))


async def helpers(run: Run) -> None:
    done = asyncio.Event()

    async def help_out() -> None:
        async with run.acting("checkpoint", "write"):
            done.set()

    run.task(help_out(), name="helper")
    await done.wait()
    there = await run.loop.run_in_executor(run.executor, threading.get_ident)
    await run.may("this")
    run.must_hold()
    gave = await run.isolate(count, "a b")
    await run.emit(f"{there != threading.get_ident()} {gave}")


async def steered(run: Run) -> None:
    await run.emit("ready ")
    taken = ()
    while not taken:
        await asyncio.sleep(0.005)
        taken = await run.steering()
    await run.emit(f"{taken[0].text} {[one.text for one in run.messages]}")


async def parent(run: Run) -> None:
    child = await run.child("child_of")
    text = await child.text()
    await run.emit(f"{text} {(await child.outcome()).value} {child.done} {child.kept}")


async def child_of(run: Run) -> None:
    await run.emit(f"below {run.above}")


async def shells(run: Run) -> None:
    done = await run.shell("cat; echo err >&2; exit 3", stdin=b"in ", env={"A": "b"})
    await run.emit(f"{done.code} {done.output!r} {done.timed_out}")
    late = await run.shell("sleep 60", timeout=0.05, grace=0.05)
    await run.emit(f" {late.timed_out}")


async def asks(run: Run) -> None:
    await run.call(lookup, "whom to ask")
    question = Question("q1", run.session, run.generation, run.id, "write", "a file", "x.txt")
    answer = await run.ask(question)
    await run.emit(f"{answer.allowed} {answer.by}")
    before = Question("q2", run.session, run.generation, run.id, "read", "a file", call="c")
    await run.answered_before(before, Answer(allowed=True, by="Ann"))


async def asks_a_model(run: Run) -> None:
    with run.model_request("small", provider="mine") as request:
        request.first()
        request.used(3, 5)
    with suppress(TimeoutError), run.model_request("large"):
        raise TimeoutError
    run.used("other", 1, 2)
    first = run.declined(400)
    run.leave_out(LeftOut(run.id, run.id, "attachments", "a.png"))
    await run.emit(f"{first} {run.less(run.history)} {run.notes()}")


async def summarises(run: Run) -> None:
    earlier = [one.run for one in run.history if one.run and one.run != run.id]
    shown = await run.summarise("short", upto=earlier[-1])
    await run.emit(f"{shown[0].text} {run.history is shown}")


async def says_much(run: Run) -> None:
    """More than is heard before it has ended."""
    for _ in range(200):
        await run.emit("x" * 500)


async def logs(run: Run) -> None:
    logging.getLogger("lastword").warning("this is %s", "logged")
    await run.emit("ok")


async def raises(run: Run) -> None:
    await run.emit("before ")
    raise ValueError("something is wrong")


async def fails_in_words(run: Run) -> None:
    error = EngineFailed("the model is out")
    error.kind = "503"
    raise error


async def cancels_itself(run: Run) -> None:
    raise asyncio.CancelledError


STORIES: dict[str, Story] = {
    story.__name__: story
    for story in (
        speaks,
        speaks_long,
        knows_itself,
        calls,
        carried_out_elsewhere,
        cancels_its_own_call,
        idempotent,
        posts,
        forbidden,
        own_sink,
        helpers,
        steered,
        parent,
        child_of,
        shells,
        asks,
        asks_a_model,
        summarises,
        says_much,
        logs,
        raises,
        fails_in_words,
        cancels_itself,
    )
}


async def engine(run: Run) -> None:
    """Answers with the story that its message names."""
    await STORIES[run.message.text.split()[0]](run)


# of a stop


async def stays(run: Run) -> None:
    """Says that it is there, and goes on for ever; at the end it tries all there is to try."""
    tried: list[Any] = []
    try:
        await run.emit("there")
        await asyncio.Event().wait()
    finally:
        for attempt in (
            lambda: run.emit("late"),
            lambda: run.progress("late"),
            lambda: run.call(lookup, "late"),
            lambda: run.child("child_of"),
            lambda: run.shell("echo late"),
            run.steering,
        ):
            try:
                tried.append(await attempt())
            except Superseded:
                tried.append("Superseded")
        said = Path(run.message.text.split()[1])
        said.write_text(f"{tried} {run.current}\n")  # noqa: ASYNC240 - how else is it to tell


STORIES["stays"] = stays
STORIES.update(apart_processes.STORIES)
