"""What a test of an interruptible agent needs."""

from lastword.testing.recorder import FakeClock, Recorder
from lastword.testing.seeded import Choices, Explored, SeededLoop, Trap, explore, play, sweep

__all__ = [
    "Choices",
    "Explored",
    "FakeClock",
    "Recorder",
    "SeededLoop",
    "Trap",
    "explore",
    "play",
    "sweep",
]
