"""The time of day, as a thing that can be handed in. Everything else is timed by the loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], float]

time_of_day: Clock = time.time  # noqa: TID251 - the one place that reads it
