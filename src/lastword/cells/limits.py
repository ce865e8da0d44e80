"""What one cell may use. There is no way to say "no limit"."""

from __future__ import annotations

from dataclasses import asdict

from lastword.core.value import value

MEMORY_AT_MOST = 256 << 20  # a worker has room for this, and for what comes with it
_BOUNDS: dict[str, tuple[float, float]] = {
    "time": (0.01, 600),
    "memory": (1 << 20, MEMORY_AT_MOST),
    "output": (0, 10_000_000),
    "calls": (0, 2_000),
    "depth": (10, 1_000),
    "source": (1, 1_000_000),
    "values": (1_000, 16 << 20),
    "dump": (10_000, 64 << 20),
}


@value
class ProgramLimits:
    """All of them hold for the whole life of a cell, through every frontier."""

    time: float = 5.0  # seconds in which it runs; to wait at a frontier costs none
    memory: int = 64 << 20  # bytes of its values
    output: int = 100_000  # characters that it prints
    calls: int = 200  # of tools
    depth: int = 300  # of calls of its functions in each other
    source: int = 100_000  # characters of the program
    values: int = 1 << 20  # characters that cross at once: arguments, a result, the outcome
    dump: int = 8 << 20  # bytes of a frontier as it is kept

    def __post_init__(self) -> None:
        for name, (least, most) in _BOUNDS.items():
            number = getattr(self, name)
            kinds = int | float if name == "time" else int
            if not isinstance(number, kinds) or isinstance(number, bool):
                raise TypeError(f"the limit {name} must be a number, not a {type(number).__name__}")
            if not least <= number <= most:
                raise ValueError(
                    f"the limit {name} must be from {least:,} to {most:,}; it is {number}"
                )

    @property
    def asked(self) -> dict[str, float]:
        """As a worker is told them."""
        return asdict(self)
