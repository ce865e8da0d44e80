"""A program that has a store open and is about to come to a bad end.

    writer_to_kill.py WHAT PATH

WHAT it does: `writes` to several sessions as fast as it can, and prints the session and number of
each entry once it is acknowledged; `waits`, which is to own the session s, and to try to write to
it whenever a line comes in; or `opens` whatever path comes in, writes and closes, PATH being its
session's name.
"""

import asyncio
import sys
from itertools import count

from lastword.core.entries import Text
from lastword.core.model import Generation, RunId, SessionId
from lastword.errors import StoreError
from lastword.stores.contract import Write
from lastword.stores.sqlite import SqliteStore

WRITERS = 4


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - its answer


def write(session: str, number: int) -> Write:
    text = Text(RunId(f"{session}#1"), str(number))
    return Write(
        session=SessionId(session), generation=Generation(1), serial=number, entries=(text,)
    )


async def heard() -> str:
    return (await asyncio.to_thread(sys.stdin.readline)).strip()


async def writes(path: str) -> None:
    store = SqliteStore(path)
    await store.open()

    async def one(session: str) -> None:
        await store.load(SessionId(session))
        for number in count(len(await store.entries(SessionId(session))) + 1):
            await store.commit(write(session, number))
            say(f"{session} {number}")

    await asyncio.gather(*(one(f"s{n}") for n in range(WRITERS)))


async def waits(path: str) -> None:
    store = SqliteStore(path, lease=1.0)
    await store.open()
    await store.load(SessionId("s"))
    await store.commit(write("s", 1))
    say("ready")
    while await heard():
        try:
            await store.commit(write("s", 2))
            say("written")
        except StoreError as error:
            say(f"{type(error).__name__}: {error}")


async def opens(name: str) -> None:
    say("ready")
    while path := await heard():
        store = SqliteStore(path)
        await store.open()
        await store.load(SessionId(name))
        await store.commit(write(name, 1))
        await store.close()
        say("opened")


if __name__ == "__main__":
    asyncio.run({"writes": writes, "waits": waits, "opens": opens}[sys.argv[1]](sys.argv[2]))
