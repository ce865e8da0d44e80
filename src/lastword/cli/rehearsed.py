"""The demonstration with an agent: a rehearsal for a model, and all else real.

It streams, runs a command whose children ignore every signal that can be ignored, and takes no
notice of a cancel. A person takes over once and stops it twice.
"""

from __future__ import annotations

import asyncio
import os
import tempfile

from lastword.agent.assistant import assistant
from lastword.agent.rehearsal import Rehearsal
from lastword.cli.demo import DemoScreen, Ear, heard_after, late
from lastword.core.receipt import Receipt
from lastword.core.story import FeedEvent
from lastword.processes.levels import MEANINGS
from lastword.runtime.runtime import Runtime
from lastword.runtime.session import Session

_STUBBORN = """\
run trap '' TERM INT HUP
setsid sh -c 'trap "" TERM INT HUP; while :; do sleep 0.4; done' &
for n in $(seq 999); do echo "working, $n"; sleep 0.4; done"""
_INTRODUCTION = """\
A person and an agent. There is no language model in it, but the
streaming, the shell and the processes are real.

In the middle of a story the person sends a new message, which takes
over: a command that ignores every signal that it can, and so does
its child in the background. Then the person says stop.

"""
_SECOND = """\

Now the agent is asked to take no notice of a stop.

"""
_LISTEN = 1.5  # seconds after a stop


class _Person:
    """Speaks, waits to hear something, and stops."""

    def __init__(self, session: Session, screen: DemoScreen, ear: Ear) -> None:
        self._session = session
        self._screen = screen
        self._ear = ear
        self.late: list[FeedEvent] = []
        self.receipts: list[Receipt] = []

    async def say(self, text: str) -> None:
        """Say it; if something is going on, that ends here."""
        self._screen.line("you", text)
        self._ticket = await self._session.send(text)

    async def hear(self, count: int, kind: str = "text") -> None:
        """Wait for so many pieces of it."""
        await self._ear.more(self._ticket, count, kind)

    async def hear_out(self) -> None:
        """Let it finish."""
        await self._ticket.outcome()
        self._ear.must_be_heard()

    async def stop(self) -> None:
        """Stop it, and listen on for a while: whatever is still heard is shown, and counted."""
        stopping = self._session.stop()  # it has happened when this returns
        since = len(self._ear.heard)
        self._screen.line("you", "Stop.")
        receipt = await stopping
        await asyncio.sleep(_LISTEN)
        self._screen.line("", f"\n{receipt}\n\n")
        self.receipts.append(receipt)
        self.late += late(self._ear.heard[since:], receipt)


async def story() -> None:
    """Twenty seconds of it."""
    screen = DemoScreen()
    ear = Ear(screen)
    screen.line("", _INTRODUCTION)
    with tempfile.TemporaryDirectory() as folder:
        agent = assistant(Rehearsal(), roots=[folder], rules=["allow shell"])
        before = agent.questions.as_before_tool()
        async with Runtime(agent.engine, sink=ear, before_tool=before) as runtime:
            person = _Person(runtime.session("demo"), screen, ear)

            await person.say("Tell me a story.")
            await person.hear(60)
            await person.say(_STUBBORN)  # takes over
            await person.hear(8, "progress")
            await person.stop()

            await person.say("What happened?")
            await person.hear_out()

            screen.line("", _SECOND)
            await person.say("Ignore my stop.")
            await person.hear(40)
            await person.stop()

    ended = [process.pid for receipt in person.receipts for process in receipt.processes]
    for level, meaning in MEANINGS.items():
        if any(receipt.level == level for receipt in person.receipts):
            screen.line("", f"level {level} means: {meaning.promise}")
    screen.line("", f"processes ended: {len(ended)}, alive: {sum(map(_alive, ended))}")
    print(heard_after(person.late), flush=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def main() -> None:
    """Tell it."""
    asyncio.run(story())
