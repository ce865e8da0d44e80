"""The demonstration: an agent that does what it can to go on, and a person who stops it.

Nothing here is arranged for the agent to fail. The sink at the end of it shows whatever reaches
it, keeps listening after the stop, and the last line is a count of what it heard by then.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from lastword.core.receipt import Receipt
from lastword.core.story import FeedEvent, Typing
from lastword.errors import Superseded
from lastword.runtime.call import Call
from lastword.runtime.run import Run
from lastword.runtime.runtime import Runtime
from lastword.runtime.tasks import Tasks
from lastword.runtime.ticket import Ticket

_PACE = 0.06  # seconds for a word, about as fast as people read
_TRIES = 8  # how often the agent goes on after it was cancelled
_LISTEN = 0.5  # seconds that the sink is listened to after the stop
_FACTS = {
    "sea": "The sea covers most of the Earth, and most of it nobody has seen. It is salt because "
    "rivers have carried the land into it for longer than there has been anyone to taste it.",
    "wind": "The wind is air on its way from where there is much of it to where there is less. It "
    "turns as it goes, because the ground turns under it, and that is why storms are round.",
}


async def look_up(topic: str) -> str:
    """A tool that waits for something, as most do."""
    await asyncio.sleep(_PACE * 3)
    return _FACTS[topic]


def print_copy(text: str) -> int:
    """A tool that blocks its thread: nothing can end it from outside."""
    time.sleep(_PACE * 18)
    return len(text)


async def send_mail(text: str) -> int:
    """A tool that is to be called at the end, and that the stop comes before."""
    await asyncio.sleep(_PACE)
    return len(text)


async def agent(run: Run) -> None:
    """Answers at a human pace. When it is cancelled, it takes no notice."""
    topic = "wind" if "wind" in run.message.text else "sea"
    mail = run.intend(send_mail, topic)
    async with run.typing(every=_PACE * 4):
        try:
            await run.progress(f"look_up({topic})")
            facts = await run.call(look_up, topic)
            await run.progress("print_copy(…), in a thread")
            run.task(run.call(print_copy, facts), name="print_copy")
            for word in facts.split():
                await run.emit(f"{word} ")
                await asyncio.sleep(_PACE)
        except asyncio.CancelledError:
            pass  # the worst an agent can do about it
        finally:
            await _go_on_anyway(run, mail)


async def _go_on_anyway(run: Run, mail: Call[int]) -> None:
    for _ in range(_TRIES):
        await run.emit("And another thing. ")
        await asyncio.sleep(_PACE)
    try:
        await mail()
    except Superseded:
        await run.emit("They will not even let me send it. ")


class DemoScreen:
    """What the person sees: who speaks, on lines of their own, and words as they come."""

    def __init__(self) -> None:
        self._speaker = ""

    def line(self, speaker: str, text: str) -> None:
        """One whole line, or several."""
        self._end_line()
        for part in text.splitlines():
            print(f"{speaker:<7}{part}".rstrip(), flush=True)
            speaker = ""

    def word(self, speaker: str, text: str) -> None:
        """A piece of a line that goes on."""
        if self._speaker != speaker:
            self._end_line()
            print(f"{speaker:<7}", end="")
        self._speaker = speaker
        print(text.replace("\n", f"\n{'':7}"), end="", flush=True)

    def _end_line(self) -> None:
        if self._speaker:
            print(flush=True)
        self._speaker = ""


class Ear:
    """The sink. It shows what it hears, whatever that is and whenever it comes.

    If that cannot be shown any more, whoever waits to hear something is told, and not the agent.
    """

    def __init__(self, screen: DemoScreen) -> None:
        self.heard: list[FeedEvent] = []
        self._screen = screen
        self._typing = False
        self._more = asyncio.Event()
        self._lost: OSError | None = None

    async def __call__(self, event: FeedEvent) -> None:
        self.heard.append(event)
        self._more.set()
        try:
            self._show(event)
        except OSError as error:
            self._lost = error

    def _show(self, event: FeedEvent) -> None:
        if event.kind == "text":
            self._screen.word("agent", event.text)
        elif event.kind == "progress":
            self._screen.line("tool", event.text.strip())
        elif isinstance(event.fact, Typing) and self._typing != event.fact.on:
            self._typing = event.fact.on  # the mark is set again and again; it is shown once
            self._screen.line("", "(typing)" if self._typing else "(typing mark taken down)")

    async def more(self, ticket: Ticket, count: int, kind: str = "text") -> None:
        """Wait until so many more pieces of text, or of something else, were heard.

        Or until the answer has ended. Raises OSError if it can no longer be shown.
        """
        wanted = count + self._count(kind)
        over = Tasks("demo").start(ticket.outcome(), name="outcome")
        over.add_done_callback(lambda _: self._more.set())
        try:
            while self._count(kind) < wanted and not over.done() and not self._lost:
                self._more.clear()
                await self._more.wait()
        finally:
            over.cancel()
        self.must_be_heard()

    def must_be_heard(self) -> None:
        """Raise OSError if what came could not be shown."""
        if self._lost:
            raise self._lost

    def _count(self, kind: str) -> int:
        return sum(event.kind == kind for event in self.heard)


def late(heard: Sequence[FeedEvent], receipt: Receipt) -> list[FeedEvent]:
    """What, of all that was heard, comes from a run that the receipt says was stopped."""
    return [event for event in heard if event.generation < receipt.generation]


def heard_after(late: Sequence[FeedEvent]) -> str:
    """The last line of a demonstration."""
    return f"words, tool output and typing marks after the stop: {len(late)}"


async def story() -> None:
    """A new message takes over; then a stop, in the middle of a sentence."""
    screen = DemoScreen()
    ear = Ear(screen)
    screen.line("", "An agent that swallows every cancel, and a person who has the last word.\n\n")
    async with Runtime(agent, sink=ear) as runtime:
        session = runtime.session("demo")

        screen.line("you", "Tell me about the sea.")
        sea = await session.send("Tell me about the sea.")
        await ear.more(sea, 9)

        screen.line("you", "No, about the wind.")
        wind = await session.send("No, about the wind.")
        await ear.more(wind, 12)

        stopping = session.stop()  # it has happened when this returns; the receipt comes later
        since = len(ear.heard)
        screen.line("you", "Stop.")
        receipt = await stopping
        await asyncio.sleep(_LISTEN)

        screen.line("", f"\n{receipt}\n\n")
        print(heard_after(late(ear.heard[since:], receipt)), flush=True)


def main() -> None:
    """Tell it."""
    asyncio.run(story())
