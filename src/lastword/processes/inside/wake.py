"""Waiting for a message, a child's end or the host's, and for nothing longer than said."""

from __future__ import annotations

import os
import select
import signal
import socket

_NEVER_OURS = {signal.SIGKILL, signal.SIGSTOP}
ORDINARY = frozenset(map(int, signal.valid_signals() - _NEVER_OURS))  # one can have an opinion on
_QUIET = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU)


class Wake:
    """The three things that a zygote or a warden waits for.

    The host is watched by a descriptor of the process itself, beside the channel: a fork of the
    host that lives on would keep the channel open.
    """

    def __init__(self, channel: socket.socket, host: int) -> None:
        self._channel = channel
        self._host = host
        self._signals, writer = os.pipe()
        os.set_blocking(self._signals, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _notice)
        for number in _QUIET:  # what is meant for the host's group is not meant for its keepers
            signal.signal(number, signal.SIG_IGN)

    def wait(self, seconds: float | None, *, to_send: bool = False) -> tuple[bool, bool]:
        """Whether a message may have come, and whether the host has gone."""
        channel = [self._channel] if self._channel.fileno() >= 0 else []
        host = [self._host] if self._host >= 0 else []
        watched = [self._signals, *host, *channel]
        ready = select.select(watched, channel if to_send else [], [], seconds)[0]
        if self._signals in ready:
            os.read(self._signals, 4096)
        gone = self._host in ready
        if gone:
            self._host = -1  # told once
        return self._channel in ready, gone


def _notice(number: int, frame: object) -> None:
    """A child has ended. Having a handler is what makes the wait return."""


def forget_signals() -> None:
    """In a child that is to be an ordinary process: every signal as it was at the start."""
    signal.set_wakeup_fd(-1)
    for number in ORDINARY:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
