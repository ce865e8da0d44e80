"""Waiting for a message, a child's end or the host's, and for nothing longer than said."""

from __future__ import annotations

import os
import selectors
import signal
import socket

_NEVER_OURS = {signal.SIGKILL, signal.SIGSTOP}
ORDINARY = frozenset(map(int, signal.valid_signals() - _NEVER_OURS))  # one can have an opinion on
_LONGEST = 3600.0  # seconds
_QUIET = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU)


class Wakeups:
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
        # one that stays: poll() fails for who has more descriptors than it may by now
        self._watched = selectors.DefaultSelector()
        self._watched.register(self._signals, selectors.EVENT_READ)
        self._events = selectors.EVENT_READ
        self._watched.register(channel, self._events)
        if host >= 0:
            self._watched.register(host, selectors.EVENT_READ)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _notice)
        for number in _QUIET:  # what is meant for the host's group is not meant for its keepers
            signal.signal(number, signal.SIG_IGN)

    def wait(self, seconds: float | None, *, to_send: bool = False) -> tuple[bool, bool]:
        """Whether a message may have come, and whether the host has gone."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if to_send else 0)
        if events != self._events and self._channel.fileno() >= 0:
            self._events = events
            self._watched.modify(self._channel, events)
        ready = {key.fd: mask for key, mask in self._watched.select(_bounded(seconds))}
        if self._signals in ready:
            os.read(self._signals, 4096)
        gone = self._host in ready
        if gone:
            self._watched.unregister(self._host)
            self._host = -1  # told once
        return bool(ready.get(self._channel.fileno(), 0) & selectors.EVENT_READ), gone

    def hung_up(self) -> None:
        """The channel is about to be closed."""
        self._watched.unregister(self._channel)


def _bounded(seconds: float | None) -> float | None:
    """There are times that are too long for the kernel; who waits longer asks again."""
    return None if seconds is None else min(seconds, _LONGEST)


def _notice(number: int, frame: object) -> None:
    """A child has ended. Having a handler is what makes the wait return."""


def forget_signals() -> None:
    """In a child that is to be an ordinary process: every signal as it was at the start."""
    signal.set_wakeup_fd(-1)
    for number in ORDINARY:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
