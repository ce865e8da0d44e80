"""What a day's work looks like, said at once: an engine for the tests of the page."""

from __future__ import annotations

import asyncio
from itertools import count

from lastword import Run

CODE = "let a = 1;\n\nlet b = `two`;"
ANSWER = f"Here *it* is:\n\n```js\n{CODE}\n```\n\nand in a list:\n\n- so:\n\n  ```\n  x\n  ```\n"
LONG_CODE = "let a = 1;\n" * 30_000
_UNREAD = "[a](" * 4900  # which takes highlight.js a minute
SLOW = f"```markdown\n{_UNREAD}\n```\n\n```py\nx = 1  # one\n```\n"
LONG = f"So long:\n\n```js\n{LONG_CODE}```\n"


async def engine(run: Run) -> None:
    """Say what is asked for; count if nothing is, until somebody says stop."""
    what = run.message.text
    run.used("small-1", 1_200, 345)
    if what == "code":
        await run.emit(ANSWER)
    elif what == "slow":
        await run.emit(SLOW)
    elif what == "long":
        for start in range(0, len(LONG), 8192):
            await run.emit(LONG[start : start + 8192])
    elif what == "count":
        for number in count(1):
            await run.emit(f"{number} ")
            await asyncio.sleep(0.02)  # its pace
    else:
        names = ", ".join(one.name for one in run.message.attachments)
        await run.emit(f"re: {what}{f' with {names}' if names else ''}")
