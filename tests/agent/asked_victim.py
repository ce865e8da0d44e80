"""A process that dies while a program waits and a run has asked a question: `FILE [answered]`. With
that word, the program's answer waits for its turn by then."""

import asyncio
import os
import signal
import sqlite3
import sys
from contextlib import closing

from lastword import Run, Runtime, cells
from lastword.agent.permission import Questions
from lastword.cells import Ok, PausableCell
from tests.cells.programs import ASK
from tests.promise.workshop import until


async def shell(command: str) -> str:
    return command


async def engine(run: Run) -> None:
    if run.message.text == "program":
        cell = await PausableCell.start(run, "await ask(1)", tools=[ASK])
        await cell.wait()
    else:
        await run.call(shell, "make")


def kinds(file: str) -> set[str]:
    """Of what the file has, as whoever opens it next finds it."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        return {kind for (kind,) in db.execute("SELECT DISTINCT kind FROM entries")}


async def main(file: str, *answered: str) -> None:
    questions = Questions()
    before = questions.as_before_tool()
    async with Runtime(cells.engine(engine), store=f"sqlite:{file}", before_tool=before) as runtime:
        session = runtime.session("s")
        await (await session.send("program")).outcome()
        await session.send("question")
        await until(questions.open)
        for ask in [one for one in session.asks if answered and one.cell]:
            await cells.resume(session, ask.cell, ask.generation, {ask.call: Ok(7)})
        await until(lambda: "asked" in kinds(file))  # stored while nothing happens but waiting
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
