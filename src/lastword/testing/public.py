"""The names that tests use."""

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
