"""A chat for a test to drive: an engine that does what its message says, and a terminal or a pipe.

python chat_to_drive.py [--store ADDRESS] [--grace SECONDS] [--queue keep] [--session ID] [-p TEXT]
"""

import argparse
import asyncio
import fcntl
import logging
import sys
import termios
import time
from pathlib import Path

from lastword import Run, Runtime
from lastword.agent.assistant import Assistant
from lastword.agent.permission import Questions
from lastword.cli.chat import chat
from lastword.cli.chat.coming import ComingAgent

PACE = 0.01


questions = Questions()


async def look_up(topic: str) -> str:
    await asyncio.sleep(PACE)
    return f"all about {topic}"


async def tell_a_story(run: Run) -> None:
    """Without end, and deaf to being cancelled."""
    number = 0
    while run.current:
        try:
            await run.emit(f"word{number} " + ("\n\n" if number % 20 == 19 else ""))
            await asyncio.sleep(PACE)
        except asyncio.CancelledError:
            await run.emit("and another thing")
        number += 1


async def begin_a_line(run: Run) -> None:
    """One that is longer than the terminal is wide, and does not end."""
    for number in range(30):
        await run.emit(f"word{number} ")
    await asyncio.Event().wait()


async def echo(run: Run) -> None:
    for word in f"You said: {run.message.text}".split(" "):
        await run.emit(f"{word} ")
        await asyncio.sleep(PACE)


async def look(run: Run) -> None:
    await run.think("Let me see. ")
    await run.emit("I look it up.")
    found = await run.call(look_up, "the sea")
    await run.emit(f"It is {found}.")


async def start_processes(run: Run) -> None:
    process = await run.spawn(shell="echo up; exec sleep 300")
    await run.spawn(shell="exec sleep 300", on_stop="keep")
    async for _ in process.stdout:
        break
    begun = asyncio.Event()

    async def deploy(where: str) -> None:
        begun.set()
        await asyncio.Event().wait()

    deploying = run.task(run.call(deploy, "production"), name="deploy")
    await begun.wait()
    await run.emit("Two are up.")
    await deploying


async def start_a_reader(run: Run) -> None:
    """It answers each line, and each interrupt."""
    line = "trap 'echo interrupted' INT; while :; do if read -r a; then echo got $a; fi; done"
    run.job(await run.spawn(shell=f"echo up; {line}", stdin="pipe", on_stop="keep"))
    await run.emit("It reads.")


async def start_a_deaf_process(run: Run) -> None:
    """It tells a file that it was asked to end, and does not."""
    told = run.message.text.split()[1]
    deaf = f"trap 'echo asked > {told}' TERM; echo up; while :; do sleep 0.05; done"
    process = await run.spawn(shell=deaf)
    async for _ in process.stdout:
        break


async def be_stubborn(run: Run) -> None:
    await start_a_deaf_process(run)
    await run.emit("It is up.")
    await asyncio.Event().wait()


async def ask(run: Run) -> None:
    await run.emit("May I? ")
    long = "long" in run.message.text
    text = f"rm -rf {'/very' * 600}/end" if long else "rm -rf \x1b[31mbuild"
    allowed = await questions.ask(run, "shell", text, text)
    always = questions.rules(run.session).decide("shell", text)[0] == "allow"
    answer = "always" if always else "yes" if allowed else "no"
    await run.emit(f"You answered {answer}.")


async def misbehave(run: Run) -> None:
    await run.emit("\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m &#13; \x9b31m \u202eoof\n\n")
    await run.emit("half \x1b")
    await run.emit("[5A of it\a\b\b")


async def mark_up(run: Run) -> None:
    await run.emit(
        "# Title\n\nSome **bold** words,\nand more.\n\n```py\nx = 1\n\ny = 2\n```\n- one"
    )


async def fail(run: Run) -> None:
    await run.emit("So far so good. ")
    raise RuntimeError("the model\n\x1b[31mhas no more to say")


async def leak(run: Run) -> None:
    """A tool that writes where it should not, and does not end its line."""
    print("a tool\x1b[2J printed this")  # noqa: T201 - that is the point
    sys.stderr.write("and this")
    await run.emit("It is said.")


async def listen(run: Run) -> None:
    """Until it is told something."""
    await run.emit("I am listening. ")
    while not (told := await run.steering()):
        await asyncio.sleep(PACE)
    await run.emit(f"I heard: {told[0].text}.")


async def hold(run: Run) -> None:
    """Until there is a file."""
    await run.emit("I hold. ")
    enough = Path(run.message.text.split()[1])
    while not enough.exists():  # noqa: ASYNC240 - a moment
        await asyncio.sleep(PACE)


async def run_a_command(run: Run) -> None:
    async def shell(command: str) -> str:
        return (await run.shell(command)).output

    await run.call(shell, command="printf %s%s hel lo")
    run.used("a model", 1200, 34)
    await run.emit("It is done.")


async def say_nothing(run: Run) -> None:
    await asyncio.Event().wait()


async def flood(run: Run) -> None:
    while True:
        await run.emit("x" * 4096)
        await asyncio.sleep(0)


async def torrent(run: Run) -> None:
    """As stubborn, with more to say than anybody has read."""
    await start_a_deaf_process(run)
    for _ in range(500):
        await run.emit("x" * 4096)
    await asyncio.Event().wait()


ENGINES = {
    "story": tell_a_story,
    "line": begin_a_line,
    "look": look,
    "start": start_processes,
    "reader": start_a_reader,
    "stubborn": be_stubborn,
    "ask": ask,
    "misbehave": misbehave,
    "markup": mark_up,
    "fail": fail,
    "leak": leak,
    "listen": listen,
    "hold": hold,
    "nothing": say_nothing,
    "flood": flood,
    "torrent": torrent,
    "command": run_a_command,
}


async def engine(run: Run) -> None:
    await ENGINES.get(run.message.text.split()[0], echo)(run)


async def shout(run: Run) -> None:
    await run.emit(run.message.text.upper())


def coming(until: Path) -> ComingAgent:
    """Our own agent, which is not there before there is a file."""

    def make(model: str) -> Assistant:
        if model == "nobody's":
            raise ValueError("there is no such model")
        while not until.exists():
            time.sleep(PACE)
        if until.read_text(encoding="utf-8"):
            raise ValueError(until.read_text(encoding="utf-8"))
        return Assistant(shout if model else engine, questions, model or "rehearsal")

    return ComingAgent(make, ".")


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", default="memory:")
    parser.add_argument("--grace", type=float, default=0.2)
    parser.add_argument("--queue", default="drop")
    parser.add_argument("--session", default="s")
    parser.add_argument("-p", dest="prompt")
    parser.add_argument("--output", default="text")
    parser.add_argument("--coming", type=Path)
    asked = parser.parse_args()
    agent = coming(asked.coming) if asked.coming else None
    async with Runtime(
        agent.engine if agent else engine,
        store=asked.store,
        grace=asked.grace,
        level="tree",
        queue_on_stop=asked.queue,
    ) as runtime:
        return await chat(
            runtime,
            asked.session,
            prompt=asked.prompt,
            questions=agent or questions,
            model_name="rehearsal",
            output=asked.output,
        )


if __name__ == "__main__":
    logging.getLogger("lastword").addHandler(logging.NullHandler())  # as the command line does
    if sys.stdin.isatty():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that it is told when the terminal goes
    sys.exit(asyncio.run(main()))
