"""What leaves is checked right before it does, however long it had to wait for the reader."""

import json
import os

from lastword.acp.outbox import Outbox
from tests.promise.workshop import until

LONG = "x" * 50_000  # of which a pipe takes one, and a piece of the next


async def test_what_waits_when_a_run_loses_its_session_never_leaves_and_no_line_is_broken() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    outbox = Outbox(writing)
    current = True
    for number in range(10):
        outbox.send({"number": number, "text": LONG}, lambda: current)
    current = False  # nobody has read anything yet
    outbox.send({"answer": "cancelled"})
    heard = bytearray()

    def read() -> bool:
        try:
            heard.extend(os.read(reading, 1 << 20))
        except BlockingIOError:
            return False
        return heard.endswith(b'"cancelled"}\n')

    await until(read)
    outbox.close()
    os.close(reading)
    os.close(writing)

    *begun, answer = [json.loads(line) for line in heard.splitlines()]
    assert [message["number"] for message in begun] == [0, 1]
    assert answer == {"jsonrpc": "2.0", "answer": "cancelled"}
    assert outbox.dropped == 8


async def test_a_reader_that_has_gone_is_noticed_though_nothing_is_written() -> None:
    reading, writing = os.pipe()
    outbox = Outbox(writing)
    gone: list[bool] = []
    outbox.on_gone = lambda: gone.append(True)
    os.close(reading)

    await until(lambda: gone)
    os.close(writing)
    assert outbox.gone
