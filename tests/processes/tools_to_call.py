"""Tools of a module, to be called in processes of their own."""

import os
import time


def parent() -> int:
    return os.getppid()


def stay() -> None:
    time.sleep(3600)
