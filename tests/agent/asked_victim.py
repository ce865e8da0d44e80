"""A process that dies while a program waits and a run has asked a question: `FILE [answered]`. With
that word, the program's answer waits for its turn by then."""

import asyncio
import os
import signal
import sys

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
        await session.log()  # which has all of it by then
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
