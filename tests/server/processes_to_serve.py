"""An engine that starts what its message names, and waits."""

from __future__ import annotations

import asyncio

from lastword import Run

HOSTILE = r"<img src=x onerror=alert(1)><b>bold</b> \033[31mred\033[0m \342\200\256oof"
LINES = {
    "reader": "echo up; trap 'echo interrupted' INT; "
    "while :; do if read -r line; then echo got $line; fi; done",
    "deaf": 'read -r line; exec <&-; echo "deaf now"; exec sleep 300',
    "counter": "wc -c; exec sleep 300",
    "silent": "exec sleep 300",
    "hostile": rf"printf '{HOSTILE}\n'; exec sleep 300",
    "megabytes": "head -c 3000000 /dev/zero | tr '\\0' 'x'; echo; echo the end; exec sleep 300",
}
READS = {"reader", "deaf", "counter"}


async def engine(run: Run) -> None:
    """One for each word, each under an id; `kept` is for those that are to outlive the answer."""
    words = run.message.text.split()
    for word in words:
        if word in LINES:
            process = await run.spawn(
                "sh",
                "-c",
                LINES[word],
                name=word,
                stdin="pipe" if word in READS else "none",
                on_stop="keep" if "kept" in words else "end",
                grace=0.2,
            )
            run.job(process)
    await run.emit(f"started {len(words)}")
    if "kept" not in words:
        await asyncio.Event().wait()
