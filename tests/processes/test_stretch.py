"""A stretch of a stream is what was added to it, whatever the pieces, and takes no more room."""

import random
import tracemalloc

import pytest

from lastword.processes.stretch import Stretch


def test_what_is_written_a_word_at_a_time_takes_no_more_room_than_its_words() -> None:
    words = [bytes([n % 256]) * 5 for n in range(100_000)]
    stretch = Stretch()
    tracemalloc.start()
    try:
        for word in words:
            stretch.add(word)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert b"".join(stretch) == b"".join(words)
    assert most < 2 * 5 * len(words)


@pytest.mark.parametrize("seed", range(20))
def test_every_part_that_was_not_forgotten_is_found(seed: int) -> None:
    chance = random.Random(seed)
    written, stretch = b"", Stretch()
    for _ in range(60):
        data = chance.randbytes(chance.choice([1, 5, 3000, 20_000, 70_000]))
        written += data
        stretch.add(data)
        wanted = chance.randrange(stretch.start, len(written))
        stretch.forget(wanted)

        assert stretch.start <= wanted
        assert (stretch.end, len(stretch)) == (len(written), len(written) - stretch.start)
        assert b"".join(stretch) == written[stretch.start :]
        assert stretch.last(9000) == written[stretch.start :][-9000:]
        assert read(stretch, wanted, len(written)) == written[wanted:]
        until = chance.randrange(wanted, len(written) + 1)
        assert read(stretch, wanted, until) == written[wanted:until]


def read(stretch: Stretch, since: int, until: int) -> bytes:
    """A piece at a time."""
    found = b""
    while piece := stretch.some(since + len(found), until):
        found += piece
    return found
