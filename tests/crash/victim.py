"""A program with a busy life, to be killed at any moment. It says what it has been promised.

    python victim.py STORE TOOL_FILE SEED ROUND

Each line it prints is something that lastword acknowledged; whatever was acknowledged has to be
found again, whenever the end came.
"""

import asyncio
import os
import random
import sys

from lastword import Receipt, Refused, Run, Runtime, Session

SESSIONS = 4


def say(*words: str) -> None:
    os.write(1, (" ".join(words) + "\n").encode())


def touch(path: str, what: str) -> str:
    """A tool with an effect that can be counted."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(fd, f"{what}\n".encode())
    os.close(fd)
    return "touched"


async def busy_life(store: str, tools: str, seed: int, number: int) -> None:
    choose = random.Random(seed)

    async def engine(run: Run) -> None:
        for step in range(choose.randint(1, 3)):
            await run.emit(f"step {step} of {run.message.id}. ")
            await run.call(touch, tools, f"{run.message.id} {step}")
            await asyncio.sleep(choose.random() * 0.004)
        await run.emit("Done.")

    async with Runtime(engine, store=store, on_restart="run") as runtime:
        say("ready")
        sessions = [runtime.session(f"s{number}") for number in range(SESSIONS)]
        await asyncio.gather(
            *(chat(session, random.Random(choose.random()), number) for session in sessions)
        )
    say("closed")


async def chat(session: Session, choose: random.Random, number: int) -> None:
    for turn in range(1000):
        id_ = f"{session.id}-{number}-{turn}"
        policy = choose.choice(["takeover", "queue", "queue", "steer", "collect"])
        try:
            await session.send("go on", id=id_, on_message=policy)  # type: ignore[arg-type]
        except Refused:
            continue
        say("accepted", session.id, id_)
        await asyncio.sleep(choose.random() * 0.01)
        if choose.random() < 0.15:
            tell(await session.stop())


def tell(receipt: Receipt) -> None:
    if receipt.durable:
        for run in receipt.runs:
            say("stopped", receipt.session, run)
        for report in receipt.messages:
            say("dropped", receipt.session, report.message.id)


if __name__ == "__main__":
    asyncio.run(busy_life(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
