"""Which key does what.

Esc is a stop as soon as it is seen while something is going, whatever follows it: over a slow line
an Esc and the words typed after it arrive together and look like one Alt-key, and a stop must not
be lost to that. When nothing is going, Alt-keys edit the line as they do elsewhere.

A letter is only ever a letter, also at a question: the first of a new sentence must not be taken
for an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent


class Person(Protocol):
    """What a key can ask for."""

    @property
    def busy(self) -> bool: ...
    def stop(self) -> None: ...
    def leave(self) -> None: ...
    def interrupt(self) -> None: ...
    def take_line(self, text: str) -> None: ...


def bindings(person: Person, buffer: Callable[[], Buffer]) -> KeyBindings:
    """The keys of a conversation, beside those that edit the line."""
    keys = KeyBindings()
    _ending(keys, person, buffer)
    _speaking(keys, person, buffer)
    return keys


def _ending(keys: KeyBindings, person: Person, buffer: Callable[[], Buffer]) -> None:
    busy = Condition(lambda: person.busy)

    def stop(_: KeyPressEvent) -> None:
        person.stop()

    def interrupt(_: KeyPressEvent) -> None:
        person.interrupt()

    def leave(_: KeyPressEvent) -> None:
        person.leave()

    keys.add("escape", eager=True, filter=busy)(stop)
    keys.add("escape", filter=~busy)(stop)  # it says that there is nothing
    keys.add("c-c")(interrupt)
    keys.add("<sigint>")(interrupt)
    keys.add("c-d", filter=Condition(lambda: not buffer().text))(leave)


def _speaking(keys: KeyBindings, person: Person, buffer: Callable[[], Buffer]) -> None:
    def enter(_: KeyPressEvent) -> None:
        line = buffer()
        if line.document.text_before_cursor.endswith("\\"):
            line.delete_before_cursor()
            line.insert_text("\n")
            return
        text = line.text
        person.take_line(text)  # before it is empty: when it was begun says what it may be
        line.reset(append_to_history=bool(text.strip()))

    keys.add("enter")(enter)
    keys.add("c-j")(enter)  # what was typed before the terminal was ours
